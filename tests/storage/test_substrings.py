"""A substring search through the trigram index answers what a scan answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.storage.postgres import substrings as postgres_substrings
from mcp_memory.storage.postgres.database import PostgresDatabase
from mcp_memory.storage.sqlite import substrings
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.fakes import Clock, ids

ALPHABET = "abcAB \"%_\\'ßİıKΣςσÉé日本\n"
TEXT = st.text(ALPHABET, min_size=1, max_size=12)


@pytest.fixture(params=["indexed", "half indexed"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(substrings, "INDEX_FROM", 1)
    monkeypatch.setattr(substrings, "BATCH", 1 if request.param == "indexed" else 3)
    with closing(Store(SqliteDatabase(tmp_path / "memory.db", "NORMAL")).open()) as store:
        yield store


new_id = ids()


def put(store: Store, space: str, entities: list[tuple[str, str, list[str]]]) -> None:
    with store.write(Caller(space), Clock()(), "act") as tx:
        for number, (name, type, texts) in enumerate(entities):
            entity = tx.entities.add(id=new_id(), name=f"{name}{number} {new_id()}", type=type)
            unique = {id: f"{text}{id}" for id, text in ((new_id(), text) for text in texts)}
            hashes = tx.memories.known_texts(unique.values()).free_hashes
            for memory in tx.memories.add_observations(unique, hashes, kind="generic"):
                tx.entities.link(entity, memory)
        tx.scope.rows.images.clear()


def index(store: Store) -> None:
    for _ in store.database.words.maintain(store.database):
        pass


def revise(store: Store, space: str, text: str) -> None:
    """Change every other text, and remove the first entity."""
    with store.write(Caller(space), Clock()(), "act") as tx:
        [first, *others] = tx.entities.page(0, 100)
        for entity in others[::2]:
            tx.entities.change(entity, name=f"{text} {entity.name}")
        for node in tx.entities.nodes(others):
            for memory in node.observations[::2]:
                tx.memories.change(memory, content=f"{text} {memory.content}")
        tx.entities.remove(first)
        tx.scope.rows.images.clear()


def scanned(store: Store, space: str, needle: str) -> list[int]:
    """What Python finds, given all rows."""
    wanted = needle.lower()
    fold = _ascii_lower if wanted.isascii() else str.lower
    with store.read(space, Clock()()) as tx:
        return [
            node.entity.seq
            for node in tx.entities.nodes(tx.entities.page(0, 1000))
            if any(wanted in fold(text) for text in (node.entity.name, node.entity.type, *node.texts))
        ]


def _ascii_lower(text: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


ENTITIES = st.lists(st.tuples(TEXT, TEXT, st.lists(TEXT, max_size=3)), min_size=2, max_size=8)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entities=ENTITIES, later=ENTITIES, needles=st.lists(TEXT, min_size=1, max_size=5), data=st.data())
def test_the_answers_are_those_of_a_scan(
    store: Store,
    entities: list[tuple[str, str, list[str]]],
    later: list[tuple[str, str, list[str]]],
    needles: list[str],
    data: st.DataObject,
) -> None:
    space = f"space {new_id()}"
    put(store, space, entities)
    index(store)
    texts = [text for entity in entities for text in (entity[0], entity[1], *entity[2])]
    cut = data.draw(st.sampled_from(texts))
    needles = [*needles, cut, cut.upper(), cut[1:]]
    for stage in range(3):
        for needle in filter(None, needles):
            with store.read(space, Clock()()) as tx:
                assert tx.entities.seqs_holding(needle) == scanned(store, space, needle), (stage, needle)
        if stage == 0:
            put(store, space, [(f"x{name}", type, observed) for name, type, observed in later])
            revise(store, space, cut)
        elif stage == 1:
            index(store)


def test_postgresql_searches_through_trigrams_where_it_has_them(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_substrings, "INDEX_FROM", 2)
    with closing(Store(PostgresDatabase(postgres_url)).open()) as store:
        put(store, "default", [("anchor", "thing", ["green door"]), ("buoy", "thing", ["red 100% door"])])
        with store.database.write() as connection:
            connection.run("SELECT 1")
            connection.change("ANALYZE memory")
            connection.change("ANALYZE entity")
        built = [step.split()[-1] for step in store.database.words.maintain(store.database)]
        assert built == list(postgres_substrings.INDEXES)
        assert list(store.database.words.maintain(store.database)) == []
        for needle in ("RED", "100%", "anch", "thing", "nowhere"):
            with store.read("default", Clock()()) as tx:
                assert tx.entities.seqs_holding(needle) == scanned(store, "default", needle)


def test_rows_that_changed_are_indexed_again(store: Store) -> None:
    put(store, "default", [("anchor", "thing", ["green door"]), ("buoy", "thing", ["red door"])])
    index(store)
    revise(store, "default", "lighthouse")
    with store.read("default", Clock()()) as tx:
        assert len(tx.entities.seqs_holding("lighthouse red")) == 1
    index(store)
    with store.database.read() as connection:
        assert connection.run("SELECT * FROM stale_trigrams") == []
    with store.read("default", Clock()()) as tx:
        assert len(tx.entities.seqs_holding("lighthouse red")) == 1
        assert tx.entities.seqs_holding("green") == []


def test_candidates_alone_are_read_however_many_memories_there_are(store: Store) -> None:
    put(store, "default", [("Ana", "person", ["likes tea", "walks home", "reads"])] * 4)
    index(store)
    asked: list[tuple[str, Any]] = []

    def note(_: object, sql: str, bindings: Any) -> bool:
        asked.append((sql, bindings))
        return True

    with store.read("default", Clock()()) as tx:
        raw = tx.scope.connection.raw  # type: ignore[attr-defined]
        raw.exec_trace = note
        assert len(tx.entities.seqs_holding("likes tea")) == 4
        raw.exec_trace = None
        sql, bindings = asked[-1]
        plan = [step for *_, step in raw.execute(f"EXPLAIN QUERY PLAN {sql}", bindings)]
    assert "SEARCH o USING INTEGER PRIMARY KEY (rowid=?)" in plan
    assert not any(step.startswith("SEARCH o USING INDEX memory") for step in plan)
