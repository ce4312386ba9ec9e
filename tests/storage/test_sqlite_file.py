"""The SQLite file itself: a stranger's, a read-only one, and one that is replaced while it is open."""

from __future__ import annotations

import errno
import os
import shutil
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from mcp_memory.errors import MemoryServerError, Unavailable
from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.storage.file_lock import FileLock
from mcp_memory.storage.sqlite.database import SqliteDatabase

AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def put(store: Store, key: str) -> None:
    with store.write(Caller(), AT, "act") as tx:
        tx.settings.put(key, 1)


def got(store: Store, key: str) -> object:
    with store.read("default", AT) as tx:
        return tx.settings.get(key)


def test_a_strangers_file_is_not_changed(path: Path) -> None:
    stranger = apsw.Connection(str(path))
    stranger.execute("CREATE TABLE theirs (a)")
    stranger.close()
    before = path.read_bytes()
    with pytest.raises(Unavailable, match="another program"):
        Store(SqliteDatabase(path)).open()
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_said_to_be_none(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 500)
    with pytest.raises(Unavailable, match="not a database"):
        Store(SqliteDatabase(path)).open()


@pytest.mark.parametrize("replacement", ["another file", "nothing"])
def test_a_file_that_was_replaced_is_no_longer_written_to(path: Path, replacement: str) -> None:
    store = Store(SqliteDatabase(path)).open()
    put(store, "before")
    path.unlink()
    if replacement == "another file":
        other = Store(SqliteDatabase(path.with_name("other.db"))).open()
        other.close()
        shutil.move(path.with_name("other.db"), path)
    with pytest.raises(Unavailable, match="restart"):
        put(store, "after")
    with pytest.raises(Unavailable, match="restart"):
        got(store, "before")
    store.close()


def test_after_closing_nothing_is_written(path: Path) -> None:
    store = Store(SqliteDatabase(path)).open()
    store.close()
    with pytest.raises(Unavailable, match="closed"):
        put(store, "late")
    with pytest.raises(Unavailable, match="closed"):
        got(store, "late")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="rights do not hold for this user"
)
def test_a_read_only_file_is_read_and_says_that_it_cannot_be_written(path: Path) -> None:
    store = Store(SqliteDatabase(path)).open()
    put(store, "before")
    store.close()
    path.chmod(0o400)
    store = Store(SqliteDatabase(path)).open()
    assert got(store, "before") == 1
    with pytest.raises(MemoryServerError, match="readonly"):
        put(store, "after")


@pytest.mark.skipif(os.name != "posix", reason="other systems lock files in another way")
def test_where_files_cannot_be_locked_nobody_waits(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    def wait(seconds: float) -> None:
        raise AssertionError("waited for a lock that can never be had")

    monkeypatch.setattr("fcntl.flock", refuse)
    monkeypatch.setattr(time, "sleep", wait)
    with FileLock(path).held(10):
        pass
    assert FileLock(path).take()


def test_reading_everything_once_keeps_few_pages(path: Path) -> None:
    store = Store(SqliteDatabase(path, "NORMAL")).open()
    with store.database.write() as connection:
        keys = [f"filler {number}" for number in range(15_000)]
        connection.insert_all("setting", {"key": keys}, {"value": {"is": "x" * 800}})
    with store.database.read() as connection:
        connection.run("SELECT 1 AS n")
    used = apsw.memory_used()
    with store.database.read(whole=True) as connection:
        connection.run("SELECT sum(length(value)) AS n FROM setting")
        # It would keep all 12 MB of the table.
        assert apsw.memory_used() < used + 4_000_000
    with store.database.read() as connection:
        connection.run("SELECT sum(length(value)) AS n FROM setting")
        assert apsw.memory_used() > used + 8_000_000, "the next reader has its cache again"
    store.close()


def test_the_caches_of_all_connections_share_one_bound(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_memory.storage.sqlite.database.CACHE_BYTES", 8_000_000)
    store = Store(SqliteDatabase(path, "NORMAL")).open()
    with store.database.write() as connection:
        keys = [f"filler {number}" for number in range(15_000)]
        connection.insert_all("setting", {"key": keys}, {"value": {"is": "x" * 800}})
    used = apsw.memory_used()
    with ExitStack() as reading:
        for _ in range(6):
            connection = reading.enter_context(store.database.read())
            connection.run("SELECT sum(length(value)) AS n FROM setting")
            # Each would keep all 12 MB of the table.
            assert apsw.memory_used() < max(used, 8_000_000) + 4_000_000
    store.close()
    apsw.soft_heap_limit(0)
