"""Reads are answered while another process writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Unavailable
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Caller
from mcp_memory.storage import Database, Store
from tests.conftest import open_database
from tests.fakes import Clock

SPACE = Caller().space


@pytest.fixture
def other(
    request: pytest.FixtureRequest, database: Database, store: Store, tmp_path: Path
) -> Iterator[Database]:
    """The same database, as another process has it."""
    with closing(open_database(database.name, request, tmp_path)) as opened:
        yield opened


@pytest.fixture
def known(engine: Engine) -> Engine:
    engine.graph.create_entities([NewEntity(name="Ada", type="person", observations=("plays chess",))])
    engine.memories.remember(NewMemory(content="the kitchen tap drips"))
    return engine


def access_count(store: Store, clock: Clock) -> int:
    with store.read(SPACE, clock()) as tx:
        entity = tx.entities.get("Ada")
        return tx.usage.standings([entity.seq])[entity.seq].access_count


def test_entities_are_opened_and_found_while_another_process_writes(
    known: Engine, other: Database, store: Store, clock: Clock
) -> None:
    with other.write(space=SPACE):
        assert [node.entity.name for node in known.graph.open_nodes(["Ada"]).nodes] == ["Ada"]
        assert [hit.node.entity.name for hit in known.entities.search("chess", 5).hits] == ["Ada"]
        assert access_count(store, clock) == 0
    known.graph.open_nodes(["Ada"])
    assert access_count(store, clock) == 1


def test_memories_are_recalled_while_another_process_writes(known: Engine, other: Database) -> None:
    with other.write(space=SPACE):
        [hit] = known.recall.recall("kitchen tap", mode="keyword", limit=1).hits
        assert known.memories.get(hit.memory.id).access_count == 0
    assert known.memories.get(hit.memory.id).access_count == 0
    assert known.memories.get(hit.memory.id).access_count == 1


def test_a_search_leaves_vectors_to_others_when_it_cannot_keep_them(
    known: Engine, other: Database, store: Store, clock: Clock
) -> None:
    known.graph.add_observations("Ada", ["lives in London"])
    with other.write(space=SPACE):
        answer = known.entities.search("London", 5)
        assert [hit.node.entity.name for hit in answer.hits] == ["Ada"]
    with store.read(SPACE, clock()) as tx:
        assert tx.indexes.count_pending() > 0
    known.entities.search("London", 5)
    with store.read(SPACE, clock()) as tx:
        assert not tx.indexes.pending("entity", 10)


def test_the_first_search_of_all_is_by_words_when_it_cannot_choose_a_model(
    engine: Engine, other: Database
) -> None:
    engine.graph.create_entities([NewEntity(name="Ada", type="person", observations=("plays chess",))])
    with other.write(space=SPACE):
        answer = engine.entities.search("chess", 5)
    assert [hit.node.entity.name for hit in answer.hits] == ["Ada"]
    assert answer.mode.startswith("keyword only")


def test_who_has_no_patience_is_refused_while_another_process_writes(
    known: Engine, other: Database, store: Store, clock: Clock
) -> None:
    with other.write(space=SPACE):
        with pytest.raises(Unavailable, match="busy"), store.write(Caller(), clock(), "", patience=0):
            pytest.fail("there were two writers in one space")
        with pytest.raises(Unavailable, match="busy"), store.write(Caller(), clock(), "", patience=0.01):
            pytest.fail("there were two writers in one space")
    with store.write(Caller(), clock(), "", patience=0):
        pass


def test_a_thread_with_no_patience_is_refused_while_another_one_writes(store: Store, clock: Clock) -> None:
    with (
        store.write(Caller(), clock(), ""),
        pytest.raises(Unavailable, match="busy"),
        store.write(Caller(), clock(), "", patience=0),
    ):
        pytest.fail("there were two writers in one space")
