"""Reads from a replica: never older than what this process has written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
import pytest

from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.storage.postgres import PostgresDatabase
from tests.postgres_server import PostgresServer

AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgresServer]:
    server = PostgresServer(wal_level="replica").create().start()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def replica(primary: PostgresServer) -> Iterator[PostgresServer]:
    server = PostgresServer().follow(primary).start()
    yield server
    server.remove()


@pytest.fixture
def store(primary: PostgresServer, replica: PostgresServer) -> Iterator[Store]:
    opened = Store(PostgresDatabase(primary.url("postgres"), replica.url("postgres"))).open()
    yield opened
    opened.close()


def put(store: Store, value: int) -> None:
    with store.write(Caller(), AT, "act") as tx:
        tx.settings.put("key", [value])


def got(store: Store) -> int:
    with store.read("default", AT) as tx:
        [value] = tx.settings.get("key")
        return int(value)


def reads_at(store: Store) -> str:
    """Which of the two a read goes to."""
    with store.database.read() as connection:
        [row] = connection.run("SELECT pg_is_in_recovery() AS following")
    return "replica" if row["following"] else "primary"


def catch_up(primary: PostgresServer, replica: PostgresServer) -> None:
    with (
        psycopg.connect(primary.url("postgres"), autocommit=True) as ahead,
        psycopg.connect(replica.url("postgres"), autocommit=True) as behind,
    ):
        [[written]] = ahead.execute("SELECT CAST(pg_current_wal_flush_lsn() AS TEXT)").fetchall()
        while not behind.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [written]).fetchall()[0][0]:
            pass


def hold(replica: PostgresServer, *, held: bool) -> None:
    """Stop the replica from following, or let it go on."""
    with psycopg.connect(replica.url("postgres"), autocommit=True) as connection:
        connection.execute(f"SELECT pg_wal_replay_{'pause' if held else 'resume'}()")
        while held and connection.execute("SELECT pg_get_wal_replay_pause_state()").fetchall() != [
            ("paused",)
        ]:
            pass


def test_reads_go_to_the_replica_once_it_has_what_was_written(
    store: Store, primary: PostgresServer, replica: PostgresServer
) -> None:
    put(store, 1)
    catch_up(primary, replica)
    assert reads_at(store) == "replica"
    assert got(store) == 1


def test_what_was_just_written_is_read_though_the_replica_lags(
    store: Store, primary: PostgresServer, replica: PostgresServer
) -> None:
    put(store, 1)
    catch_up(primary, replica)
    hold(replica, held=True)
    try:
        put(store, 2)
        assert got(store) == 2
        assert reads_at(store) == "primary"
    finally:
        hold(replica, held=False)
    catch_up(primary, replica)
    assert reads_at(store) == "replica"
    assert got(store) == 2


def test_reads_go_on_when_the_replica_is_gone(
    primary: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(PostgresDatabase(primary.url("postgres"), "postgresql://postgres@/x?host=/nowhere")).open()
    put(store, 7)
    assert got(store) == 7
    assert reads_at(store) == "primary"
    assert "the replica cannot be reached" in caplog.text
    store.close()
