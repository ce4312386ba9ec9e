"""A large PostgreSQL database is migrated while it is read and written, by old programs and new ones."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Unavailable
from mcp_memory.model import Filter
from mcp_memory.storage import Database, Store, queries
from mcp_memory.storage.copying import copy
from mcp_memory.storage.postgres import online_migration
from mcp_memory.storage.postgres.database import PostgresDatabase
from mcp_memory.storage.postgres.statements import SQL
from mcp_memory.storage.sqlite import SqliteDatabase
from mcp_memory.text.fingerprint import fingerprint, long_fingerprint
from tests.consistency import troubles
from tests.faults import acts
from tests.faults.acts import engine_on
from tests.faults.places import PostgresPlaces, postgres_places
from tests.faults.released_schemas import NUMBERS, put_sample, version_of
from tests.faults.test_released_schemas import assert_sample

SCRIPTS = queries.migrations("postgres")
NEWEST = SCRIPTS[-1].number
MANY = 130
"""Memories in a database: hashes are copied by fifties."""


def opened(url: str, **options: Any) -> PostgresDatabase:
    """As a database is that is too large to be migrated at once."""
    return PostgresDatabase(url, connections=3, at_once_bytes=0, **options)


@pytest.fixture(scope="module")
def places() -> Iterator[PostgresPlaces]:
    with postgres_places() as places:
        places.sample("base", 13)
        with engine_on(opened(places.url("base")), 90) as engine:
            acts.prepare(engine)
            for number in range(MANY):
                engine.memories.remember(NewMemory(content=f"one of many: {number}"))
            engine.graph.open_nodes(["hub", "left"])
        places.settle(places.url("base"))
        assert version_of(places.url("base")) == 13
        yield places


@pytest.fixture
def url(places: PostgresPlaces) -> Iterator[str]:
    """Of a database of schema 13 with all kinds of rows."""
    address = places.copied("base")
    yield address
    places.remove(address)


@pytest.fixture
def usual(places: PostgresPlaces) -> Iterator[str]:
    """To be migrated at once."""
    address = places.copied("base")
    yield address
    places.remove(address)


@pytest.fixture
def empty(places: PostgresPlaces) -> Iterator[str]:
    address = places.copied(None)
    yield address
    places.remove(address)


def at_once(url: str) -> None:
    engine_on(PostgresDatabase(url), 9).close()
    assert version_of(url) == NEWEST


def migrate(database: Database) -> int:
    return sum(1 for _ in database.migrate_further())


def advance(database: PostgresDatabase, count: int) -> None:
    """So many steps, by a server that then is gone."""
    with closing(database.migrate_further()) as steps:  # type: ignore[type-var]
        for _ in islice(steps, count):
            pass


def assert_well(database: PostgresDatabase) -> None:
    # A server for tests does not keep what it has through a power cut.
    assert [one for one in database.examine() if not one.is_well and one.subject != "durability"] == []


def query(url: str, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True, options="-c search_path=mcp_memory,public") as connection:
        cursor = connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []


DESCRIBED = """
SELECT 'column', concat_ws('.', c.relname, a.attname), concat_ws(' ',
       format_type(a.atttypid, a.atttypmod), attnotnull, attidentity, attgenerated, attstorage, attcollation,
       attacl, attstattarget, pg_get_expr(d.adbin, d.adrelid))
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
 WHERE c.relnamespace = 'mcp_memory'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped AND relkind <> 'i'
UNION ALL
SELECT 'relation', relname, concat_ws(' ', relkind, relpersistence, relacl, reloptions)
  FROM pg_class WHERE relnamespace = 'mcp_memory'::regnamespace
UNION ALL
SELECT 'constraint', conname, concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid), convalidated)
  FROM pg_constraint WHERE connamespace = 'mcp_memory'::regnamespace
UNION ALL
SELECT 'index', c.relname, concat_ws(' ', pg_get_indexdef(indexrelid), indisvalid, indisready)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE relnamespace = 'mcp_memory'::regnamespace
UNION ALL
SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL
SELECT 'function', proname, pg_get_functiondef(oid)
  FROM pg_proc WHERE pronamespace = 'mcp_memory'::regnamespace
UNION ALL
SELECT 'migration', number::text, name FROM mcp_memory.migration
"""


def described(url: str) -> list[tuple[Any, ...]]:
    """Everything in the schema but the order of columns."""
    return sorted(query(url, DESCRIBED))


def rows(url: str) -> dict[str, list[str]]:
    """Everything in the tables."""
    tables = [
        name for (name,) in query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'mcp_memory'")
    ]
    return {
        table: sorted(repr(row) for row in query(url, f"SELECT to_jsonb(o) FROM {table} o"))
        for table in tables
        if table != "migration"
    }


@pytest.mark.parametrize("number", [number for number in NUMBERS if number < NEWEST])
def test_in_steps_a_database_becomes_what_it_becomes_at_once(places: PostgresPlaces, number: int) -> None:
    whole, in_steps, fresh = (places.copied(None) for _ in range(3))
    put_sample(whole, number)
    put_sample(in_steps, number)
    at_once(whole)
    at_once(fresh)
    with closing(opened(in_steps)) as database:
        database.migrate(SCRIPTS)
        assert version_of(in_steps) == 13
        assert migrate(database) > 3
    assert described(in_steps) == described(whole) == described(fresh)
    assert rows(in_steps) == rows(whole)
    with engine_on(PostgresDatabase(in_steps), 9) as engine:
        assert_sample(engine)
        assert troubles(engine._context.store) == []
    for address in (whole, in_steps, fresh):
        places.remove(address)


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_write_is_served_before_during_and_after(usual: str, url: str, seed: int) -> None:
    chance = random.Random(seed)
    # How many transactions an import takes depends on its speed, and with that its events.
    order = chance.sample(sorted(acts.ACTS.keys() - acts.TAKEN_BACK), 20)
    database = opened(url)
    with engine_on(PostgresDatabase(usual)) as known, engine_on(database) as engine:
        assert (version_of(usual), version_of(url)) == (NEWEST, 13)
        steps = database.migrate_further()
        for number, kind in enumerate(order, 1):
            for _ in islice(steps, chance.randint(0, 1)):
                pass
            acts.carry_out(kind, acts.for_act(known, number))
            acts.carry_out(kind, acts.for_act(engine, number))
            assert acts.state(engine) == acts.state(known), (number, kind, version_of(url))
        for _ in steps:
            pass
        assert acts.state(engine) == acts.state(known)
        assert troubles(engine._context.store) == []
    assert described(url) == described(usual)
    assert query(url, HASHES) == query(usual, HASHES)


HASHES = "SELECT seq, content_hash FROM memory ORDER BY seq"


def test_reads_of_all_kinds_are_right_at_every_step(empty: str) -> None:
    put_sample(empty, 13)
    then = datetime(2026, 1, 1, 12, 0, 30, tzinfo=UTC)
    seen = set()
    with engine_on(opened(empty), 9) as engine:
        for _ in engine._context.store.database.migrate_further():
            seen.add(version_of(empty))
            [early] = engine.memories.find(Filter(), as_of=then).memories
            assert early.content == "Rosa keeps bees"
            [rosa] = engine.graph.open_nodes(["Rosa"], record=False).nodes
            assert rosa.texts == ["lives in Porto", "likes tea"]
            bees = engine.recall.recall("bees").hits[0].memory
            engine.memories.update(bees.id, {"content": "Rosa keeps bees in five hives"})
            engine.history.undo_last()
            known = engine.memories.remember(NewMemory(content="Rosa keeps bees in four hives"))
            assert known.memory.id == bees.id
            [change] = engine.history.recent(1)
            with engine._context.reading() as tx:
                assert change.act in tx.journal.acts_like(change.act[-12:])
        assert_sample(engine)
        assert troubles(engine._context.store) == []
    assert seen == {13, NEWEST}


def test_any_server_resumes_where_another_was_killed(usual: str, url: str) -> None:
    at_once(usual)
    sessions = 0
    while version_of(url) != NEWEST:
        with closing(opened(url)) as database:
            database.migrate(SCRIPTS)
            advance(database, 1)
        sessions += 1
    assert sessions > 6
    assert (described(url), rows(url)) == (described(usual), rows(usual))


def test_an_index_whose_building_was_interrupted_is_built_again(usual: str, url: str) -> None:
    at_once(usual)
    with closing(opened(url)) as database:
        database.migrate(SCRIPTS)
        for step in database.migrate_further():
            if step.startswith("checked"):
                break
        impatient = psycopg.connect(
            url, autocommit=True, options="-c search_path=mcp_memory -c statement_timeout=100"
        )
        with impatient, psycopg.connect(url) as writing:  # building an index waits for those who write
            writing.execute("UPDATE mcp_memory.memory SET access_count = 1 WHERE seq = 1")
            for index in online_migration._MEMORY_INDEXES:
                with pytest.raises(errors.QueryCanceled):
                    impatient.execute(SQL[f"create_{index}"])
        assert len(query(url, "SELECT 1 FROM pg_index WHERE NOT indisvalid")) == 2
        assert_well(database)
        migrate(database)
    assert (described(url), rows(url)) == (described(usual), rows(usual))


def test_two_servers_may_migrate_and_write_at_once(url: str) -> None:
    failures: list[BaseException] = []
    told: dict[int, int] = {20: 0, 30: 0}

    def serve(number: int) -> None:
        try:
            with engine_on(opened(url), number) as engine:
                while version_of(url) != NEWEST:
                    for _ in engine._context.store.database.migrate_further():
                        write(engine, number)
                    write(engine, number)
                write(engine, number)
        except BaseException as error:
            failures.append(error)

    def write(engine: Engine, number: int) -> None:
        engine.memories.remember(NewMemory(content=f"server {number} says {told[number]}"))
        told[number] += 1

    servers = [threading.Thread(target=serve, args=(number,)) for number in told]
    for server in servers:
        server.start()
    for server in servers:
        server.join()
    assert not failures
    with engine_on(PostgresDatabase(url), 40) as engine:
        contents = texts(engine)
        for number, count in told.items():
            assert {f"server {number} says {written}" for written in range(count)} <= contents
        assert troubles(engine._context.store) == []


def texts(engine: Engine) -> set[str]:
    lines = (json.loads(line) for line in engine.transfer.export_full())
    return {line["content"] for line in lines if line["record"] == "memory"}


OLDER_MEMORY = (
    "INSERT INTO mcp_memory.memory (space_id, id, content, content_hash, type, kind, tags, confidence,"
    " importance, metadata, origin, created_at, updated_at, access_count, version)"
    " VALUES (1, %(id)s, %(text)s, %(hash)s, 'general', 'Generic', '[]', 1, 0.5, '{}', 'memory', now(),"
    " now(), 0, 1)"
)


def test_what_an_older_program_writes_meanwhile_is_kept_and_what_it_writes_later_is_refused(url: str) -> None:
    written = 0
    with engine_on(opened(url), 9) as engine, psycopg.connect(url, autocommit=True) as older:
        older.prepare_threshold = 0
        for _ in engine._context.store.database.migrate_further():
            text = f"an older program says {written}"
            given = {"id": f"older-{written}", "text": text, "hash": long_fingerprint(text)}
            if version_of(url) == NEWEST:
                with pytest.raises(psycopg.Error):
                    older.execute(OLDER_MEMORY, given)
                break
            older.execute(OLDER_MEMORY, given)
            older.execute("UPDATE mcp_memory.memory SET updated_at = now() WHERE seq = 1 + %s", (written,))
            again = engine.memories.remember(NewMemory(content=text))
            assert again.memory.id == given["id"]
            written += 1
        assert version_of(url) == NEWEST
        assert written > 5
        assert {f"an older program says {number}" for number in range(written)} <= texts(engine)
        for number in range(written):
            again = engine.memories.remember(NewMemory(content=f"an older program says {number}"))
            assert again.memory.id == f"older-{number}"


def test_a_transaction_that_began_before_the_change_ends_in_its_form(url: str, quick: None) -> None:
    database, at, content = opened(url), datetime(2026, 1, 2, tzinfo=UTC), "one of many: 5"
    with closing(Store(database).open()) as store:
        for step in database.migrate_further():
            if step == "built the index memory_archived":
                break
        with store.read("default", at) as tx:
            assert migrate(database) == 0  # it waits for this one
            found = tx.memories.equal_to(content)
        with database.write(space="default") as connection:
            assert migrate(database) == 0
            connection.change(
                "UPDATE memory SET content_hash = :hash WHERE seq = 1", {"hash": fingerprint("hat")}
            )
        assert version_of(url) == 13
        assert migrate(database) == 1
        assert version_of(url) == NEWEST
        with store.read("default", at) as tx:
            assert tx.memories.equal_to(content) == found is not None
            hat = tx.memories.equal_to("hat")
            assert hat is not None
            assert hat.seq == 1


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up soon what others prevent."""
    monkeypatch.setattr(online_migration, "ATTEMPTS", 2)
    monkeypatch.setattr(online_migration, "PAUSE", 0.0)


def test_statements_that_were_used_often_before_the_change_work_after_it(url: str) -> None:
    """A prepared statement would have the type of the former column."""
    with engine_on(opened(url), 9) as engine:
        memory = engine.memories.remember(NewMemory(content="changed again and again")).memory
        for step in engine._context.store.database.migrate_further():
            for number in range(12):
                engine.memories.update(memory.id, {"content": f"changed {number} times before: {step}"})
        assert version_of(url) == NEWEST
        assert troubles(engine._context.store) == []


def test_if_the_trigger_is_gone_it_begins_again(usual: str, url: str) -> None:
    with engine_on(opened(url), 9) as engine, engine_on(PostgresDatabase(usual), 9) as known:
        database = engine._context.store.database
        for step in database.migrate_further():
            if step.startswith("copied"):
                break
        query(url, "DROP TRIGGER memory_hash__compact ON memory")
        migrate(database)
        for one in (engine, known):
            one.memories.remember(NewMemory(content="written later"))
        assert acts.state(engine) == acts.state(known)
    assert (described(url), query(url, HASHES)) == (described(usual), query(usual, HASHES))


def test_rows_that_somebody_else_is_changing_are_waited_for_by_nobody(url: str) -> None:
    with closing(opened(url)) as database:
        database.migrate(SCRIPTS)
        advance(database, 2)
        with psycopg.connect(url) as other:
            changed = query(url, "SELECT seq FROM memory WHERE content LIKE 'one of many: 7_'")
            other.execute(
                "UPDATE mcp_memory.memory SET access_count = 1 WHERE content LIKE 'one of many: 7_'"
            )
            assert migrate(database) > 1
            without = "SELECT seq FROM memory WHERE content_hash__compact IS NULL ORDER BY seq"
            assert query(url, without) == sorted(changed) != []
        assert query(url, without) == []
        migrate(database)
    assert version_of(url) == NEWEST


@pytest.mark.parametrize("step", range(0, 9, 2))
def test_a_database_in_between_is_sound_and_can_be_copied_and_backed_up(
    places: PostgresPlaces, url: str, empty: str, step: int, tmp_path: Path
) -> None:
    with engine_on(opened(url), 9) as engine:
        before = acts.state(engine)
        database = engine._context.store.database
        assert isinstance(database, PostgresDatabase)
        advance(database, step)
        assert_well(database)
        assert database.repair() == 0
        database.back_up(tmp_path / "copy.db")
        with closing(Store(PostgresDatabase(empty)).open()) as target:
            copy(engine._context.store, target)
        assert acts.state(engine) == before
    for other in (SqliteDatabase(tmp_path / "copy.db"), PostgresDatabase(empty), PostgresDatabase(url)):
        with engine_on(other, 9) as engine:
            assert acts.state(engine) == before
            assert troubles(engine._context.store) == []
    assert version_of(url) == NEWEST  # it is small enough for that


def test_background_work_migrates_a_large_database(url: str) -> None:
    with engine_on(opened(url), 9) as engine:
        assert engine.scheduled_maintenance.migrate_further(lambda: False) == 1
        assert engine.scheduled_maintenance.migrate_further(lambda: True) > 5
        assert engine.scheduled_maintenance.migrate_further(lambda: True) == 0
    assert version_of(url) == NEWEST


def test_what_others_made_of_the_column_is_not_lost(empty: str) -> None:
    put_sample(empty, 13)
    query(empty, "CREATE INDEX others ON memory (content_hash)")
    with engine_on(opened(empty), 9) as engine:
        assert version_of(empty) == NEWEST  # at once
        assert_sample(engine)
    assert query(empty, "SELECT 1 FROM pg_indexes WHERE indexname = 'others'")


@pytest.mark.parametrize(
    "peculiarity",
    ["CREATE INDEX others ON memory (content_hash)", "CREATE VIEW others AS SELECT content_hash FROM memory"],
)
def test_what_others_make_of_the_column_meanwhile_is_named(url: str, peculiarity: str) -> None:
    with engine_on(opened(url), 9) as engine:
        before, database = acts.state(engine), engine._context.store.database
        assert isinstance(database, PostgresDatabase)
        advance(database, 4)
        query(url, peculiarity)
        with pytest.raises(Unavailable, match=r"others.*\. Drop what is named there"):
            migrate(database)
        assert (version_of(url), acts.state(engine)) == (13, before)
        query(url, f"DROP {'INDEX' if 'INDEX' in peculiarity else 'VIEW'} others")
        assert migrate(database) == 1
        assert (version_of(url), acts.state(engine)) == (NEWEST, before)
