"""Clauses of the specifications that the engine keeps."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from mcp_memory.engine import Engine, Tuning
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.entity_search import is_baseline
from mcp_memory.errors import Invalid
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Filter
from tests.fakes import Clock


def remember(engine: Engine, content: str, **more: object) -> str:
    return engine.memories.remember(NewMemory(content=content, **more)).memory.id  # type: ignore[arg-type]


@pytest.mark.seed("004 §2.1")
def test_a_stored_memory_is_of_ordinary_importance_whatever_its_type(engine: Engine) -> None:
    for type in ("identity", "todo", "made up"):
        stored = engine.memories.remember(NewMemory(content=f"a {type}", type=type))
        assert stored.memory.importance == 0.5


@pytest.mark.seed("003 importance")
def test_a_saved_memory_is_as_important_as_its_type(engine: Engine) -> None:
    defaults = {
        "identity": 1.0, "decision": 0.8, "preference": 0.7, "goal": 0.7, "fact": 0.5, "event": 0.5,
        "observation": 0.4, "todo": 0.3,
    }  # fmt: skip
    for type, importance in defaults.items():
        assert engine.memories.save(NewMemory(content=f"a {type}", type=type)).memory.importance == importance


@pytest.mark.seed("003 identity")
def test_an_identity_that_becomes_something_else_fades_again(engine: Engine) -> None:
    id = remember(engine, "I am Ada", type="identity")
    assert engine.memories.get(id).pinned_at is not None
    assert engine.memories.update(id, {"type": "fact"}).pinned_at is None
    assert engine.memories.update(id, {"type": "identity"}).pinned_at is not None
    assert engine.memories.update(id, {"pinned": False}).pinned_at is None
    assert engine.memories.update(id, {"type": "fact", "pinned": True}).pinned_at is not None


@pytest.mark.seed("003 identity")
def test_any_memory_can_be_stored_pinned(engine: Engine, clock: Clock) -> None:
    pinned = remember(engine, "the wifi password is on the fridge", pinned=True)
    plain = remember(engine, "the milk is in the door of the fridge", pinned=False)
    clock.advance(days=300)
    described = engine.memories.describe(engine.memories.fetch([pinned, plain]))
    assert described[0].effective_confidence == 1.0
    assert described[1].effective_confidence < 0.01


@pytest.mark.seed("004 §1.3")
def test_the_confidence_of_a_relation_fades_until_it_is_confirmed(engine: Engine, clock: Clock) -> None:
    again = NewRelation(source="A", target="B", type="knows", strength=0.8, make_ends=True)
    engine.graph.create_relations([again])
    clock.advance(days=30)
    [faded] = engine.graph.get("A").relations
    assert faded.confidence == 1.0
    assert faded.effective_confidence == pytest.approx(0.5)
    engine.graph.create_relations([replace(again, strength=0.9)])
    [confirmed] = engine.walk.entity_graph("A").edges
    assert confirmed.effective_confidence == 1.0


@pytest.mark.seed("004 §2.3")
def test_a_relation_keeps_its_metadata(engine: Engine) -> None:
    first = NewRelation(source="A", target="B", type="knows", metadata={"since": 2019}, make_ends=True)
    engine.graph.create_relations([first])
    engine.graph.create_relations([replace(first, metadata={"where": "Oslo"})])
    [relation] = engine.graph.get("A").relations
    assert relation.metadata == {"since": 2019, "where": "Oslo"}


@pytest.mark.seed("004 §2.4")
def test_a_link_keeps_how_relevant_the_memory_is(engine: Engine) -> None:
    remember(engine, "Alice founded Acme", entity_names=("Acme",), relevance=1.0)
    remember(engine, "Alice once parked at Acme", entity_names=("Acme",), relevance=0.1)
    found = engine.recall.recall("Alice", mode="graph", entity_name="Acme")
    assert [hit.memory.content for hit in found.hits] == ["Alice founded Acme", "Alice once parked at Acme"]
    assert found.hits[0].score > 5 * found.hits[1].score
    with pytest.raises(Invalid, match="relevance"):
        remember(engine, "Bob waved at Acme", entity_names=("Acme",), relevance=2.0)


@pytest.mark.seed("000 limits")
def test_the_graph_sets_query_limit_does_not_bind_recall(engine: Engine) -> None:
    id = remember(engine, "The deployment key is in the vault")
    prompt = "please read this log\n" + "lorem ipsum dolor\n" * 500 + "where is the deployment key?"
    assert len(prompt) > 8000
    assert [hit.memory.id for hit in engine.recall.recall(prompt).hits] == [id]
    assert [hit.memory.id for hit in engine.recall.recall_for_agent(prompt).hits] == [id]
    for refused in (engine.entities.search, engine.reflections.search):
        with pytest.raises(Invalid, match="500"):
            refused("x" * 501, limit=10)
    with pytest.raises(Invalid, match="500"):
        engine.graph.search_nodes("x" * 501, limit=10)


@pytest.mark.seed("000 limits")
def test_fifty_entities_are_created_or_deleted_in_one_call_and_more_are_read(engine: Engine) -> None:
    names = [f"e{number}" for number in range(60)]
    with pytest.raises(Invalid, match="50"):
        engine.graph.create_entities([NewEntity(name=name) for name in names])
    with pytest.raises(Invalid, match="50"):
        engine.graph.delete_entities(names)
    engine.graph.create_entities([NewEntity(name=name) for name in names[:50]])
    engine.graph.add_to_each([(name, ["here"]) for name in names[:50]])
    assert len(engine.graph.open_nodes(names).nodes) == 50


@pytest.mark.seed("000 §4")
def test_deleting_one_of_two_entities_with_a_name_says_that_the_other_remains(engine: Engine) -> None:
    engine.graph.create_entities(
        [NewEntity(name="C", type=type, same_type=True) for type in ("language", "vitamin")]
    )
    gone = engine.graph.delete_entities(["C"])
    assert (gone.deleted, [one.type for one in gone.remaining]) == (("C",), ["vitamin"])
    assert engine.graph.delete_entities(["C"]).remaining == ()


@pytest.mark.seed("000 §10")
def test_skipped_lines_include_malformed_ones(engine: Engine) -> None:
    lines = [
        b'{"type": "entity", "name": "A", "entityType": "t", "observations": []}\n',
        b"{no JSON\n",
        b'{"type": "entity"}\n',
        b'{"type": "relation", "from": "A", "to": "B", "relationType": "knows"}\n',
    ]
    done = engine.transfer.import_from(lines, "anthropic")
    assert (done.entities_imported, done.relations_imported, done.errors, done.skipped) == (1, 0, 1, 3)


@pytest.mark.seed("004 §6.3")
@pytest.mark.parametrize(
    ("changes", "due"),
    [
        ({}, {"prune", "consolidate", "age journal"}),
        ({"consolidation_every": timedelta(0)}, {"prune", "age journal"}),
        ({"prune_every": timedelta(days=3)}, {"consolidate", "age journal"}),
        ({"consolidation_interval": 0}, {"prune", "consolidate", "age journal"}),
    ],
)
def test_the_schedule_is_a_setting(
    engine: Engine, clock: Clock, changes: dict[str, timedelta], due: set[str]
) -> None:
    scheduled = Engine(replace(engine._context, tuning=replace(Tuning(), **changes)))  # type: ignore[arg-type]
    remember(scheduled, "something to look after")
    scheduled.maintenance.run_due()
    clock.advance(days=1)
    assert scheduled.maintenance.run_due().keys() == due


@pytest.mark.seed("004 §6.3")
def test_an_interval_of_zero_stops_only_the_consolidation_after_new_memories(engine: Engine) -> None:
    often = Engine(replace(engine._context, tuning=Tuning(consolidation_interval=2)))
    never = Engine(replace(engine._context, tuning=Tuning(consolidation_interval=0)))
    often.maintenance.run_due()
    for number in range(3):
        remember(engine, f"fact number {number} about something else entirely")
    assert "consolidate" not in never.maintenance.run_due()
    assert "consolidate" in often.maintenance.run_due()


@pytest.mark.seed("002 A/B testing")
def test_an_ab_test_is_off_unless_asked_for_and_chooses_by_the_query(engine: Engine) -> None:
    queries = [f"query {number}" for number in range(1000)]
    testing = Tuning(ab_testing=True)
    chosen = [query for query in queries if is_baseline(query, testing)]
    assert 50 < len(chosen) < 150
    assert [query for query in queries if is_baseline(query, testing)] == chosen
    assert not any(is_baseline(query, Tuning()) for query in queries)
    always = Engine(replace(engine._context, tuning=Tuning(ab_testing=True, baseline_probability=1.0)))
    engine.graph.create_entities([NewEntity(name="Alice", observations=("likes green tea",))])
    assert always.entities.search("green tea", 5).routing_strategy == "BASELINE"
    assert engine.entities.search("green tea", 5).routing_strategy != "BASELINE"


@pytest.mark.seed("003 memory_delete")
def test_forgotten_is_true_only_for_the_call_that_forgot(engine: Engine) -> None:
    id = remember(engine, "a secret")
    assert engine.memories.forget(id).forgotten
    assert not engine.memories.forget(id).forgotten
    assert not engine.memories.forget("00000000-0000-7000-8000-ffffffffffff").forgotten
    assert engine.memories.find(Filter()).total == 0
