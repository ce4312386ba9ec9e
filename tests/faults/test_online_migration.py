"""A large SQLite file is migrated while it is read and written: nothing is lost, every answer is right."""

from __future__ import annotations

import json
import random
import re
import shutil
import threading
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Unavailable
from mcp_memory.model import Filter
from mcp_memory.storage import Database, queries
from mcp_memory.storage.backup_file import verify_backup
from mcp_memory.storage.sqlite import SqliteDatabase, online_migration
from mcp_memory.storage.sqlite.database import LEFT_FREE_BYTES
from mcp_memory.text.fingerprint import long_fingerprint
from tests.consistency import troubles
from tests.faults import acts
from tests.faults.acts import engine_on
from tests.faults.released_schemas import NUMBERS, put_sample, version_of
from tests.faults.test_released_schemas import assert_sample

NEWEST = queries.migrations("sqlite")[-1].number
EARLIER = [number for number in NUMBERS if number < NEWEST]
MANY = 130
"""Memories in a file: rows are copied by fifties."""


def opened(path: Path) -> SqliteDatabase:
    """As a file is that is too large to be migrated at once."""
    return SqliteDatabase(path, at_once_bytes=0)


def sample(path: Path, number: int = 13) -> Path:
    put_sample(f"sqlite:///{path}", number)
    return path


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of schema 13 with all kinds of rows, and so many that a table is copied in several pieces."""
    path = sample(tmp_path_factory.mktemp("base") / "memory.db")
    with engine_on(opened(path), 90) as engine:
        acts.prepare(engine)
        for number in range(MANY):
            engine.memories.remember(NewMemory(content=f"one of many: {number}"))
        engine.graph.open_nodes(["hub", "left"])
    assert version(path) == 13
    return path


@pytest.fixture
def path(base: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(base, tmp_path / "memory.db"))


@pytest.fixture
def usual(base: Path, tmp_path: Path) -> Path:
    """To be migrated at once."""
    return Path(shutil.copy(base, tmp_path / "usual.db"))


def version(path: Path) -> int:
    return version_of(f"sqlite:///{path}")


def rows(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything in the file, and how its tables are described."""
    with closing(apsw.Connection(str(path))) as connection:
        listed = connection.execute(
            "SELECT name, type FROM sqlite_schema WHERE sql NOT LIKE 'CREATE VIRTUAL%'"
        )
        tables = [name for name, kind in listed if kind == "table" and "_words_" not in name]
        found = {name: sorted(connection.execute(f'SELECT * FROM "{name}"'), key=repr) for name in tables}
        found["described"] = sorted(
            connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"), key=repr
        )
        return found


def migrate(database: Database) -> int:
    return sum(1 for _ in database.migrate_further())


@pytest.mark.parametrize("number", EARLIER)
def test_in_steps_a_file_becomes_what_it_becomes_at_once(tmp_path: Path, number: int) -> None:
    at_once, in_steps = sample(tmp_path / "one.db", number), sample(tmp_path / "two.db", number)
    engine_on(SqliteDatabase(at_once), 9).close()
    with engine_on(opened(in_steps), 9) as engine:
        assert version(in_steps) == 13
        assert_sample_and_take_back(engine)
    in_steps.unlink()
    sample(in_steps, number)
    with closing(opened(in_steps)) as database:
        database.migrate(queries.migrations("sqlite"))
        assert migrate(database) > 10
    assert rows(in_steps) == rows(at_once)


def assert_sample_and_take_back(engine: Engine) -> None:
    assert_sample(engine)
    assert troubles(engine._context.store) == []


@pytest.mark.parametrize("seed", range(4))
def test_every_kind_of_write_is_served_before_during_and_after(usual: Path, path: Path, seed: int) -> None:
    chance = random.Random(seed)
    # How many transactions an import takes depends on its speed, and with that its events.
    order = chance.sample(sorted(acts.ACTS.keys() - acts.TAKEN_BACK), 24)
    with (
        engine_on(SqliteDatabase(usual)) as known,
        closing(opened(path)) as database,
        engine_on(database) as engine,
    ):
        assert (version(usual), version(path)) == (NEWEST, 13)
        steps = database.migrate_further()
        for number, kind in enumerate(order, 1):
            for _ in islice(steps, chance.randint(0, 5)):
                pass
            acts.carry_out(kind, acts.for_act(known, number))
            acts.carry_out(kind, acts.for_act(engine, number))
            assert acts.state(engine) == acts.state(known), (number, kind, version(path))
        for _ in steps:
            pass
        assert acts.state(engine) == acts.state(known)
        assert troubles(engine._context.store) == []
        assert all(one.is_well for one in database.examine() if one.subject != "disk")
    assert rows(path)["described"] == rows(usual)["described"]
    for table in online_migration.COPIED:
        assert [*map(cut, rows(path)[table])] == [*map(cut, rows(usual)[table])]


def cut(row: tuple[Any, ...]) -> str:
    """Images that were taken of rows of schema 13 have the whole hash."""
    return re.sub(r'("content_hash":"[0-9a-f]{32})[0-9a-f]{32}"', r'\1"', repr(row))


def test_reads_of_all_kinds_are_right_at_every_step(tmp_path: Path) -> None:
    path = sample(tmp_path / "memory.db")
    then = datetime(2026, 1, 1, 12, 0, 30, tzinfo=UTC)
    seen = set()
    with engine_on(opened(path), 9) as engine:
        for _ in engine._context.store.database.migrate_further():
            seen.add(version(path))
            [early] = engine.memories.find(Filter(), as_of=then).memories
            assert (early.content, early.created_at) == (
                "Rosa keeps bees",
                datetime(2026, 1, 1, 12, tzinfo=UTC),
            )
            [rosa] = engine.graph.open_nodes(["Rosa"], record=False).nodes
            assert rosa.texts == ["lives in Porto", "likes tea"]
            assert "hives" in engine.recall.recall("bees").hits[0].memory.content
            bees = engine.recall.recall("bees").hits[0].memory
            engine.memories.update(bees.id, {"content": "Rosa keeps bees in five hives"})
            engine.history.undo_last()
            known = engine.memories.remember(NewMemory(content="Rosa keeps bees in four hives"))
            assert known.memory.id == bees.id
        assert_sample_and_take_back(engine)
    assert seen == {13, NEWEST}


def test_it_goes_on_where_it_was_interrupted(usual: Path, path: Path) -> None:
    engine_on(SqliteDatabase(usual), 9).close()
    sessions = 0
    while version(path) != NEWEST or len(rows(path)) > len(rows(usual)):
        with closing(opened(path)) as database:
            database.migrate(queries.migrations("sqlite"))
            next(database.migrate_further(), None)
        sessions += 1
    assert sessions > 20
    assert rows(path) == rows(usual)


def test_two_servers_may_migrate_and_write_at_once(path: Path) -> None:
    failures: list[BaseException] = []

    def serve(number: int) -> None:
        try:
            with engine_on(opened(path), number) as engine:
                for written, _ in enumerate(engine._context.store.database.migrate_further()):
                    engine.memories.remember(NewMemory(content=f"server {number} says {written}"))
                told[number] = written + 1
        except BaseException as error:
            failures.append(error)

    told: dict[int, int] = {}
    servers = [threading.Thread(target=serve, args=(number,)) for number in (20, 30)]
    for server in servers:
        server.start()
    for server in servers:
        server.join()
    assert not failures
    assert version(path) == NEWEST
    with engine_on(SqliteDatabase(path), 40) as engine:
        contents = texts(engine)
        for number, count in told.items():
            assert {f"server {number} says {written}" for written in range(count)} <= contents
        assert troubles(engine._context.store) == []
        assert not any(online_migration.is_migrating(name) for name in rows(path))


def texts(engine: Engine) -> set[str]:
    lines = (json.loads(line) for line in engine.transfer.export_full())
    return {line["content"] for line in lines if line["record"] == "memory"}


OLDER_MEMORY = (
    "INSERT INTO memory (space_id, id, content, content_hash, type, kind, tags, confidence, importance,"
    " metadata, origin, created_at, updated_at, access_count, version)"
    " VALUES (1, :id, :text, :hash, 'general', 'Generic', '[]', 1, 0.5, '{}', 'memory', :at, :at, 0, 1)"
)


def test_what_an_older_program_writes_meanwhile_is_kept(path: Path) -> None:
    at = "2026-01-01T12:05:00.000000+00:00"
    written = 0
    with engine_on(opened(path), 9) as engine, closing(apsw.Connection(str(path))) as older:
        for _ in engine._context.store.database.migrate_further():
            if version(path) == NEWEST:
                break
            text = f"an older program says {written}"
            given = {"id": f"older-{written}", "text": text, "hash": long_fingerprint(text), "at": at}
            older.execute(OLDER_MEMORY, given)
            older.execute(
                "UPDATE memory SET updated_at = :at WHERE seq = 1 + (:n % 40)", {"at": at, "n": written}
            )
            written += 1
        assert written > 10
        assert {f"an older program says {number}" for number in range(written)} <= texts(engine)
        assert engine.memories.remember(NewMemory(content=text)).memory.id == given["id"]


def test_if_an_older_program_removes_the_triggers_it_begins_again(usual: Path, path: Path) -> None:
    with engine_on(opened(path), 9) as engine, engine_on(SqliteDatabase(usual), 9) as known:
        steps = engine._context.store.database.migrate_further()
        for _ in islice(steps, 8):
            pass
        with closing(apsw.Connection(str(path))) as older:
            older.execute("DROP TRIGGER compacting_memory_added")
        for one in (engine, known):
            one.memories.remember(NewMemory(content="nobody copies this one"))
        for _ in steps:
            pass
        assert acts.state(engine) == acts.state(known)
    assert version(path) == NEWEST


@pytest.mark.parametrize("reached", [14, 15])
def test_nothing_is_left_if_a_program_of_a_schema_in_between_migrates_at_once(
    usual: Path, path: Path, reached: int
) -> None:
    engine_on(SqliteDatabase(usual), 9).close()
    with closing(opened(path)) as database:
        database.migrate(queries.migrations("sqlite"))
        assert len([*islice(database.migrate_further(), 8)]) == 8
    with closing(apsw.Connection(str(path))) as between:
        for script in queries.migrations("sqlite")[13:reached]:
            between.execute(script.sql)
        between.execute(f"PRAGMA user_version = {reached}")
    with engine_on(opened(path), 9) as engine:
        assert troubles(engine._context.store) == []
    assert rows(path) == rows(usual)


@pytest.mark.parametrize("step", [0, 1, 9, 17, 26, 30, 40, 55])
def test_a_file_in_between_is_sound_and_can_be_repaired_and_backed_up(path: Path, step: int) -> None:
    copy = path.with_name("copy.db")
    with engine_on(opened(path), 9) as engine:
        before = acts.state(engine)
        database = engine._context.store.database
        for _ in islice(database.migrate_further(), step):
            pass
        assert all(one.is_well for one in database.examine() if one.subject != "disk")
        database.back_up(copy)
        assert database.repair() == 0
        assert acts.state(engine) == before
    verify_backup(copy)
    with engine_on(SqliteDatabase(copy), 9) as engine:
        assert acts.state(engine) == before
        assert version(copy) == NEWEST
        assert troubles(engine._context.store) == []
    with engine_on(SqliteDatabase(path), 9) as engine:
        assert acts.state(engine) == before
        assert version(path) == NEWEST


@pytest.mark.parametrize("step", [0, 1, 9, 17, 26, 30, 40, 55])
def test_what_is_purged_meanwhile_is_in_no_file(path: Path, step: int) -> None:
    with engine_on(opened(path), 9) as engine:
        steps = engine._context.store.database.migrate_further()
        for _ in islice(steps, step):
            pass
        engine.history.purge(acts.fact(engine, 0))
        for file in path.parent.glob("memory.db*"):
            assert b"base fact number 0 " not in file.read_bytes(), file.name
        for _ in steps:
            pass


def test_background_work_migrates_a_large_file(path: Path) -> None:
    with engine_on(opened(path), 9) as engine:
        assert engine.scheduled_maintenance.migrate_further(lambda: False) == 1
        assert engine.scheduled_maintenance.migrate_further(lambda: True) > 10
        assert engine.scheduled_maintenance.migrate_further(lambda: True) == 0
    assert version(path) == NEWEST


@pytest.mark.parametrize("step", [1, 9, 15])
def test_copies_that_another_release_began_are_made_again(usual: Path, path: Path, step: int) -> None:
    engine_on(SqliteDatabase(usual), 9).close()
    with closing(opened(path)) as database:
        database.migrate(queries.migrations("sqlite"))
        for _ in islice(database.migrate_further(), step):
            pass
        assert version(path) == 13
        with closing(apsw.Connection(str(path))) as earlier:
            earlier.execute("DROP INDEX memory_archived__compact")
        migrate(database)
        assert all(one.is_well for one in database.examine() if one.subject != "disk")
    assert rows(path) == rows(usual)


def test_a_copy_that_lacks_a_row_replaces_nothing_and_a_repair_begins_again(path: Path) -> None:
    with engine_on(opened(path), 9) as engine:
        before, database = acts.state(engine), engine._context.store.database
        for step in database.migrate_further():
            if step.endswith("of search_event"):  # the last one
                break
        with closing(apsw.Connection(str(path))) as other:
            other.execute("DELETE FROM memory__compact WHERE seq = 1")
        with pytest.raises(Unavailable, match="rows of memory were copied: run `mcp-memory doctor --repair`"):
            migrate(database)
        assert (version(path), acts.state(engine)) == (13, before)
        assert database.repair() == 0
        assert migrate(database) > 10
        assert (version(path), acts.state(engine)) == (NEWEST, before)


def test_copies_never_fill_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(path.parent)
    with engine_on(opened(path), 9) as engine:
        database = engine._context.store.database

        def migrate_with(free: int, most: int | None = None) -> int:
            monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free))
            return sum(1 for _ in islice(database.migrate_further(), most))

        assert migrate_with(LEFT_FREE_BYTES) == 0  # as much as the file has is needed, too
        assert migrate_with(LEFT_FREE_BYTES + 2 * database.size(), most=3) == 3
        assert migrate_with(LEFT_FREE_BYTES - 1) == 0
        assert version(path) == 13
        engine.memories.remember(NewMemory(content="there is room for this"))
        assert migrate_with(LEFT_FREE_BYTES) > 10
        assert "there is room for this" in texts(engine)
    assert version(path) == NEWEST


def test_a_lack_of_room_is_told_once_until_there_is_room(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    usage = shutil.disk_usage(path.parent)
    with closing(opened(path)) as database:
        database.migrate(queries.migrations("sqlite"))
        for free, told in ((0, 1), (0, 1), (usage.total, 1), (0, 2), (0, 2)):
            monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: usage._replace(free=free))
            assert len([*islice(database.migrate_further(), 2)]) == (2 if free else 0)
            assert len([one for one in caplog.messages if "more room on the disk" in one]) == told


@pytest.mark.parametrize(
    "peculiarity",
    [
        "CREATE TRIGGER noted AFTER INSERT ON reflection BEGIN SELECT max(seq) FROM event; END",
        "CREATE INDEX others ON memory (channel)",
        "ALTER TABLE memory ADD COLUMN others TEXT",
    ],
)
def test_what_others_added_to_our_tables_is_not_lost(tmp_path: Path, peculiarity: str) -> None:
    path = sample(tmp_path / "memory.db")
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(peculiarity)
    with engine_on(opened(path), 9) as engine:
        assert version(path) == NEWEST  # at once
        assert_sample(engine)
    assert any("others" in repr(one) or "noted" in repr(one) for one in rows(path)["described"])


def test_what_others_add_to_our_tables_meanwhile_is_not_lost(usual: Path, path: Path) -> None:
    with engine_on(SqliteDatabase(usual), 9) as engine:
        before = acts.state(engine)
    with engine_on(opened(path), 9) as engine:
        steps = engine._context.store.database.migrate_further()
        for _ in islice(steps, 9):
            pass
        assert version(path) == 13
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute("CREATE INDEX others ON memory (channel)")
        for _ in steps:
            pass
        assert acts.state(engine) == before
    described = rows(path)["described"]
    others = [entry for entry in described if entry[1] == "others"]
    assert others
    assert [entry for entry in described if entry not in others] == rows(usual)["described"]


def test_views_of_others_are_kept(tmp_path: Path) -> None:
    path = sample(tmp_path / "memory.db")
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("CREATE VIEW latest AS SELECT act, at FROM event")
        connection.execute("CREATE VIEW used AS SELECT id, used_epoch FROM memory")
    with engine_on(opened(path), 9) as engine:
        assert version(path) == 13
        assert len([*engine._context.store.database.migrate_further()]) > 10
        assert_sample(engine)
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("SELECT at FROM latest").fetchall()
        assert all(isinstance(epoch, float) for _, epoch in connection.execute("SELECT * FROM used"))
