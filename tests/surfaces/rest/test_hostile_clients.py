"""Clients that stall, stay silent, come in crowds or lose their rights while they are being answered."""

from __future__ import annotations

import gc
import json
import socket
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep

import anyio
import httpx
import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message

from mcp_memory.config import Config
from mcp_memory.engine import Engine, whole_import
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import EVERY_SPACE
from mcp_memory.server.app import build_app
from mcp_memory.server.connections import RateLimitedLog, bounded_protocol
from mcp_memory.server.guard import Guard, policy
from mcp_memory.server.lazy import LazyEngine
from mcp_memory.server.mcp import sessions
from tests.fakes import Clock
from tests.surfaces.rest.conftest import engine_on
from tests.surfaces.rest.serving import PATIENCE, Running, listening, running
from tests.surfaces.speaking import INITIALIZE

STALLED = 20
MCP = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = engine_on(tmp_path / "memory.db")
    yield engine
    engine.close()


@contextmanager
def connected(here: Running, request: bytes = b"", *, unread: bool = False) -> Iterator[socket.socket]:
    with socket.socket() as one:
        if unread:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.settimeout(PATIENCE)
        one.connect(("127.0.0.1", here.port))
        one.sendall(request)
        yield one


def fill(engine: Engine) -> None:
    """Store more than the buffers of a connection take."""
    wide = [f"{number} {'x' * 40_000}" for number in range(200)]
    line = {"type": "entity", "name": "wide", "entityType": "rows", "observations": wide}
    engine.transfer.import_anthropic([json.dumps(line).encode()])


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = monotonic() + PATIENCE
    while not is_so():
        assert monotonic() < deadline, "it never came about"
        sleep(0.01)


def ends(one: socket.socket) -> bool:
    """Read until the server ends the connection."""
    try:
        while one.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


def test_stalled_downloads_stop_nobody(engine: Engine) -> None:
    fill(engine)
    asking = b"GET /api/export HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    with running(engine) as here, here.client() as client, ExitStack() as stalled:
        for _ in range(STALLED):
            one = stalled.enter_context(connected(here, asking, unread=True))
            assert one.recv(1)
        assert client.get("/health").json()["status"]
        for number in range(5):
            made = client.post(
                "/api/memories", json={"content": f"new {number}"}, headers={"x-memory-space": "other"}
            )
            assert made.status_code == 201
            exported = client.get("/api/export", headers={"x-memory-space": "other"}).text
            assert f"new {number}" in exported, "an export shows every acknowledged write"
        here.stop()  # and asserts that it stopped, with the stalled clients still there


def test_a_client_that_does_not_read_its_answer_is_let_go(engine: Engine) -> None:
    fill(engine)
    asking = b"GET /api/export HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    impatient = bounded_protocol(100, write_timeout=0.05)
    with running(engine, protocol=impatient) as here, connected(here, asking, unread=True) as one:
        assert one.recv(1), "it is being answered, and reads no further"
        wait_until(lambda: not here.server.server_state.connections)
        assert ends(one)


def test_an_export_whose_client_left_before_the_first_line_leaves_no_file_open(engine: Engine) -> None:
    fill(engine)
    lazy = LazyEngine(lambda: engine)
    app = build_app(Config(tools="graph"), lazy)

    async def leave_at_once(message: Message) -> None:
        raise OSError("the client is gone")

    async def nothing_more() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.4"},
        "method": "GET", "path": "/api/export", "query_string": b"", "http_version": "1.1",
        "headers": [(b"host", b"127.0.0.1")], "client": ("127.0.0.1", 1), "scheme": "http",
    }  # fmt: skip
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always", ResourceWarning)
        with pytest.raises((OSError, ClientDisconnect)):
            anyio.run(app, scope, nothing_more, leave_at_once)
        gc.collect()
    lazy.close()  # nobody runs the app's lifespan, which ends the background work
    assert [str(one.message) for one in complaints] == []


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_imports_that_wait_for_each_other_leave_the_others_in_peace(
    engine: Engine, accept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_import, "TURN_PATIENCE", 1_000.0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    crowd_size = Config().workers * 4
    line = b'{"type":"entity","name":"Ada","entityType":"person","observations":[]}'
    with (
        running(engine) as here,
        here.client(accept=accept) as client,
        ThreadPoolExecutor(crowd_size) as crowd,
        engine._context.store.database.leader_election("import") as turn,
    ):
        assert turn.leads(), "an import is under way, so all others wait"
        asked = [crowd.submit(client.post, "/api/import", content=line) for _ in range(crowd_size)]
        wait_until(lambda: len(list(tmp_path.glob("mcp-memory-import-*/import*"))) == crowd_size)
        for path in ("/health", "/api/memories", "/health", "/api/memories"):
            assert client.get(path, headers={"accept": "*/*"}).status_code == 200
        assert not any(one.done() for one in asked), "they still wait"
    assert {one.result().status_code for one in asked} == {200}


WHOLE = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


@pytest.mark.parametrize("begun", [b"", WHOLE[:30], WHOLE + WHOLE[:10]])
def test_a_connection_without_a_whole_request_is_ended(engine: Engine, begun: bytes) -> None:
    impatient = bounded_protocol(100, header_timeout=0.05)
    with running(engine, protocol=impatient) as here, connected(here, begun) as one:
        assert ends(one)


@pytest.mark.parametrize("path", ["/api/memories", "/api/import", "/api/import/preview", "/mcp"])
def test_a_request_whose_body_stalls_is_refused_and_changes_nothing(engine: Engine, path: str) -> None:
    impatient = replace(policy(Config()), body_timeout=0.05)
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    head += "accept: application/json, text/event-stream\r\ncontent-length: 1000\r\n\r\n"
    begun = head.encode() + b'{"content": "never '
    with (
        running(engine, behind=lambda app: Guard(app, impatient, lambda: engine.access, monotonic)) as here,
        connected(here, begun) as one,
    ):
        assert one.recv(100).startswith(b"HTTP/1.1 408"), "the client is told that it took too long"
        assert ends(one), "and the connection is not kept for the rest"
        assert engine.inventory.counts().memories == 0


def test_a_body_that_trickles_is_refused(engine: Engine) -> None:
    impatient = replace(policy(Config()), body_timeout=0.5)
    head = b"POST /api/memories HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100000\r\n\r\n"
    with (
        running(engine, behind=lambda app: Guard(app, impatient, lambda: engine.access, monotonic)) as here,
        connected(here, head) as one,
    ):
        one.settimeout(0.05)
        for _ in range(1_000):
            with suppress(TimeoutError):
                assert one.recv(100).startswith(b"HTTP/1.1 408")
                return
            one.sendall(b"1")
        pytest.fail("a byte now and then keeps the connection")


def test_connections_beyond_the_limit_are_turned_away_and_the_rest_served(engine: Engine) -> None:
    with running(engine, protocol=bounded_protocol(10)) as here, ExitStack() as silent:
        crowd = [silent.enter_context(connected(here)) for _ in range(30)]
        for turned_away in crowd[10:]:
            assert ends(turned_away)
        crowd[0].sendall(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert crowd[0].recv(100).startswith(b"HTTP/1.1 200")


def test_an_overload_is_logged_rarely(caplog: pytest.LogCaptureFixture) -> None:
    now = [100.0]
    log = RateLimitedLog(lambda: now[0])
    for _ in range(1_000):
        log.warn("too many")
    now[0] += 10
    log.warn("too many")
    assert [record.getMessage() for record in caplog.records] == [
        "too many (1 times)",
        "too many (1000 times)",
    ]


def test_two_hundred_requests_at_once_are_all_answered(engine: Engine) -> None:
    with running(engine) as here, ThreadPoolExecutor(50) as threads:
        codes = threads.map(lambda _: httpx.get(f"{here.url}/api/memories", timeout=PATIENCE), range(200))
        assert {answer.status_code for answer in codes} == {200}


def test_the_stream_of_a_revoked_token_ends(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    _, secret = engine.access.create_token("reader", rights="read")
    with (
        running(engine) as here,
        here.client(authorization=f"Bearer {secret}") as client,
        listening(client) as events,
    ):
        engine.memories.remember(NewMemory(content="seen"))
        assert len(events.take(1)) == 1
        engine.access.revoke_token("reader")
        engine.memories.remember(NewMemory(content="not to be seen"))
        assert "not to be seen" not in json.dumps([event.data for event in events])
    assert [record for record in caplog.records if record.exc_info] == [], "it is no failure"


def test_a_session_serves_only_the_token_that_opened_it(engine: Engine) -> None:
    _, alice = engine.access.create_token("alice")
    _, mallory = engine.access.create_token("mallory")
    with running(engine) as here:
        opened = httpx.post(
            f"{here.url}/mcp", json=INITIALIZE, headers={**MCP, "authorization": f"Bearer {alice}"}
        )
        session = {**MCP, "mcp-session-id": opened.headers["mcp-session-id"]}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        for method in ("POST", "DELETE"):
            refused = httpx.request(
                method,
                f"{here.url}/mcp",
                json=listing if method == "POST" else None,
                headers={**session, "authorization": f"Bearer {mallory}"},
            )
            assert refused.status_code == 404
        own = httpx.post(
            f"{here.url}/mcp", json=listing, headers={**session, "authorization": f"Bearer {alice}"}
        )
        assert own.status_code == 200


LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
SUBSCRIBING = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "resources/subscribe",
    "params": {"uri": "memory://knowledge-graph"},
}


def opened_session(client: httpx.Client) -> str:
    return client.post("/mcp", json=INITIALIZE, headers=MCP).headers["mcp-session-id"]


def is_open(client: httpx.Client, session: str) -> bool:
    answer = client.post("/mcp", json=LISTING, headers={**MCP, "mcp-session-id": session})
    assert answer.status_code in (200, 404)
    return answer.status_code == 200


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_a_session_ends_with_its_token(tmp_path: Path, end: str) -> None:
    clock = Clock()
    engine = engine_on(tmp_path / "memory.db", clock=clock)
    _, secret = engine.access.create_token("guest", lifetime=timedelta(hours=1))
    with running(engine) as here, here.client(authorization=f"Bearer {secret}") as client:
        session = opened_session(client)
        assert is_open(client, session)
        listening = {"accept": "text/event-stream", "mcp-session-id": session}
        with client.stream("GET", "/mcp", headers=listening) as stream:
            assert stream.status_code == 200
            client.post("/mcp", json=SUBSCRIBING, headers={**MCP, "mcp-session-id": session})
            if end == "revoked":
                engine.access.revoke_token("guest")
            else:
                clock.advance(hours=2)
            engine.memories.remember(NewMemory(content="not to be heard of"))
            assert "updated" not in stream.read().decode(), "the stream ends at the next message"
        refused = client.post("/mcp", json=LISTING, headers={**MCP, "mcp-session-id": session})
        assert refused.status_code == 401
    engine.close()


def test_sessions_that_nobody_ends_are_ended_the_idle_ones_first(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST_OF_ONE_OWNER", 3)
    with running(engine) as here, here.client() as client:
        first, second, third = (opened_session(client) for _ in range(3))
        listening = {"accept": "text/event-stream", "mcp-session-id": second}
        with client.stream("GET", "/mcp", headers=listening) as stream:
            assert stream.status_code == 200
            assert is_open(client, first), "and thereby it is no longer the one that idles longest"
            fourth = opened_session(client)
            assert [is_open(client, one) for one in (first, second, third, fourth)] == [
                True,
                True,
                False,
                True,
            ]


def test_one_token_cannot_take_the_sessions_of_another(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST_OF_ONE_OWNER", 2)
    tokens = [
        f"Bearer {engine.access.create_token(name, spaces=(EVERY_SPACE,))[1]}"
        for name in ("alice", "mallory")
    ]
    with (
        running(engine) as here,
        here.client(authorization=tokens[0]) as alice,
        here.client(authorization=tokens[1]) as mallory,
    ):
        kept = opened_session(alice)
        for number in range(5):
            mallory.headers["x-memory-space"] = f"space-{number}"
            last = opened_session(mallory)
        assert is_open(alice, kept)
        assert is_open(mallory, last)


def test_all_sessions_together_are_limited(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 2)
    with running(engine) as here, here.client() as client:
        opened = [opened_session(client) for _ in range(4)]
        assert [is_open(client, one) for one in opened] == [False, False, True, True]


def test_an_address_is_not_taken_from_a_header(engine: Engine) -> None:
    engine.access.create_token("right")
    with running(engine) as here, here.client() as client:
        codes = [
            client.get(
                "/api/memories", headers={"authorization": f"Bearer {n}", "x-forwarded-for": f"9.9.9.{n}"}
            ).status_code
            for n in range(30)
        ]
    assert codes[:10] == [401] * 10
    assert 429 in codes[10:]


def test_invented_methods_take_no_memory(engine: Engine) -> None:
    with running(engine) as here, here.client() as client:
        for number in range(20):
            assert client.request(f"MADE-UP-{number}", "/health").status_code in (405, 421)
        counted = client.get("/metrics").text
    assert "MADE-UP" not in counted
    assert 'method="other"' in counted
