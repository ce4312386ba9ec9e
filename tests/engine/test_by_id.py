"""Entities, relations, reflections and memories by the ids that programs use."""

from __future__ import annotations

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.splitting import Split
from mcp_memory.errors import Conflict, Invalid, NotFound, Stale
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Entity, Relation
from tests.fakes import Clock

MISSING = "00000000-0000-7000-8000-ffffffffffff"


def entity(engine: Engine, name: str, type: str = "person", *observations: str) -> Entity:
    wanted = NewEntity(name=name, type=type, observations=observations, same_type=True)
    return engine.graph.create_entity(wanted).node.entity


def relation(engine: Engine, source: str, target: str, type: str = "knows") -> Relation:
    [made] = engine.graph.create_relations(
        [NewRelation(source=source, target=target, type=type, make_ends=True)]
    )
    assert made.relation is not None
    return made.relation


def test_an_entity_is_new_only_once(engine: Engine) -> None:
    wanted = NewEntity(name="Alice", type="person", same_type=True)
    assert engine.graph.create_entity(wanted).new
    assert not engine.graph.create_entity(wanted).new


def test_of_two_entities_with_one_name_the_id_means_its_own(engine: Engine) -> None:
    entity(engine, "Jordan", "person", "plays basketball")
    country = entity(engine, "Jordan", "country", "has Petra")
    [node] = engine.graph.get(country.id).nodes
    assert node.texts == ["has Petra"]
    assert engine.splitting.analyse(country.id).entity == country
    done = engine.splitting.execute(country.id, [Split("Petra", "place", ("has Petra",))])
    assert done.original_observations_remaining == 0
    assert engine.graph.get("Jordan").nodes[0].texts == ["plays basketball"]
    engine.graph.delete_entities([country.id])
    assert engine.graph.get("Jordan").nodes[0].entity.type == "person"
    with pytest.raises(NotFound):
        engine.graph.get(country.id)


def test_a_relation_may_be_made_between_ids(engine: Engine) -> None:
    alice, bob = entity(engine, "Alice"), entity(engine, "Bob")
    made = relation(engine, alice.id, bob.id)
    assert (made.source, made.target) == ("Alice", "Bob")
    assert engine.graph.get_relation(made.id) == made


def test_an_entity_takes_on_what_is_given_and_keeps_the_rest(engine: Engine) -> None:
    made = entity(engine, "Alice")
    changed = engine.graph.update(made.id, {"name": "Alicia", "metadata": {"team": 3}})
    assert (changed.name, changed.type, changed.metadata) == ("Alicia", "person", {"team": 3})
    engine.history.undo_last()
    assert engine.graph.get(made.id).nodes[0].entity.name == "Alice"


def test_an_entity_that_was_changed_since_is_not_changed(engine: Engine, clock: Clock) -> None:
    made = entity(engine, "Alice")
    clock.advance(seconds=1)
    engine.graph.update(made.id, {"status": "archived"}, expected_update=made.updated_at)
    with pytest.raises(Stale):
        engine.graph.update(made.id, {"status": "active"}, expected_update=made.updated_at)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"name": "Bob"}, Conflict),
        ({"name": " "}, Invalid),
        ({"id": MISSING}, Invalid),
        ({"metadata": {"a": float("nan")}}, Invalid),
    ],
)
def test_an_entity_cannot_become_what_it_must_not(
    engine: Engine, changes: dict[str, object], error: type[Exception]
) -> None:
    entity(engine, "Bob")
    alice = entity(engine, "Alice")
    with pytest.raises(error):
        engine.graph.update(alice.id, changes)


def test_a_relation_ends_and_goes_by_its_id(engine: Engine) -> None:
    made = relation(engine, "Alice", "Initech", "works_at")
    assert not engine.graph.end_relation(made.id).already
    assert engine.graph.end_relation(made.id).already
    engine.graph.delete_relation(made.id)
    with pytest.raises(NotFound):
        engine.graph.get_relation(made.id)
    engine.history.undo_last()
    assert engine.graph.get_relation(made.id).ended_at is not None


def test_reflections_name_the_id_of_what_they_are_about(engine: Engine) -> None:
    alice = entity(engine, "Alice")
    knows = relation(engine, "Alice", "Bob")
    of_alice = engine.reflections.add("entity", "She sees further.", target=alice.id, author="ana")
    of_both = engine.reflections.add("relation", "An old friendship.", target=knows.id, author="ana")
    of_all = engine.reflections.add("global", "A good week.", author="ben")
    found = engine.reflections.find(author="ana")
    assert [(one.reflection.id, one.target_id) for one in found.reflections] == [
        (of_both.id, knows.id),
        (of_alice.id, alice.id),
    ]
    assert engine.reflections.find(limit=1).total == 3
    assert engine.reflections.get(of_all.id).target_id is None


def test_a_deleted_reflection_can_be_brought_back(engine: Engine) -> None:
    made = engine.reflections.add("global", "A good week.")
    engine.reflections.delete(made.id)
    with pytest.raises(NotFound):
        engine.reflections.get(made.id)
    engine.history.undo_last()
    assert engine.reflections.get(made.id).reflection == made


def test_a_memory_is_described_as_it_stands(engine: Engine, clock: Clock) -> None:
    made = engine.memories.remember(NewMemory(content="x is y", entity_names=("X",))).memory
    clock.advance(days=30)
    [described] = engine.memories.describe([made])
    assert described.effective_confidence == pytest.approx(0.5)
    assert described.entities == ("X",)


def test_an_association_is_told_as_it_is_kept(engine: Engine) -> None:
    cause = engine.memories.remember(NewMemory(content="the disk was full")).memory
    effect = engine.memories.remember(NewMemory(content="backups failed")).memory
    engine.memories.associate(effect.id, cause.id, "caused_by", 0.2)
    kept = engine.memories.associate(effect.id, cause.id, "caused_by", 0.9)
    assert (kept.source_id, kept.target_id, kept.weight) == (effect.id, cause.id, 0.9)


@pytest.mark.parametrize("depth", [51, 900])
def test_metadata_that_is_nested_too_deep_is_refused(engine: Engine, depth: int) -> None:
    nested: object = "end"
    for _ in range(depth):
        nested = [nested]
    with pytest.raises(Invalid):
        engine.memories.remember(NewMemory(content="deep", metadata={"a": nested}))


def test_the_condition_counts_what_waits_for_a_vector(engine: Engine) -> None:
    entity(engine, "Alice", "person", "likes tea")
    before = engine.inventory.condition()
    engine.entities.search("tea", 5)
    while engine.scheduled_maintenance.make_vectors():
        pass
    after = engine.inventory.condition()
    assert before.pending_count > after.pending_count == 0
    assert (after.mode, after.model) == ("hybrid", "hashed-words")
