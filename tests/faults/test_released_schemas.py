"""A database of any released schema opens with all that is in it; a migration that fails changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import psycopg
import pytest

from mcp_memory.engine import Engine
from mcp_memory.errors import Unavailable
from mcp_memory.model import Caller, Filter
from mcp_memory.storage import queries
from mcp_memory.storage.postgres.pool import SCHEMA
from mcp_memory.storage.sqlite import SqliteDatabase
from tests.consistency import troubles
from tests.faults.acts import engine_on
from tests.faults.places import open_database
from tests.faults.released_schemas import NUMBERS, put_sample, version_of
from tests.postgres_server import PostgresDatabases

NEWEST = queries.migrations("sqlite")[-1].number


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Of a database with nothing in it at all."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'memory.db'}"
        return
    postgres: PostgresDatabases = request.getfixturevalue("postgres")
    with postgres.empty() as address:
        yield address


def test_there_is_a_sample_of_every_released_schema() -> None:
    # Number 7 came in the same change as 8, so that no version had it as its newest.
    assert [number for number in range(1, max(NUMBERS) + 1) if number != 7] == NUMBERS


@pytest.mark.parametrize("number", NUMBERS)
def test_a_database_of_an_older_version_opens_with_everything_in_it(url: str, number: int) -> None:
    put_sample(url, number)
    assert version_of(url) == number
    with engine_on(open_database(url), 9) as engine:
        assert_sample(engine)
        assert troubles(engine._context.store) == []
    assert version_of(url) == NEWEST


def assert_sample(engine: Engine) -> None:
    [rosa] = engine.graph.open_nodes(["Rosa"], record=False).nodes
    assert rosa.texts == ["lives in Porto", "likes tea"]
    relations = engine.graph.open_nodes(["Rosa", "Apiary"], record=False).relations
    assert {(one.source, one.type, one.target) for one in relations} == {
        ("Rosa", "tends", "Apiary"),
        ("Apiary", "belongs to", "Rosa"),
    }
    memories = {one.content: one for one in engine.memories.find(Filter(), limit=50).memories}
    bees = memories["Rosa keeps bees in four hives"]
    assert (bees.tags, bees.metadata) == (("bees", "garden"), {"hives": 3})
    assert "This was deleted" not in memories
    assert [one.content for one in engine.history.versions(bees.id)] == ["Rosa keeps bees"]
    assert [one.type for one in engine.memories.associations_of(bees.id)] == ["related_to"]
    assert [one.reflection.content for one in engine.reflections.find(limit=5).reflections] == [
        "Rosa comes up often"
    ]
    assert [token.name for token in engine.access.tokens()] == ["laptop"]
    elsewhere = engine.acting_for(Caller("elsewhere"))
    assert [one.content for one in elsewhere.memories.find(Filter()).memories] == [
        "Another space has its own"
    ]
    assert "hives" in engine.recall.recall("bees").hits[0].memory.content
    engine.memories.update(bees.id, {"content": "Rosa keeps bees in five hives"})
    engine.history.undo_last()


WHOLE_ROWS = [number for number in NUMBERS if number >= 6]
"""Schemas whose rows have all columns of today: an image of another row tells less, and is not put back."""


@pytest.mark.parametrize("number", WHOLE_ROWS)
def test_what_an_older_version_changed_can_be_undone_and_redone(url: str, number: int) -> None:
    put_sample(url, number)
    with engine_on(open_database(url), 9) as engine:
        changes = [one for one in engine.history.recent(50) if one.undoable]
        assert len(changes) >= 9
        undone = [engine.history.undo(one.act) for one in changes]
        assert not engine.memories.find(Filter(), limit=50).memories
        assert not engine.graph.open_nodes(["Rosa", "Apiary"], record=False).nodes
        assert troubles(engine._context.store) == []
        for one in reversed(undone):
            engine.history.undo(one.by_act)
        assert_sample(engine)


@pytest.mark.parametrize("number", WHOLE_ROWS)
def test_what_an_older_version_knew_is_read_as_of_then(url: str, number: int) -> None:
    put_sample(url, number)
    with engine_on(open_database(url), 9) as engine:
        then = datetime(2026, 1, 1, 12, 0, 30, tzinfo=UTC)
        [early] = engine.memories.find(Filter(), as_of=then).memories
        assert (early.content, early.created_at) == ("Rosa keeps bees", then - timedelta(seconds=30))
        later = engine.memories.find(Filter(), as_of=then + timedelta(minutes=1), limit=50).memories
        assert "This was deleted" in {one.content for one in later}


@pytest.mark.parametrize("number", [number for number in NUMBERS if number < NEWEST])
def test_a_file_of_an_older_version_is_not_taken_for_one_of_this(tmp_path: Path, number: int) -> None:
    put_sample(f"sqlite:///{tmp_path / 'memory.db'}", number)
    found = SqliteDatabase(tmp_path / "memory.db").examine()
    assert [one.detail for one in found if not one.is_well and one.subject in ("tables", "schema")] == []


@pytest.mark.parametrize(
    ("damage", "subject"),
    [
        ("UPDATE memory SET content_hash = 'none at all' WHERE seq = 2", "texts"),
        ("UPDATE memory SET updated_at = 'soon' WHERE seq = 2", "rows"),
        ("UPDATE event SET undone_at = 'soon' WHERE seq = 2", "rows"),
        ("UPDATE memory SET updated_at = '2026-01-01T10:00:00.000000+02:00' WHERE seq = 2", "rows"),
    ],
)
def test_a_damaged_value_of_an_older_version_does_not_stop_a_start(
    tmp_path: Path, damage: str, subject: str
) -> None:
    path = tmp_path / "memory.db"
    put_sample(f"sqlite:///{path}", 13)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(damage)
    engine_on(SqliteDatabase(path), 9).close()
    assert [one.subject for one in SqliteDatabase(path).examine() if not one.is_well] == [subject]
    assert SqliteDatabase(path).repair()
    assert all(one.is_well for one in SqliteDatabase(path).examine())


@pytest.mark.parametrize("number", [number for number in NUMBERS if number < NEWEST])
def test_a_repair_leaves_the_rows_of_an_older_version_to_the_migration(tmp_path: Path, number: int) -> None:
    path = tmp_path / "memory.db"
    put_sample(f"sqlite:///{path}", number)
    with closing(SqliteDatabase(path)) as database:
        database.repair()
    with engine_on(SqliteDatabase(path), 9) as engine:
        assert_sample(engine)
        assert troubles(engine._context.store) == []


OTHERS = "SELECT name, sql FROM sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY name"


@pytest.mark.parametrize(
    "peculiarity",
    [
        "UPDATE event SET space_id = 99 WHERE seq = 2",
        "DROP INDEX event_at",
        "DROP INDEX memory_shown",
        "CREATE VIEW latest AS SELECT act, at FROM event",
        'CREATE VIEW "used ""lately""" AS SELECT id, used_epoch FROM memory',
        "CREATE VIEW mine AS SELECT id FROM memory; CREATE VIEW ours AS SELECT id FROM mine; "
        "CREATE TRIGGER refused INSTEAD OF INSERT ON mine BEGIN SELECT used_epoch FROM memory; END",
        "CREATE VIEW broken AS SELECT lost FROM nowhere",
        "CREATE TRIGGER noted AFTER INSERT ON reflection BEGIN SELECT max(seq) FROM event; END",
        "CREATE TRIGGER counted AFTER INSERT ON event BEGIN SELECT used_epoch FROM memory; END",
    ],
)
def test_what_others_left_in_an_older_file_does_not_stop_a_start(tmp_path: Path, peculiarity: str) -> None:
    path = tmp_path / "memory.db"
    put_sample(f"sqlite:///{path}", 13)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(peculiarity)
        before = connection.execute(OTHERS).fetchall()
    with engine_on(SqliteDatabase(path), 9) as engine:
        assert_sample(engine)
    assert version_of(f"sqlite:///{path}") == NEWEST
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute(OTHERS).fetchall() == before
        if "used_epoch" in peculiarity and "VIEW" in peculiarity:
            assert connection.execute("SELECT used_epoch FROM memory").fetchall()


@pytest.mark.parametrize("told", ["2026-01-01T13:00:00.000000+01:00", "2026-01-01T12:00:00Z"])
def test_a_moment_written_in_another_way_stays_that_moment(tmp_path: Path, told: str) -> None:
    path = tmp_path / "memory.db"
    put_sample(f"sqlite:///{path}", 13)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("UPDATE event SET at = ? WHERE seq = 2", (told,))
    engine_on(SqliteDatabase(path), 9).close()
    with closing(apsw.Connection(str(path))) as connection:
        [[at]] = connection.execute("SELECT at FROM event WHERE seq = 2")
    assert datetime.fromtimestamp(at / 1e6, UTC) == datetime.fromisoformat(told)


def test_a_view_of_others_on_postgres_is_named_and_nothing_is_changed(postgres: PostgresDatabases) -> None:
    with postgres.empty() as address:
        put_sample(address, 13)
        with psycopg.connect(address) as other:
            other.execute(f"CREATE VIEW {SCHEMA}.contents AS SELECT content_hash FROM {SCHEMA}.memory")
        with pytest.raises(Unavailable, match=r"view (\w+\.)?contents .*content_hash.* Drop what is named"):
            engine_on(open_database(address), 9)
        assert version_of(address) == 13
        with psycopg.connect(address) as other:
            other.execute(f"DROP VIEW {SCHEMA}.contents")
        with engine_on(open_database(address), 9) as engine:
            assert_sample(engine)


def test_an_older_program_on_postgres_stores_no_hash_that_nobody_finds(
    postgres: PostgresDatabases,
) -> None:
    with postgres.empty() as address:
        put_sample(address, 13)
        engine_on(open_database(address), 9).close()
        with psycopg.connect(address) as older, pytest.raises(psycopg.errors.CheckViolation):
            older.execute(f"UPDATE {SCHEMA}.memory SET content_hash = %s", ("0" * 64,))


def test_an_older_program_that_still_runs_changes_nothing_and_spoils_nothing(tmp_path: Path) -> None:
    path, told = tmp_path / "memory.db", "2026-01-01T12:05:00.000000+00:00"
    put_sample(f"sqlite:///{path}", 13)
    engine_on(SqliteDatabase(path), 9).close()
    with closing(apsw.Connection(str(path))) as older:
        with pytest.raises(apsw.ConstraintError):
            older.execute(
                "INSERT INTO event (space_id, act, name, subject, payload, client, at, before)"
                " VALUES (1, 'a', 'token_revoked', 'laptop', '{}', '', ?, '[]')",
                (told,),
            )
        older.execute("UPDATE memory SET accessed_at = ?", (told,))  # counts of use are not in the journal
    with engine_on(SqliteDatabase(path), 9) as engine:
        found = engine.memories.find(Filter(), limit=50).memories
        assert {one.accessed_at for one in found} == {datetime.fromisoformat(told)}
        # Text is no time of use, but no reason either to take a memory for one that was never used.
        assert not engine.memories.find(Filter(below_confidence=0.001), limit=50).memories
        assert_sample(engine)


@pytest.mark.parametrize("number", [number for number in NUMBERS if number < NEWEST])
def test_a_migration_that_fails_leaves_the_old_state_and_the_next_start_succeeds(
    url: str, number: int
) -> None:
    put_sample(url, number)
    with closing(open_database(url)) as database:
        scripts = queries.migrations(database.name)
        for broken in range(number, NEWEST):
            twin = "INSERT INTO space (seq, name, created_at) SELECT seq, name, created_at FROM space"
            failing = [
                replace(script, sql=f"{script.sql};\n{twin}") if script.number == broken + 1 else script
                for script in scripts
            ]
            with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
                database.migrate(failing)
            assert version_of(url) == number
    with engine_on(open_database(url), 9) as engine:
        assert_sample(engine)
    assert version_of(url) == NEWEST
