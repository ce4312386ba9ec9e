"""Servers that die, and a PostgreSQL that does: nothing acknowledged is lost, nothing wrong is answered."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.engine import Engine
from mcp_memory.errors import Unavailable
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.storage.postgres.database import PostgresDatabase
from tests.postgres_server import PostgresServer

WRITES = 60
AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    # As it would be set up for real: an acknowledged write is on the disk.
    server = PostgresServer(fsync="on", full_page_writes="on").create().start()
    yield server
    server.remove()


def opened(url: str, client: str = "") -> Engine:
    return wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={}), client)


class Writer:
    """Another server process on the same database."""

    def __init__(self, url: str, name: str, count: int) -> None:
        self.name = name
        self.acknowledged: list[str] = []
        self.retried = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.stubborn_writer", url, name, str(count)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def read(self, count: int) -> None:
        """Wait for as many acknowledged writes."""
        assert self.process.stdout is not None
        wanted = len(self.acknowledged) + count
        while len(self.acknowledged) < wanted:
            line = self.process.stdout.readline().strip()
            assert line, f"{self.name} ended early"
            self._note(line)

    def finish(self) -> None:
        rest, _ = self.process.communicate()
        for line in rest.splitlines():
            self._note(line)

    def kill(self) -> None:
        self.process.kill()
        assert self.process.stdout is not None
        # The last line may have been cut off in the middle.
        for line in self.process.stdout.read().split("\n")[:-1]:
            self._note(line)
        self.process.stdout.close()
        self.process.wait()

    def _note(self, line: str) -> None:
        if line == "again":
            self.retried += 1
        else:
            self.acknowledged.append(line)


def assert_kept(engine: Engine, writer: Writer) -> None:
    for name in writer.acknowledged:
        [node] = engine.graph.open_nodes([name], record=False).nodes
        number = name.removeprefix(f"{writer.name}-")
        assert node.texts == [f"fact {number} of {writer.name}"]


def test_a_server_killed_while_it_writes_loses_nothing_acknowledged(server: PostgresServer) -> None:
    url = server.url("postgres")
    killed, other = Writer(url, "killed", 100_000), Writer(url, "other", WRITES)
    killed.read(25)
    killed.kill()
    other.finish()
    engine = opened(url)
    assert len(other.acknowledged) == WRITES
    assert_kept(engine, killed)
    assert_kept(engine, other)
    # What it held while it died is free again.
    engine.graph.create_entities([NewEntity(name="afterwards")])
    engine.close()


def test_a_restart_of_postgresql_in_the_middle_of_writes_loses_nothing_acknowledged(
    server: PostgresServer,
) -> None:
    url = server.url("postgres")
    writers = [Writer(url, "one", WRITES), Writer(url, "two", WRITES)]
    for end in (server.crash, server.stop):
        for writer in writers:
            writer.read(10)
        end()
        server.start()
    for writer in writers:
        writer.finish()
        assert writer.process.returncode == 0
        assert writer.acknowledged == [f"{writer.name}-{number}" for number in range(WRITES)]
    engine = opened(url)
    for writer in writers:
        assert_kept(engine, writer)
    engine.close()


def test_while_postgresql_is_down_calls_fail_and_afterwards_they_work(server: PostgresServer) -> None:
    store = Store(PostgresDatabase(server.url("postgres"), patience=0.2)).open()

    def write(value: int) -> None:
        with store.write(Caller(), AT, "act") as tx:
            tx.settings.put("key", [value])

    write(1)
    server.stop()
    with pytest.raises(Unavailable):
        write(2)
    with pytest.raises(Unavailable):
        store.spaces()
    server.start()
    with store.read("default", AT) as tx:
        assert tx.settings.get("key") == [1]
    write(3)
    store.close()


def test_a_failover_is_survived_with_an_address_that_names_both_servers() -> None:
    # A commit waits until the standby has it: nothing acknowledged is lost with the primary.
    primary = PostgresServer(
        wal_level="replica", synchronous_standby_names="*", synchronous_commit="remote_apply"
    )
    standby = PostgresServer().follow(primary.create().start()).start()
    hosts = f"{primary.folder},{standby.folder}"
    engine = opened(f"postgresql://postgres@/postgres?host={hosts}&target_session_attrs=read-write")
    database = engine._context.store.database
    with ExitStack() as closing:
        for end in (primary.remove, standby.remove, engine.close):
            closing.callback(end)
        bell = closing.enter_context(database.change_signal())
        candidacy = closing.enter_context(database.leader_election())
        assert bell.wait(60)
        assert candidacy.leads()
        engine.graph.create_entities([NewEntity(name="before")])
        primary.crash()
        with psycopg.connect(standby.url("postgres"), autocommit=True) as admin:
            admin.execute("SELECT pg_promote()")
        engine.graph.create_entities([NewEntity(name="after")])
        assert len(engine.graph.open_nodes(["before", "after"]).nodes) == 2
        assert candidacy.leads()
        assert bell.wait(60)


def test_an_event_written_at_one_server_is_heard_of_at_another(server: PostgresServer) -> None:
    url = server.url("postgres")
    with ExitStack() as closing:
        here, there = opened(url, "here"), opened(url, "there")
        closing.callback(here.close)
        closing.callback(there.close)
        bell = closing.enter_context(there.history.change_signal())
        bell.wait(10)
        seen = there.history.last_seq()
        here.graph.create_entities([NewEntity(name="news")])
        assert bell.wait(60)
        events = there.history.events_after(seen)
        assert [(event.name, event.client) for event in events] == [("entity_created", "here")]


def test_the_bell_and_the_leader_come_back_after_a_restart(server: PostgresServer) -> None:
    engine = opened(server.url("postgres"))
    database = engine._context.store.database
    with ExitStack() as closing:
        closing.callback(engine.close)
        bell = closing.enter_context(database.change_signal())
        first = closing.enter_context(database.leader_election())
        second = closing.enter_context(database.leader_election())
        assert bell.wait(60)
        assert first.leads()
        assert not second.leads()
        server.crash()
        assert not bell.wait(0)
        assert not first.leads()
        server.start()
        assert second.leads()
        assert not first.leads()
        assert bell.wait(60)
        engine.graph.create_entities([NewEntity(name="news")])
        assert bell.wait(60)


def test_the_work_of_a_leader_that_was_killed_is_taken_over(server: PostgresServer) -> None:
    url = server.url("postgres")
    engine = opened(url)
    leader = subprocess.Popen(
        [sys.executable, "-c", _LEAD, url], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    assert leader.stdout is not None
    assert leader.stdout.readline() == "True\n"
    with engine._context.store.database.leader_election() as candidacy:
        assert not candidacy.leads()
        leader.kill()
        leader.communicate()
        while not candidacy.leads():
            pass
    engine.close()


_LEAD = """
import sys
from mcp_memory.storage.postgres.database import PostgresDatabase
with PostgresDatabase(sys.argv[1]).leader_election() as candidacy:
    print(candidacy.leads(), flush=True)
    sys.stdin.read()
"""
