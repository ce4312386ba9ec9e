"""Entities and observations that come in one call are what they would be one by one."""

from __future__ import annotations

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.inputs import NewEntity
from mcp_memory.storage import Store
from tests.consistency import troubles


def texts(engine: Engine, name: str) -> list[str]:
    return engine.graph.open_nodes([name], record=False).nodes[0].texts


def test_an_entity_that_comes_twice_is_one(engine: Engine, store: Store) -> None:
    ada = NewEntity(name="Ada", type="person", observations=("plays chess",))
    again = NewEntity(name="Ada", observations=("plays chess", "sings"), description="a friend")
    nodes = engine.graph.create_entities([ada, ada, again, NewEntity(name="Bo", observations=("sings",))])
    assert [node.entity.seq for node in nodes[:3]] == [nodes[0].entity.seq] * 3
    assert nodes[0].entity.description == "a friend"
    assert nodes[0].texts == ["plays chess", "sings"]
    assert nodes[3].texts == ["sings"]
    assert troubles(store) == []


def test_one_name_with_two_types_is_two_entities_where_that_is_asked_for(engine: Engine) -> None:
    both = [NewEntity(name="Mercury", type=type, same_type=True) for type in ("planet", "metal")]
    nodes = engine.graph.create_entities(both)
    assert [node.entity.type for node in nodes] == ["planet", "metal"]


def test_texts_that_differ_only_in_spacing_are_all_kept(engine: Engine) -> None:
    engine.memories.remember(NewMemory(content="one two"))
    given = ("one  two", "one two", "one   two", "three four", "three  four")
    engine.graph.create_entities([NewEntity(name="Ada", observations=given)])
    assert texts(engine, "Ada") == list(given)


def test_a_text_shared_by_new_entities_is_one_memory(engine: Engine) -> None:
    made = engine.graph.create_entities([NewEntity(name=name, observations=("blue",)) for name in "ABC"])
    assert len({node.observations[0].id for node in made}) == 1


def test_a_revived_text_that_another_entity_let_go_of_can_come_back_to_it_in_one_call(
    engine: Engine, store: Store
) -> None:
    engine.graph.create_entities(
        [NewEntity(name=name, observations=("is open",)) for name in ("Shop", "Bar")]
    )
    engine.graph.delete_observations("Bar", ["is open"])
    engine.graph.add_observations("Shop", ["is closed"], supersedes="is open")
    added = engine.graph.add_to_each([("Bar", ["is open"]), ("Shop", ["is open"])])
    assert added == [("Bar", ["is open"]), ("Shop", ["is open"])]
    assert texts(engine, "Bar") == ["is open"]
    assert texts(engine, "Shop") == ["is closed", "is open"]
    assert troubles(store) == []


def test_much_in_one_call_is_undone_as_one_change(engine: Engine, store: Store) -> None:
    engine.graph.create_entities(
        [
            NewEntity(name=f"Entity {number}", observations=tuple(f"{number} and {n}" for n in range(30)))
            for number in range(20)
        ]
    )
    assert troubles(store) == []
    engine.history.undo(engine.history.recent()[0].act)
    assert engine.graph.read(limit=10).total == 0
    assert troubles(store) == []
