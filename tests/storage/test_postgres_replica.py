"""Reads from a replica: never older than what this process has written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import psycopg
import pytest

from mcp_memory.errors import Unavailable
from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.storage.postgres import pool as postgres_pool
from mcp_memory.storage.postgres.database import PostgresDatabase
from tests.faults.released_schemas import put_sample
from tests.postgres_between import BreakingLine, standing_between
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
    assert "the replica cannot be read from" in caplog.text
    store.close()


def test_a_replica_that_was_promoted_is_not_read_from(
    primary: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    promoted = PostgresServer().follow(primary).start()
    store = Store(PostgresDatabase(primary.url("postgres"), promoted.url("postgres"))).open()
    try:
        with psycopg.connect(promoted.url("postgres"), autocommit=True) as connection:
            connection.execute("SELECT pg_promote()")
        put(store, 8)
        assert got(store) == 8
        assert "the replica follows no primary" in caplog.text
    finally:
        store.close()
        promoted.remove()


def test_a_replica_of_another_database_is_not_read_from(
    primary: PostgresServer, replica: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    with psycopg.connect(primary.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE elsewhere")
    other = Store(PostgresDatabase(primary.url("elsewhere"))).open()
    put(other, 1)
    catch_up(primary, replica)
    store = Store(PostgresDatabase(primary.url("postgres"), replica.url("elsewhere"))).open()
    put(store, 9)
    catch_up(primary, replica)
    assert got(store) == 9
    assert "follows another database" in caplog.text
    store.close()
    other.close()


def test_a_change_of_which_nobody_knows_whether_it_was_kept_is_looked_for_where_it_would_be(
    primary: PostgresServer, replica: PostgresServer
) -> None:
    line = BreakingLine(primary.url("postgres"))
    with standing_between(primary.url("postgres"), line) as url:
        store = Store(PostgresDatabase(url, replica.url("postgres"))).open()
        put(store, 1)
        catch_up(primary, replica)
        assert reads_at(store) == "replica"
        hold(replica, held=True)
        try:
            line.loses_commit = 1
            with pytest.raises(Unavailable, match="Check whether the change was saved"):
                put(store, 2)
            assert got(store) == 2
        finally:
            hold(replica, held=False)
        catch_up(primary, replica)
        assert reads_at(store) == "replica"
        store.close()


def test_what_others_wrote_is_seen_before_long_though_the_replica_lags(
    store: Store, primary: PostgresServer, replica: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, 1)
    catch_up(primary, replica)
    assert got(store) == 1
    hold(replica, held=True)
    try:
        other = Store(PostgresDatabase(primary.url("postgres"))).open()
        put(other, 2)
        other.close()
        assert got(store) == 1
        monkeypatch.setattr(postgres_pool, "REPLICA_LAG_SECONDS", 0.0)
        assert got(store) == 2
    finally:
        hold(replica, held=False)


def test_reads_go_on_at_the_replica_while_the_primary_is_down() -> None:
    primary = PostgresServer(wal_level="replica").create().start()
    replica = PostgresServer().follow(primary).start()
    store = Store(PostgresDatabase(primary.url("postgres"), replica.url("postgres"), patience=0.2)).open()
    try:
        put(store, 5)
        catch_up(primary, replica)
        assert got(store) == 5
        primary.stop()
        with pytest.raises(Unavailable, match="cannot be reached"):
            put(store, 6)
        assert got(store) == 5
    finally:
        store.close()
        replica.remove()
        primary.remove()


def test_where_nobody_can_listen_the_bell_keeps_silent(
    store: Store, primary: PostgresServer, replica: PostgresServer
) -> None:
    put(store, 1)
    catch_up(primary, replica)
    following = Store(PostgresDatabase(replica.url("postgres"))).open()
    with following.database.change_signal() as bell:
        assert not bell.wait(0)
    assert got(following) == 1
    with pytest.raises(Unavailable, match="only takes reads"):
        put(following, 2)
    following.close()


def test_a_replica_that_is_not_migrated_yet_is_read_as_it_is(
    primary: PostgresServer, replica: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_pool, "REPLICA_LAG_SECONDS", float("inf"))
    with psycopg.connect(primary.url("postgres"), autocommit=True) as admin:
        admin.execute("CREATE DATABASE older")
    urls = (primary.url("older"), replica.url("older"))
    put_sample(urls[0], 13)
    store, other = Store(PostgresDatabase(*urls, at_once_bytes=0)), PostgresDatabase(urls[0], at_once_bytes=0)
    with closing(store.open()), closing(Store(other).open()):
        catch_up(primary, replica)
        assert_found(store, "replica")
        hold(replica, held=True)
        try:
            for _ in other.migrate_further():
                pass
            assert_found(store, "replica")
            put(store, 1)
            assert_found(store, "primary")
            assert not list(store.database.migrate_further())
        finally:
            hold(replica, held=False)
        catch_up(primary, replica)
        assert_found(store, "replica")


def assert_found(store: Store, where: str) -> None:
    """A memory of the sample, by its hash."""
    assert reads_at(store) == where
    with store.read("default", AT) as tx:
        assert tx.memories.equal_to("Rosa keeps bees in four hives")
