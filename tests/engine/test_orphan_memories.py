"""A search for entities also returns memories that belong to none."""

from __future__ import annotations

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.orphan_memories import LOOKED_AT, MOST_SHOWN
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Memory
from tests.fakes import Clock


def remember(engine: Engine, content: str, *about: str) -> Memory:
    return engine.memories.remember(NewMemory(content=content, entity_names=about)).memory


def orphans(engine: Engine, query: str) -> list[str]:
    return [memory.content for memory in engine.entities.search(query, 10).orphans]


def test_a_memory_about_no_entity_is_found_beside_entities(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Teapot", observations=("holds green tea",))])
    remember(engine, "green tea is bitter")
    remember(engine, "green tea is for Ana", "Ana")
    answer = engine.entities.search("green tea", 10)
    assert {hit.node.entity.name for hit in answer.hits} == {"Teapot", "Ana"}
    assert [memory.content for memory in answer.orphans] == ["green tea is bitter"]


def test_what_has_nothing_in_common_with_the_query_is_not_shown(engine: Engine) -> None:
    remember(engine, "snow is cold")
    assert orphans(engine, "green tea") == []


def test_only_a_few_are_shown_the_best_first(engine: Engine) -> None:
    for number in range(MOST_SHOWN + 3):
        remember(engine, f"tea number {number} of many that were served")
    remember(engine, "green tea")
    found = orphans(engine, "green tea")
    assert (len(found), found[0]) == (MOST_SHOWN, "green tea")


def test_what_is_forgotten_or_superseded_is_not_shown(engine: Engine) -> None:
    gone, old = remember(engine, "green tea is bitter"), remember(engine, "green tea costs two")
    new = remember(engine, "green tea became dearer")
    engine.memories.forget(gone.id)
    engine.memories.associate(new.id, old.id, "updates")
    assert orphans(engine, "green tea") == ["green tea became dearer"]


def test_being_shown_is_use(engine: Engine, clock: Clock) -> None:
    memory = remember(engine, "green tea is bitter")
    clock.advance(days=1)
    engine.entities.search("green tea", 10)
    seen = engine.memories.get(memory.id, record=False)
    assert (seen.access_count, seen.accessed_at) == (1, clock.now)


def test_many_better_matches_about_entities_leave_no_room(engine: Engine) -> None:
    remember(engine, "tea, among very many other things that somebody may drink")
    for number in range(LOOKED_AT):
        remember(engine, f"green tea {number}", "Teapot")
    assert orphans(engine, "green tea") == []
