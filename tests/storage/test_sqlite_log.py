"""SQLite's write-ahead log: it cannot grow without end, even while somebody always reads."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import apsw

from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.checkpoints import CHECKPOINT_PAGES, LONGEST_LOG, Checkpoints, LogGrowth
from mcp_memory.storage.sqlite.database import SqliteDatabase

PAGE = 4096
PATIENCE = 60.0


class Relay:
    """Two readers, of whom one never stops before the other has begun anew."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._done = threading.Event()
        self._turns = (threading.Semaphore(0), threading.Semaphore(0))
        self._begun = threading.Event()
        self._threads = [threading.Thread(target=self._read, args=(which,)) for which in (0, 1)]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()
        assert self._begun.wait(PATIENCE)

    def __exit__(self, *failure: object) -> None:
        self._done.set()
        for turn in self._turns:
            turn.release()
        for thread in self._threads:
            thread.join()

    def _read(self, which: int) -> None:
        relieves = which == 1  # the first has nobody to relieve when it begins
        while not self._done.is_set():
            with self._database.read() as connection:
                connection.run("SELECT count(*) AS n FROM ballast")
                if relieves:
                    self._turns[1 - which].release()
                    self._begun.set()
                relieves = True
                self._turns[which].acquire(timeout=PATIENCE)


def test_the_log_starts_over_though_somebody_always_reads(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    Store(database).open()
    with database.write() as connection:
        connection.raw.execute("CREATE TABLE ballast (n INTEGER PRIMARY KEY, filling BLOB)")
    longest = 0
    with Relay(database):
        for number in range(120):
            with database.write() as connection:
                connection.change(
                    "INSERT INTO ballast (n, filling) VALUES (:n, zeroblob(1000000))", {"n": number}
                )
            longest = max(longest, (tmp_path / "memory.db-wal").stat().st_size)
    database.close()
    assert longest < (LONGEST_LOG + 2000) * PAGE


def test_the_log_starts_over_while_nobody_waits_for_it(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    Store(database).open()
    with database.write() as connection:
        connection.raw.execute("CREATE TABLE ballast (n INTEGER PRIMARY KEY, filling BLOB)")
    first = salts(tmp_path)
    ends = time.monotonic() + PATIENCE
    number = 0
    while salts(tmp_path) == first and time.monotonic() < ends:
        number += 1
        with database.write() as connection:
            connection.change("INSERT INTO ballast VALUES (:n, zeroblob(100000))", {"n": number})
    assert number * 100_000 > CHECKPOINT_PAGES * PAGE / 2
    assert salts(tmp_path) != first
    database.close()
    assert not (tmp_path / "memory.db-wal").exists()


def salts(folder: Path) -> bytes:
    """They change whenever the log starts over."""
    with (folder / "memory.db-wal").open("rb") as log:
        return log.read(24)[16:]


def test_somebody_who_reads_for_long_does_not_hold_up_every_write(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    Store(database).open()
    tried = []

    class Counted(Checkpoints):
        def __call__(self, connection: apsw.Connection, schema: str, pages: int) -> int:
            before = self._next
            answer = super().__call__(connection, schema, pages)
            tried.append(pages >= before)
            return answer

    with database.write() as connection:
        connection.raw.execute("CREATE TABLE ballast (n INTEGER PRIMARY KEY, filling BLOB)")
    with database.write() as connection:
        connection.raw.set_wal_hook(Counted(lambda: apsw.Connection(str(tmp_path / "memory.db"))))
    with database.read() as reader:
        reader.run("SELECT count(*) AS n FROM ballast")
        for number in range(100):
            with database.write() as connection:
                connection.change(
                    "INSERT INTO ballast (n, filling) VALUES (:n, zeroblob(1000000))", {"n": number}
                )
    database.close()
    assert 1 <= sum(tried) <= 4


def test_others_write_while_a_purge_waits_for_somebody_who_reads(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    Store(database).open()
    with database.write() as connection:
        connection.raw.execute("CREATE TABLE ballast (n INTEGER PRIMARY KEY, filling BLOB)")
    with database.read() as reader:
        reader.run("SELECT count(*) AS n FROM ballast")
        purge = threading.Thread(target=database.scrub)
        purge.start()
        with database.write() as connection:
            connection.raw.execute("INSERT INTO ballast (filling) VALUES (zeroblob(9))")
        assert purge.is_alive()
    purge.join()
    assert (tmp_path / "memory.db-wal").stat().st_size == 0
    with database.read() as connection:
        assert connection.run("SELECT count(*) AS n FROM ballast") == [{"n": 1}]
    database.close()


def test_the_log_is_moved_once_for_each_part_by_which_it_grows() -> None:
    growth = LogGrowth(1000)
    assert [pages for pages in range(0, 3500, 100) if growth.is_due(pages)] == [1000, 2000, 3000]
    assert not growth.is_due(100)  # it has started over
    assert growth.is_due(1300)
    assert not growth.is_due(2200)
    assert growth.is_due(2300)
