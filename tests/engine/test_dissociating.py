"""A connection between memories can be taken away, and the taking away undone."""

from __future__ import annotations

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import NotFound
from mcp_memory.model import Memory


@pytest.fixture
def pair(engine: Engine) -> tuple[Memory, Memory]:
    """Two memories with three connections."""
    first, second = (
        engine.memories.save(NewMemory(content=text)).memory for text in ("The disk was full", "Tea at four")
    )
    engine.memories.associate(first.id, second.id, "caused_by")
    engine.memories.associate(first.id, second.id, "part_of")
    engine.memories.associate(second.id, first.id, "related_to")
    return first, second


def types(engine: Engine, memory: Memory) -> list[str]:
    return [link.type for link in engine.memories.associations_of(memory.id)]


def test_one_is_taken_away_by_its_id_from_either_end(engine: Engine, pair: tuple[Memory, Memory]) -> None:
    for memory, rest in ((pair[0], ["part_of", "related_to"]), (pair[1], ["related_to"])):
        link = engine.memories.associations_of(memory.id)[0]
        done = engine.memories.dissociate(memory.id, link.id)
        assert done.associations == (link,)
        assert types(engine, pair[0]) == types(engine, pair[1]) == rest


def test_all_with_another_memory_or_those_of_a_type_are_taken_away(
    engine: Engine, pair: tuple[Memory, Memory]
) -> None:
    engine.memories.dissociate(pair[1].id, pair[0].id, "part_of")
    assert types(engine, pair[0]) == ["caused_by", "related_to"]
    engine.memories.dissociate(pair[0].id, pair[1].id)
    assert types(engine, pair[0]) == []


def test_it_can_be_undone_and_the_journal_tells_of_it(engine: Engine, pair: tuple[Memory, Memory]) -> None:
    before = engine.memories.associations_of(pair[0].id)
    done = engine.memories.dissociate(pair[0].id, pair[1].id)
    assert engine.history.recent(limit=1)[0].summary == "disconnected 3 memories"
    assert [event.name for event in engine.history.events_of(done.act)] == ["memory_dissociated"] * 3
    engine.history.undo(done.act)
    assert engine.memories.associations_of(pair[0].id) == before


def test_what_an_update_had_superseded_is_current_again(engine: Engine, pair: tuple[Memory, Memory]) -> None:
    new, old = pair
    link = engine.memories.associate(new.id, old.id, "updates")
    assert engine.memories.get(old.id).superseded_by == new.id
    done = engine.memories.dissociate(new.id, link.id)
    current = engine.memories.get(old.id)
    assert (current.superseded_by, current.superseded_at) == (None, None)
    engine.history.undo(done.act)
    assert engine.memories.get(old.id).superseded_by == new.id


def test_what_is_not_connected_cannot_be_taken_apart(engine: Engine, pair: tuple[Memory, Memory]) -> None:
    lonely = engine.memories.save(NewMemory(content="Bananas are yellow")).memory
    for id, which, type in (
        (lonely.id, pair[0].id, None),
        (pair[0].id, pair[0].id, None),
        (pair[0].id, pair[1].id, "contradicts"),
        ("nobody", pair[0].id, None),
    ):
        with pytest.raises(NotFound):
            engine.memories.dissociate(id, which, type)
    assert len(types(engine, pair[0])) == 3
