"""Nothing of what was removed stays in the files, and those who want to write do not wait for that."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import apsw
import pytest

from mcp_memory.storage import Store
from mcp_memory.storage.sqlite import rewriting, segments
from mcp_memory.storage.sqlite.connection import SqliteConnection
from mcp_memory.storage.sqlite.database import SqliteDatabase

MARK = "xylophonist"

Rewritten = Callable[[apsw.Connection, Callable[[], bool] | None], bool]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    with closing(Store(database).open()):
        with database.write() as connection:
            connection.raw.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, name TEXT, body TEXT)")
            connection.raw.execute("CREATE INDEX note_name ON note (name, body)")
        yield database


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each attempt to rewrite the file came to its end."""
    made: list[bool] = []
    rewritten: Rewritten = rewriting._rewritten

    def noted(writer: apsw.Connection, give_up: Callable[[], bool] | None) -> bool:
        made.append(rewritten(writer, give_up))
        return made[-1]

    monkeypatch.setattr(rewriting, "_rewritten", noted)
    monkeypatch.setattr(rewriting, "LOOK_EVERY", 10)
    return made


def scribble(database: SqliteDatabase, dice: random.Random) -> None:
    """Rows of all lengths come, change and go, and in the end those that are marked."""
    with database.write() as connection:
        for number in range(150):
            mark = f"{MARK} " if dice.random() < 0.3 else "other "
            body = (mark * dice.choice([1, 5, 30, 200, 3000]))[: dice.randrange(5, 20_000)]
            connection.raw.execute("INSERT INTO note (name, body) VALUES (?, ?)", (f"{mark}{number}", body))
            if dice.random() < 0.3:
                chosen = dice.randrange(1, number + 2)
                connection.raw.execute("UPDATE note SET body = body || ? WHERE id = ?", (mark * 9, chosen))
                connection.raw.execute("DELETE FROM note WHERE id = ?", (dice.randrange(1, number + 2),))
    with database.write() as connection:
        connection.raw.execute("DELETE FROM note WHERE name || body LIKE ?", (f"%{MARK}%",))


def write_one(database: SqliteDatabase) -> None:
    with database.write() as connection:
        connection.raw.execute("INSERT INTO note (name, body) VALUES ('meanwhile', '')")


def notes(database: SqliteDatabase) -> list[tuple[object, ...]]:
    with database.read() as connection:
        return connection.tuples("SELECT * FROM note ORDER BY id")


def test_what_was_removed_is_in_no_file(database: SqliteDatabase, tmp_path: Path) -> None:
    for seed in range(3):
        scribble(database, random.Random(seed))
        kept = notes(database)
        assert kept
        assert database.scrub()
        for file in tmp_path.glob("memory.db*"):
            assert MARK.encode() not in file.read_bytes(), file.name
        assert notes(database) == kept


@pytest.mark.parametrize("where", ["in this process", "in another one"])
def test_somebody_who_wants_to_write_goes_first(
    database: SqliteDatabase,
    tmp_path: Path,
    attempts: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    scribble(database, random.Random(3))
    # As far as locks are concerned, one of another process.
    other = database if where == "in this process" else SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    writer = threading.Thread(target=write_one, args=(other,))
    is_awaited = database._is_writing_awaited

    def while_it_is_rewritten() -> bool:
        if not attempts and writer.ident is None:
            writer.start()
            while not is_awaited():
                pass
        return is_awaited()

    monkeypatch.setattr(database, "_is_writing_awaited", while_it_is_rewritten)
    assert database.scrub()
    writer.join()
    assert attempts == [False, True]
    assert MARK.encode() not in (tmp_path / "memory.db").read_bytes()
    assert notes(database)[-1][1:] == ("meanwhile", "")
    other.close()


def test_those_who_always_want_to_write_wait_in_the_end(
    database: SqliteDatabase, attempts: list[bool]
) -> None:
    scribble(database, random.Random(4))
    clock = iter([0.0, rewriting.PATIENCE - 1, rewriting.PATIENCE])
    rewriting.rewrite(database._writer_in_turn, lambda: True, lambda: next(clock))
    assert attempts == [False, True]


def test_the_words_of_removed_rows_are_in_no_segment(database: SqliteDatabase) -> None:
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


@pytest.mark.parametrize("pause", [1, 2, 3])
def test_words_are_in_no_segment_also_if_others_write_meanwhile(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch, pause: int
) -> None:
    monkeypatch.setattr(segments, "AT_ONCE", 5)
    with database.write() as connection:
        connection.raw.execute(
            "CREATE VIRTUAL TABLE some USING fts5 (body, content = '', contentless_delete = 1)"
        )
        texts = (" ".join(f"word{n * 7919 + i * 104_729}" for i in range(60)) for n in range(1500))
        rows = ((n, f"{text} {MARK}" if n == 9 else text) for n, text in enumerate(texts))
        connection.raw.executemany("INSERT INTO some (rowid, body) VALUES (?, ?)", rows)
        connection.raw.execute("INSERT INTO some (some) VALUES ('optimize')")
    with database.write() as connection:
        connection.raw.execute("DELETE FROM some WHERE rowid = 9")
    steps = count(1)

    @contextmanager
    def write_with_others() -> Iterator[SqliteConnection]:
        with database.write() as connection:
            yield connection
        if (step := next(steps)) < 40 and step % pause == 0:
            with database.write() as connection:
                connection.raw.execute("INSERT INTO some (rowid, body) VALUES (?, 'word1')", (9000 + step,))

    segments.merge(write_with_others)
    with database.read() as connection:
        blocks = [block for (block,) in connection.raw.execute("SELECT block FROM some_data")]
    assert not any(MARK.encode()[1:] in block for block in blocks)
    assert next(steps) > 5, "it is merged in several steps"
