"""Moving house: everything that one database holds is in the other, and can be worked with there."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_memory.engine import Context, Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Conflict, Invalid, Unavailable
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Caller, Filter
from mcp_memory.storage import Store, copying
from mcp_memory.storage.copying import copy
from mcp_memory.storage.postgres.database import PostgresDatabase
from mcp_memory.storage.schema import TABLES
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.fakes import Clock, HashEmbedder, ids
from tests.postgres_server import PostgresDatabases
from tests.storage.test_every_query import GENERATED, ONLY_POSTGRES, ONLY_SQLITE, columns_of, tables_of

BOTH_WAYS = pytest.mark.parametrize(("here", "there"), [("sqlite", "postgres"), ("postgres", "sqlite")])


def working(store: Store, clock: Clock, first_id: int = 0, space: str = "default") -> Engine:
    new_id = ids()
    for _ in range(first_id):
        new_id()
    return Engine(
        Context(
            store=store, embedder=HashEmbedder(), clock=clock, new_id=new_id, caller=Caller(space, "test")
        )
    )


def live(store: Store, clock: Clock) -> str:
    """Some of everything: facts, history, links, vectors, use, another space. The act of a deletion."""
    engine = working(store, clock)
    engine.graph.create_entities(
        [
            NewEntity(name="Ana", type="person", observations=("likes tea", "works on the harbour map")),
            NewEntity(name="Harbour", type="place", metadata={"big": 1e22, "depth": [1, 2.5, None]}),
        ]
    )
    engine.graph.create_relations([NewRelation(source="Ana", target="Harbour", type="maps")])
    kept = [engine.memories.remember(NewMemory(content=f"fact number {n}", tags=("n",))) for n in range(30)]
    clock.advance(days=1)
    engine.memories.update(kept[3].memory.id, {"content": "fact number three, revised"})
    engine.memories.associate(kept[0].memory.id, kept[1].memory.id, "caused_by", 0.7)
    engine.memories.forget(kept[5].memory.id, "wrong")
    deletion = engine.memories.delete([kept[29].memory.id])
    engine.reflections.add("entity", "Ana is thorough", target="Ana")
    engine.recall.recall("harbour map")
    engine.entities.search("harbour", 5)
    working(store, clock, 1000, "other").memories.remember(NewMemory(content="elsewhere"))
    assert deletion.act
    return deletion.act


def readable(store: Store, clock: Clock) -> object:
    engine = working(store, clock, 5000)
    return (
        engine.graph.read(limit=50),
        engine.memories.find(Filter(), order="oldest", limit=100),
        engine.memories.find(Filter(forgotten=True), order="oldest", limit=100),
        engine.history.events_after(0, 1000),
        engine.history.recent(50),
        [hit.memory for hit in engine.recall.recall("harbour map", mode="keyword").hits],
        store.spaces(),
    )


@BOTH_WAYS
def test_everything_arrives_and_can_be_worked_with(
    stores: dict[str, Store], clock: Clock, here: str, there: str
) -> None:
    source, target = stores[here], stores[there]
    deletion = live(source, clock)
    copied = copy(source, target)
    assert copied.counts["memory"] == 32
    assert all(
        copied.counts[name] for name in ("event", "vector", "association", "memory_version", "reflection")
    )
    assert readable(source, clock) == readable(target, clock)
    engine = working(target, clock, 6000)
    assert [hit.memory.content for hit in engine.recall.recall("revised", mode="hybrid", limit=1).hits] == [
        "fact number three, revised"
    ]
    engine.history.undo(deletion)
    assert engine.memories.find(Filter(), limit=1).total == 31


@BOTH_WAYS
def test_new_numbers_go_on_where_the_old_ones_ended(
    stores: dict[str, Store], clock: Clock, here: str, there: str
) -> None:
    source, target = stores[here], stores[there]
    engine = working(source, clock)
    stored = [engine.memories.remember(NewMemory(content=f"fact {n} of many")).memory for n in range(3)]
    engine.memories.delete([stored[-1].id])
    copy(source, target)
    new = working(target, clock, 500).memories.remember(NewMemory(content="something new")).memory
    assert new.seq > stored[-1].seq


def test_there_and_back_again_is_the_same(stores: dict[str, Store], clock: Clock, tmp_path: Path) -> None:
    live(stores["sqlite"], clock)
    copy(stores["sqlite"], stores["postgres"])
    back = Store(SqliteDatabase(tmp_path / "back.db", "NORMAL")).open()
    copy(stores["postgres"], back)
    assert rows_of(stores["sqlite"]) == rows_of(back)
    back.close()


@BOTH_WAYS
def test_what_was_broken_off_is_gone_on_with(
    stores: dict[str, Store], clock: Clock, here: str, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "BATCH", 7)
    source, target = stores[here], stores[there]
    live(source, clock)
    for steps in range(1, 40, 4):
        with pytest.raises(KeyboardInterrupt):
            copy(source, target, Patience(steps))
    told: list[tuple[str, int, int]] = []
    copied = copy(source, target, lambda what, done, total: told.append((what, done, total)))
    for table, count in copied.counts.items():
        assert (f"copying {table}", count, count) in told
        assert (f"checking {table}", count, count) in told or count == 0
    assert readable(source, clock) == readable(target, clock)
    with pytest.raises(Conflict, match="is not empty"):
        copy(source, target)


class Patience:
    """Breaks off after some steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def __call__(self, what: str, done: int, total: int | None) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise KeyboardInterrupt


def test_searches_need_not_read_what_was_copied_but_not_filed(stores: dict[str, Store], clock: Clock) -> None:
    """While a copy goes on, words wait in a list; that must not be how things are left."""
    source, target = stores["sqlite"], stores["postgres"]
    live(source, clock)
    with pytest.raises(KeyboardInterrupt):
        copy(source, target, Patience(20))
    copy(source, target)
    with target.database.write() as connection:
        indexes = connection.run(
            "SELECT CAST(reloptions AS TEXT) AS options, gin_clean_pending_list(oid) AS waiting FROM pg_class"
            " WHERE relname LIKE '%_words_lexemes' AND relnamespace = to_regnamespace('mcp_memory')"
        )
    assert indexes == [{"options": "{fastupdate=off}", "waiting": 0}] * 3


def test_a_database_that_is_in_use_is_not_copied_to(stores: dict[str, Store], clock: Clock) -> None:
    live(stores["sqlite"], clock)
    live(stores["postgres"], clock)
    with pytest.raises(Conflict, match="give an empty one"):
        copy(stores["sqlite"], stores["postgres"])


def test_an_empty_database_is_not_copied(stores: dict[str, Store]) -> None:
    with pytest.raises(Invalid, match="is empty"):
        copy(stores["sqlite"], stores["postgres"])


def test_an_original_that_changed_meanwhile_is_noticed(stores: dict[str, Store], clock: Clock) -> None:
    source, target = stores["sqlite"], stores["postgres"]
    live(source, clock)
    with pytest.raises(KeyboardInterrupt):
        copy(source, target, Patience(4))
    [memory, *_] = working(source, clock).memories.find(Filter(), order="oldest", limit=1).memories
    working(source, clock, 7000).memories.update(memory.id, {"tags": ("new",)})
    with pytest.raises(Unavailable, match="the copy of memory differs from the original"):
        copy(source, target)


NOT_COPIED = {"page_session"}
"""Who is logged in at one server is not logged in at another."""


def test_no_table_is_left_behind(migrated: dict[str, Store]) -> None:
    for store in migrated.values():
        real = tables_of(store.database) - ONLY_SQLITE - ONLY_POSTGRES - NOT_COPIED
        assert {table.name for table in TABLES} == real
        for table in TABLES:
            columns = set(columns_of(store.database, table.name)) - GENERATED.get(table.name, set())
            assert set(table.columns) == columns - ({"id"} if table.name == "vector" else set())


def test_text_sorts_alike_on_both(postgres: PostgresDatabases) -> None:
    """A copy goes on after the last key it has: both must agree on which that is."""
    with postgres.fresh() as url:
        database = PostgresDatabase(url)
        with database.read() as connection:
            others = connection.run(
                "SELECT table_name, column_name FROM information_schema.columns"
                " WHERE table_schema = 'mcp_memory' AND table_name <> 'migration' AND data_type = 'text'"
                " AND collation_name IS DISTINCT FROM 'C'"
            )
        database.close()
    assert others == []


def rows_of(store: Store) -> dict[str, list[dict[str, object]]]:
    with store.database.read() as connection:
        return {
            table.name: connection.run(
                f"SELECT {', '.join(table.columns)} FROM {table.name} ORDER BY 1, 2, 3"
            )
            if len(table.columns) > 2
            else connection.run(f"SELECT * FROM {table.name} ORDER BY 1")
            for table in TABLES
        }
