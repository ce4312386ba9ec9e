"""What was known at an earlier moment, from versions and journal."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.relating import Triple
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Filter
from tests.fakes import Clock

DAY = timedelta(days=1)


@pytest.mark.seed("DESIGN §5")
def test_a_memory_reads_as_it_was_before_it_was_changed(engine: Engine, clock: Clock) -> None:
    memory = engine.memories.remember(NewMemory(content="The door is green", tags=("house",))).memory
    then = _next_day(clock)
    engine.memories.update(memory.id, {"content": "The door is blue", "tags": ("paint",)})
    past = engine.memories.get(memory.id, as_of=then)
    assert (past.content, past.tags, past.version) == ("The door is green", ("house",), 1)
    assert engine.memories.get(memory.id).content == "The door is blue"


@pytest.mark.parametrize("act", ["delete", "forget", "undo"])
def test_a_memory_that_is_gone_reads_as_it_was(engine: Engine, clock: Clock, act: str) -> None:
    memory = engine.memories.remember(NewMemory(content="The door is green")).memory
    then = _next_day(clock)
    match act:
        case "delete":
            engine.memories.delete([memory.id])
        case "forget":
            engine.memories.forget(memory.id, "wrong")
        case _:
            engine.history.undo_last()
    with pytest.raises(NotFound):
        engine.memories.get(memory.id)
    past = engine.memories.get(memory.id, as_of=then)
    assert (past.content, past.forgotten_at, past.forgotten_reason) == ("The door is green", None, None)
    assert [one.content for one in engine.memories.find(Filter(), as_of=then).memories] == [past.content]


def test_a_memory_of_a_later_day_was_not_known(engine: Engine, clock: Clock) -> None:
    then = _next_day(clock)
    memory = engine.memories.remember(NewMemory(content="The door is green")).memory
    with pytest.raises(NotFound, match="then"):
        engine.memories.get(memory.id, as_of=then)
    assert engine.memories.find(Filter(), as_of=then).total == 0
    assert engine.recall.recall("green door", as_of=then).hits == ()


def test_a_search_of_the_past_leaves_out_what_was_kept_apart_then(engine: Engine, clock: Clock) -> None:
    engine.memories.remember(NewMemory(content="The door is green", quarantined=True))
    then = _next_day(clock)
    assert engine.memories.find(Filter(), as_of=then).total == 0
    assert engine.memories.find(Filter(quarantined=None), as_of=then).total == 1


def test_a_past_search_asks_for_source_and_channel(engine: Engine, clock: Clock) -> None:
    engine.memories.remember(NewMemory(content="The door is green", source="Ann", channel="a"))
    engine.memories.remember(NewMemory(content="Tea is at four", source="Bob", channel="b"))
    then = _next_day(clock)
    for wanted in (Filter(source="Ann"), Filter(channel="a")):
        [found] = engine.memories.find(wanted, as_of=then).memories
        assert found.content == "The door is green"


def test_an_entity_reads_with_the_observations_and_relations_it_had(engine: Engine, clock: Clock) -> None:
    engine.graph.create_entities(
        [
            NewEntity(name="Alice", type="person", observations=("likes tea", "lives in Rome")),
            NewEntity(name="Acme", type="company"),
        ]
    )
    engine.graph.create_relations([NewRelation(source="Alice", target="Acme", type="works_at")])
    then = _next_day(clock)
    engine.graph.delete_observations("Alice", ["likes tea"])
    engine.graph.add_observations("Alice", ["likes coffee"])
    engine.graph.delete_relations([Triple("Alice", "Acme", "works_at")])
    engine.graph.update("Acme", {"name": "Acme Corp"})
    engine.graph.update("Alice", {"type": "friend"})
    past = engine.graph.get("Alice", as_of=then)
    assert past.nodes[0].entity.type == "person"
    assert past.nodes[0].texts == ["likes tea", "lives in Rome"]
    assert [(one.source, one.type, one.target) for one in past.relations] == [("Alice", "works_at", "Acme")]
    assert engine.graph.open_nodes(["Acme"], as_of=then).nodes[0].entity.name == "Acme"
    assert engine.graph.open_nodes(["Acme Corp"], as_of=then).nodes == ()
    now = engine.graph.get("Alice")
    assert (now.nodes[0].texts, now.relations) == (["lives in Rome", "likes coffee"], ())


def test_a_superseded_observation_was_current_before(engine: Engine, clock: Clock) -> None:
    engine.graph.create_entities([NewEntity(name="Alice", observations=("lives in Rome",))])
    then = _next_day(clock)
    engine.graph.add_observations("Alice", ["lives in Oslo"], supersedes="lives in Rome")
    assert engine.graph.get("Alice", as_of=then).nodes[0].texts == ["lives in Rome"]
    assert engine.graph.get("Alice").nodes[0].texts == ["lives in Oslo"]


@pytest.mark.seed("DESIGN §5")
def test_the_graph_around_a_deleted_entity_is_still_there_in_the_past(engine: Engine, clock: Clock) -> None:
    engine.graph.create_entities([NewEntity(name=name, observations=(f"{name} is here",)) for name in "ABC"])
    engine.graph.create_relations(
        [NewRelation(source="A", target="B", type="knows"), NewRelation(source="B", target="C", type="knows")]
    )
    then = _next_day(clock)
    engine.graph.end_relation(Triple("B", "C", "knows"))
    engine.graph.delete_entities(["A"])
    found = engine.walk.entity_graph("A", depth=2, as_of=then)
    assert [(node.entity.name, node.depth) for node in found.nodes] == [("A", 0), ("B", 1), ("C", 2)]
    assert [(edge.source, edge.target) for edge in found.edges] == [("A", "B"), ("B", "C")]
    assert [memory.content for memory in found.nodes[0].memories] == ["A is here"]
    assert [one.entity.name for one in engine.graph.read(limit=10, as_of=then).graph.nodes] == ["A", "B", "C"]
    assert engine.entities.find(limit=10, as_of=then).total == 3
    assert engine.entities.find(limit=10).total == 2


@pytest.mark.seed("DESIGN §5")
def test_recall_finds_what_was_said_then_and_not_what_is_said_now(engine: Engine, clock: Clock) -> None:
    changed = engine.memories.remember(NewMemory(content="The door is green", entity_names=("House",))).memory
    gone = engine.memories.remember(NewMemory(content="The green gate is open", type="fact")).memory
    kept = engine.memories.remember(NewMemory(content="A green roof keeps cool")).memory
    then = _next_day(clock)
    engine.memories.update(changed.id, {"content": "The door is blue"})
    engine.memories.delete([gone.id])
    found = engine.recall.recall("green door", as_of=then)
    assert {hit.memory.id: hit.memory.content for hit in found.hits} == {
        changed.id: "The door is green", gone.id: gone.content, kept.id: kept.content,
    }  # fmt: skip
    assert found.hits[0].memory.id == changed.id
    assert found.hits[0].entities == ("House",)
    assert [hit.memory.id for hit in engine.recall.recall("blue", mode="keyword", as_of=then).hits] == []
    by_entity = engine.recall.recall("green door", entity_name="House", as_of=then)
    assert [hit.memory.id for hit in by_entity.hits] == [changed.id]
    of_type = engine.recall.recall("green", filter=Filter(types=("fact",)), as_of=then)
    assert [hit.memory.id for hit in of_type.hits] == [gone.id]
    around = engine.recall.recall("door", mode="graph", entity_name="House", as_of=then)
    assert [hit.memory.content for hit in around.hits] == ["The door is green"]


def test_looking_back_is_no_use(engine: Engine, clock: Clock) -> None:
    memory = engine.memories.remember(NewMemory(content="The door is green")).memory
    then = _next_day(clock)
    engine.memories.get(memory.id, as_of=then)
    engine.recall.recall("green door", as_of=then)
    assert engine.memories.get(memory.id).access_count == 0


@pytest.mark.seed("DESIGN §5")
def test_beyond_the_time_to_undo_versions_and_times_tell_what_was(engine: Engine, clock: Clock) -> None:
    changed = engine.memories.remember(NewMemory(content="The door is green")).memory
    forgotten = engine.memories.remember(NewMemory(content="The gate squeaks")).memory
    engine.graph.create_relations([NewRelation(source="A", target="B", type="knows", make_ends=True)])
    then = _next_day(clock)
    engine.memories.update(changed.id, {"content": "The door is blue"})
    engine.memories.forget(forgotten.id)
    engine.graph.end_relation(Triple("A", "B", "knows"))
    engine.memories.remember(NewMemory(content="A later thought"))
    clock.now += 60 * DAY
    engine.history.age_journal()
    engine.memories.update(changed.id, {"content": "The door is red"})
    known = engine.memories.find(Filter(), order="oldest", as_of=then).memories
    assert [memory.content for memory in known] == ["The door is green", "The gate squeaks"]
    assert [one.type for one in engine.graph.get("A", as_of=then).relations] == ["knows"]
    later = then + 2 * DAY
    assert engine.memories.get(changed.id, as_of=later).content == "The door is blue"


def test_the_future_is_not_known(engine: Engine, clock: Clock) -> None:
    with pytest.raises(Invalid, match="future"):
        engine.memories.find(Filter(), as_of=clock() + DAY)


def test_a_moment_without_a_time_zone_is_utc(engine: Engine, clock: Clock) -> None:
    engine.memories.remember(NewMemory(content="The door is green"))
    then = _next_day(clock)
    assert engine.memories.find(Filter(), as_of=then.replace(tzinfo=None)).total == 1


def _next_day(clock: Clock) -> datetime:
    """A moment between what was done so far and what follows."""
    then = clock() + timedelta(hours=1)
    clock.now += DAY
    return then
