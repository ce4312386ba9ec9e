"""What deleted rows leave in a database file is overwritten, and everything else stays as it is."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from mcp_memory.storage import Store
from mcp_memory.storage.sqlite import erasing
from mcp_memory.storage.sqlite.checkpoints import Checkpoints
from mcp_memory.storage.sqlite.database import SqliteDatabase
from mcp_memory.storage.sqlite.erasing import Erasing
from mcp_memory.storage.sqlite.page_layout import Trees, UnknownLayout

MARK = "xylophonist"


class File:
    """An SQLite file with tables of all kinds, whose writers take turns as those of a database do."""

    def __init__(self, folder: Path, page_size: int, *, moves_pages: bool = False) -> None:
        self.path = folder / "some.db"
        self._lock = threading.RLock()
        self.writer = self.connect()
        self.writer.execute(f"PRAGMA page_size = {page_size}")
        if moves_pages:
            self.writer.execute("PRAGMA auto_vacuum = INCREMENTAL")
        self.writer.execute("PRAGMA journal_mode = WAL")
        self.writer.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, name TEXT, body TEXT)")
        self.writer.execute("CREATE INDEX note_name ON note (name, body)")
        self.writer.execute("CREATE TABLE pair (a TEXT, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID")
        self.checkpoints = Checkpoints(self.connect)

    def connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self.path))
        connection.set_busy_timeout(10_000)
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        return connection

    @contextmanager
    def turn(self) -> Iterator[apsw.Connection]:
        with self._lock:
            yield self.writer

    def erase(self) -> bool:
        return Erasing(self.path, self.connect, self.turn, self.checkpoints.start_over).run()

    def content(self) -> list[tuple[object, ...]]:
        return [row for table in ("note", "pair") for row in self.writer.execute(f"SELECT * FROM {table}")]

    def check(self) -> None:
        assert self.writer.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    def holds(self, text: str) -> bool:
        # By another process: closing the file in this one would end SQLite's locks.
        program = "import sys; print(sys.argv[2].encode() in open(sys.argv[1], 'rb').read())"
        files = (str(self.path), f"{self.path}-wal")
        said = [
            subprocess.run(
                [sys.executable, "-c", program, file, text], capture_output=True, check=True
            ).stdout
            for file in files
        ]
        return b"True\n" in said

    def close(self) -> None:
        self.checkpoints.close()
        self.writer.close()


def scribble(file: File, dice: random.Random, count: int) -> None:
    """Rows of all lengths come, change and go; those that are marked go in the end."""
    for number in range(count):
        length = dice.choice([1, 5, 30, 200, 3000])
        mark = f"{MARK} " if dice.random() < 0.3 else "other "
        what = (mark * length)[: dice.randrange(5, 20_000)]
        name = f"{mark}{number}"
        file.writer.execute("INSERT INTO note (name, body) VALUES (?, ?)", (name, what))
        file.writer.execute("INSERT OR IGNORE INTO pair VALUES (?, ?)", (what[:900], name))
        if dice.random() < 0.4:
            chosen = dice.randrange(1, number + 2)
            file.writer.execute("UPDATE note SET body = ? WHERE id = ?", (what[::3], chosen))
        if dice.random() < 0.3:
            file.writer.execute("DELETE FROM note WHERE id = ?", (dice.randrange(1, number + 2),))


def remove_marked(file: File) -> None:
    file.writer.execute("DELETE FROM note WHERE name LIKE ? OR body LIKE ?", (f"%{MARK}%",) * 2)
    # Also what is left of a text that was cut at every third letter.
    file.writer.execute("DELETE FROM note WHERE body NOT LIKE 'other%'")
    file.writer.execute("DELETE FROM pair WHERE a LIKE ? OR b LIKE ?", (f"%{MARK}%",) * 2)


@pytest.mark.parametrize("page_size", [512, 1024, 4096, 65536])
def test_what_was_removed_is_in_no_file(tmp_path: Path, page_size: int) -> None:
    dice = random.Random(page_size)
    with closing(File(tmp_path, page_size)) as file:
        for _ in range(3):
            scribble(file, dice, 150)
            remove_marked(file)
            file.checkpoints.start_over(file.writer)
            kept = file.content()
            assert kept
            assert file.holds(MARK)
            assert file.erase()
            assert not file.holds(MARK)
            assert file.content() == kept
            file.check()


def test_erasing_again_finds_nothing(tmp_path: Path) -> None:
    with closing(File(tmp_path, 4096)) as file:
        scribble(file, random.Random(1), 100)
        remove_marked(file)
        file.erase()
        before = file.path.read_bytes()
        file.erase()
        pages = [
            place // 4096 + 1
            for place in range(0, len(before), 4096)
            if before[place : place + 4096] != file.path.read_bytes()[place : place + 4096]
        ]
        assert pages == [1]  # the commit that makes others read anew


@pytest.mark.parametrize("who", ["the writer that took the turns", "another"])
def test_nobody_writes_back_what_is_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    with closing(File(tmp_path, 4096)) as file, closing(file.connect()) as other:
        for name in ("one", MARK, "two"):
            body = f"about {name} " * 20
            file.writer.execute("INSERT INTO note (name, body) VALUES (?, ?)", (name, body))
        file.writer.execute("DELETE FROM note WHERE name = ?", (MARK,))
        connection = other if who == "another" else file.writer
        erase = erasing.Eraser.erase

        def reading_before(self: erasing.Eraser, numbers: set[int] | None = None) -> None:
            # Now it keeps pages with the bytes of the removed row.
            assert len(connection.execute("SELECT * FROM note").fetchall()) == 2
            erase(self, numbers)

        monkeypatch.setattr(erasing.Eraser, "erase", reading_before)
        assert file.erase()
        connection.execute("UPDATE note SET body = body || '!' WHERE name = 'two'")
        assert not file.holds(MARK)
        assert file.checkpoints.start_over(connection)
        assert not file.holds(MARK)


def test_others_write_while_the_pages_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing, "FEW", 5)  # so that most is done while others write
    with closing(File(tmp_path, 512)) as file, closing(file.connect()) as other:
        scribble(file, random.Random(2), 150)
        remove_marked(file)
        looked_at: list[object] = []
        erase = erasing.Eraser.erase

        def writing_meanwhile(self: erasing.Eraser, numbers: set[int] | None = None) -> None:
            looked_at.append(numbers)
            if len(looked_at) < 4:
                # Moves rows, and with them what was left between them, to pages that were clean already.
                other.execute("UPDATE note SET body = body || body WHERE id % 7 = ?", (len(looked_at),))
            erase(self, numbers)
            if len(looked_at) < 4:
                other.execute("DELETE FROM note WHERE id % 11 = ?", (len(looked_at),))

        monkeypatch.setattr(erasing.Eraser, "erase", writing_meanwhile)
        assert file.erase()
        assert len(looked_at) > 3
        assert not file.holds(MARK)
        file.check()
        assert file.content()


def test_writers_do_not_lose_a_row(tmp_path: Path) -> None:
    with closing(File(tmp_path, 1024)) as file:
        scribble(file, random.Random(3), 200)
        remove_marked(file)
        stopping, written = threading.Event(), list[int]()

        def write(place: int) -> None:
            with closing(file.connect()) as own:
                number = 0
                while not stopping.is_set():
                    number += 1
                    with file.turn():
                        own.execute(
                            "INSERT INTO note (name, body) VALUES (?, ?)",
                            (f"writer {place} {number}", "other " * (number % 300)),
                        )
                        written.append(place)

        threads = [threading.Thread(target=write, args=(place,)) for place in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(10):
                assert file.erase()
                assert not file.holds(MARK)
        finally:
            stopping.set()
            for thread in threads:
                thread.join()
        file.check()
        [[there]] = file.writer.execute("SELECT count(*) FROM note WHERE name LIKE 'writer %'")
        assert there == len(written)


def test_somebody_who_reads_on_and_on_makes_it_give_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "PATIENCE", 0.0)
    with closing(File(tmp_path, 4096)) as file, closing(file.connect()) as reader:
        scribble(file, random.Random(4), 20)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM note").fetchall()
        remove_marked(file)
        assert not file.erase()
        reader.execute("COMMIT")
        assert file.erase()
        assert not file.holds(MARK)


def test_nothing_is_overwritten_while_the_log_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(File(tmp_path, 4096)) as file, closing(file.connect()) as reader:
        scribble(file, random.Random(6), 50)
        remove_marked(file)
        calls = []
        erase = erasing.Eraser.erase

        def somebody_begins_to_read(self: erasing.Eraser, numbers: set[int] | None = None) -> None:
            calls.append(numbers)
            erase(self, numbers)
            if len(calls) == 1:
                file.writer.execute("INSERT INTO note (name, body) VALUES ('new', 'other')")
                reader.execute("BEGIN")
                assert reader.execute("SELECT body FROM note WHERE name = 'new'").fetchall()
                monkeypatch.setattr(erasing, "PATIENCE", 0.0)

        monkeypatch.setattr(erasing.Eraser, "erase", somebody_begins_to_read)
        assert not file.erase()
        assert calls == [None]
        reader.execute("COMMIT")
        assert file.erase()
        assert not file.holds(MARK)


def test_a_file_that_is_used_otherwise_is_rewritten_as_a_whole(tmp_path: Path) -> None:
    with closing(File(tmp_path, 4096, moves_pages=True)) as file:
        scribble(file, random.Random(5), 100)
        remove_marked(file)
        kept = file.content()
        assert file.erase()
        assert not file.holds(MARK)
        assert file.content() == kept


def test_a_page_that_is_not_what_it_says_is_left_alone() -> None:
    import numpy as np

    page = np.zeros((1, 512), np.uint8)
    page[0, :8] = (13, 0, 0, 0, 1, 0, 4, 0)  # its cells begin within its header
    before = page.copy()
    with pytest.raises(UnknownLayout):
        Trees(page, np.array([2])).blank()
    assert (page == before).all()


def test_the_words_of_removed_rows_are_in_no_segment(tmp_path: Path) -> None:
    with closing(Store(SqliteDatabase(tmp_path / "memory.db", "NORMAL")).open()) as store:
        database = store.database
        assert isinstance(database, SqliteDatabase)
        with database.write() as connection:
            connection.raw.execute(
                "CREATE VIRTUAL TABLE some USING fts5 (body, content = '', contentless_delete = 1)"
            )
        for number in range(40):
            with database.write() as connection:
                text = f"{MARK} " if number == 7 else f"word{number} " * 50
                connection.raw.execute("INSERT INTO some (rowid, body) VALUES (?, ?)", (number, text))
                # A merge that is under way when the row goes.
                connection.raw.execute("INSERT INTO some (some, rank) VALUES ('merge', -1)")
        with database.write() as connection:
            connection.raw.execute("DELETE FROM some WHERE rowid = 7")
        assert database.scrub()
        with database.write() as connection:
            blocks = [block for (block,) in connection.raw.execute("SELECT block FROM some_data")]
            assert not any(MARK.encode() in block for block in blocks)
            connection.raw.execute("INSERT INTO some (some) VALUES ('integrity-check')")
            [[there]] = connection.raw.execute("SELECT count(*) FROM some WHERE some MATCH 'word8'")
            assert there == 1
