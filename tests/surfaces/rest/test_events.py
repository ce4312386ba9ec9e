"""The event stream delivers everything once, in order, from every process."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import Caller
from mcp_memory.server import events
from mcp_memory.storage.postgres.database import PostgresDatabase
from tests.surfaces.rest.conftest import engine_of, engine_on
from tests.surfaces.rest.serving import PATIENCE, Listener, Running, listening, running
from tests.surfaces.rest.test_memories import create

CREATED = "memory_created"
"""Memories that are close to each other are also told to be associated."""


@pytest.mark.seed("004 §10.6")
def test_a_memory_that_is_created_is_told_with_its_data(client: httpx.Client) -> None:
    with listening(client) as listener:
        made = create(client, "told at once", memory_type="fact")
        [told] = listener.take(1)
    assert told.name == "memory_created"
    assert (told.data["id"], told.data["content"], told.data["type"]) == (made["id"], "told at once", "fact")


@pytest.mark.seed("004 §8.5")
def test_each_kind_of_change_is_told_with_its_payload(client: httpx.Client) -> None:
    with listening(client) as listener:
        made = create(client, "x is y")
        client.put(f"/api/memories/{made['id']}", json={"content": "x is z"})
        client.delete(f"/api/memories/{made['id']}")
        client.post("/api/entities", json={"name": "Alice", "entity_type": "person"})
        client.post("/api/memories/consolidate", json={})
        told = {one.name: one.data for one in listener.take(5)}
    assert list(told) == [
        "memory_created", "memory_updated", "memory_deleted", "entity_created", "consolidation_complete",
    ]  # fmt: skip
    assert (told["memory_updated"]["id"], told["memory_updated"]["changes"]) == (
        made["id"],
        {"content": "x is z"},
    )
    assert told["memory_deleted"]["id"] == made["id"]
    assert (told["entity_created"]["name"], told["entity_created"]["type"]) == ("Alice", "person")
    assert {"merged", "deleted"} <= told["consolidation_complete"].keys()


def test_only_the_types_asked_for_are_told(client: httpx.Client) -> None:
    with listening(client, types="entity_created,memory_deleted") as listener:
        made = create(client, "not told", entity_names=["Alice"])
        client.delete(f"/api/memories/{made['id']}")
        assert [told.name for told in listener.take(2)] == ["entity_created", "memory_deleted"]


def test_a_client_that_comes_back_misses_nothing_and_hears_nothing_twice(client: httpx.Client) -> None:
    with listening(client) as listener:
        create(client, "first")
        [first] = listener.take(1)
    missed = [create(client, f"meanwhile {word}")["id"] for word in ("one", "two", "three")]
    with listening(client, last_event_id=first.id) as listener:
        later = create(client, "live again")["id"]
        assert [told.data["id"] for told in listener.take(4)] == [*missed, later]


def test_the_place_can_be_named_in_the_address_too(client: httpx.Client) -> None:
    made = create(client, "long ago")
    with listening(client, after=0) as listener:
        assert listener.take(1)[0].data["id"] == made["id"]


def test_a_place_beyond_the_end_is_now(client: httpx.Client) -> None:
    create(client, "before")
    with listening(client, last_event_id=2**60) as listener:
        made = create(client, "after that")
        assert listener.take(1)[0].data["id"] == made["id"]


@pytest.mark.parametrize("place", ["abc", "-1", str(2**70)])
def test_a_place_that_is_none_is_refused(client: httpx.Client, place: str) -> None:
    assert client.get("/api/events", headers={"last-event-id": place}).status_code == 422


def test_another_space_is_not_told(client: httpx.Client, server: Running, space: str) -> None:
    with server.client(**{"X-Memory-Space": f"{space} beside"}) as beside, listening(client) as listener:
        create(beside, "over there")
        here = create(client, "over here")
        assert listener.take(1)[0].data["id"] == here["id"]


def test_what_another_process_writes_is_told(
    client: httpx.Client, server: Running, database_path: Path, space: str
) -> None:
    texts = ["written elsewhere", "by another process"]
    with listening(client) as listener:
        subprocess.run(
            [sys.executable, "-m", "tests.surfaces.rest.writer", str(database_path), space, *texts],
            check=True,
            timeout=PATIENCE,
        )
        told = listener.take(2)
    assert [one.data["content"] for one in told] == texts
    assert told[0].data["client"] == "another process"


def test_many_clients_are_told_the_same_in_the_same_order(client: httpx.Client) -> None:
    heard: dict[int, list[str]] = {}

    def listen(number: int, ready: threading.Barrier) -> None:
        with listening(client, types=CREATED) as listener:
            ready.wait(PATIENCE)
            heard[number] = [told.data["id"] for told in listener.take(20)]

    ready = threading.Barrier(9)
    threads = [threading.Thread(target=listen, args=(number, ready)) for number in range(8)]
    for thread in threads:
        thread.start()
    ready.wait(PATIENCE)
    made = [create(client, f"told to all {number} {number * 7}")["id"] for number in range(20)]
    for thread in threads:
        thread.join(PATIENCE)
    assert list(heard.values()) == [made] * 8


def test_a_client_that_does_not_read_holds_up_nobody_and_misses_nothing(tmp_path: Path) -> None:
    """More than its socket, the server's buffer and the shared window hold together."""
    engine = engine_on(tmp_path / "memory.db")
    count = 3 * events.RECENT_BYTES // 40_000 + 200
    with running(engine) as server, _not_reading(server) as slow, server.client() as client:
        with listening(client, types=CREATED) as quick:
            writer = engine.acting_for(Caller(client="writer"))
            made = [
                writer.memories.remember(NewMemory(content=f"{number} {'x' * 40_000}")).memory.id
                for number in range(count)
            ]
            assert [told.data["id"] for told in quick.take(count)] == made
        assert _read_ids(slow, count) == made


def test_a_client_far_behind_catches_up_from_the_journal_in_parts(tmp_path: Path) -> None:
    engine = engine_on(tmp_path / "memory.db")
    count = 3 * events.TOLD_AT_ONCE + 7
    made = [engine.memories.remember(NewMemory(content=f"n{number}")).memory.id for number in range(count)]
    with (
        running(engine) as server,
        server.client() as client,
        listening(client, after=0, types=CREATED) as listener,
    ):
        told = listener.take(count)
    assert [one.data["id"] for one in told] == made
    assert [int(one.id) for one in told] == sorted({int(one.id) for one in told})


def test_silence_is_broken_by_a_heartbeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "HEARTBEAT", 0.05)
    with (
        running(engine_on(tmp_path / "memory.db")) as server,
        server.client() as client,
        client.stream("GET", "/api/events") as response,
    ):
        lines = (line for line in response.iter_lines() if line.startswith(":"))
        assert [next(lines) for _ in range(2)] == [": still here"] * 2


def test_a_server_that_stops_ends_its_streams(tmp_path: Path) -> None:
    with (
        running(engine_on(tmp_path / "memory.db")) as server,
        server.client() as client,
        listening(client) as listener,
    ):
        server.stop()
        assert list(listener) == []


def test_a_follower_that_left_is_not_counted_any_more(tmp_path: Path) -> None:
    def followers(client: httpx.Client) -> int:
        lines = client.get("/metrics").text.splitlines()
        return int(next(line for line in lines if line.startswith("mcp_memory_event_followers")).split()[-1])

    with running(engine_on(tmp_path / "memory.db")) as server, server.client() as client:
        with listening(client) as listener:
            create(client, "someone listens")
            listener.take(1)
            assert followers(client) == 1
        while followers(client):
            pass


def test_on_postgresql_another_server_is_heard_as_well(postgres_url: str) -> None:
    here, there = (engine_of(PostgresDatabase(postgres_url)) for _ in range(2))
    with running(here) as server, server.client() as client, listening(client) as listener:
        made = there.memories.remember(NewMemory(content="written by another server")).memory
        there.close()
        assert listener.take(1)[0].data["id"] == made.id


def _not_reading(server: Running) -> socket.socket:
    """A client that asks for the events and then does not take them off its socket."""
    slow = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
    slow.sendall(
        f"GET /api/events?types={CREATED} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    )
    assert slow.recv(1024).startswith(b"HTTP/1.1 200")
    return slow


def _read_ids(slow: socket.socket, count: int) -> list[str]:
    class Chunks(httpx.SyncByteStream):
        def __iter__(self):  # type: ignore[no-untyped-def]
            with slow.makefile("rb") as file:
                while size := int(file.readline() or b"0", 16):
                    yield file.read(size)
                    file.readline()

    return [told.data["id"] for told in Listener(httpx.Response(200, stream=Chunks())).take(count)]
