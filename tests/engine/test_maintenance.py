"""The memory keeps itself in order: what faded goes, what says the same becomes one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mcp_memory.embedding import NoModel
from mcp_memory.engine import Engine, Tuning, consolidation, maintenance
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Conflict, Invalid, NotFound, Unavailable
from mcp_memory.events import MemoryCreated, MemoryUpdated
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Filter, Memory
from tests.conftest import EngineMaker
from tests.fakes import Clock

HOOKS = (
    "React hooks let function components use state",
    "React hooks let the function components use state",
    "React hooks let function components use the state",
    "The React hooks let function components use state",
    "React hooks let function components use state.",
)


def remember(engine: Engine, content: str, **given: Any) -> Memory:
    return engine.memories.remember(NewMemory(content=content, **given)).memory


def keep(engine: Engine, content: str, *entities: str, **given: Any) -> Memory:
    """Keep a memory without asking whether another one says the same, as an import does."""
    values = {"type": "observation", "origin": "memory", "kind": "generic", "importance": 0.4, **given}
    with engine._context.writing() as tx:
        memory = tx.memories.add(id=engine._context.new_id(), content=content, **values)
        for name in entities:
            entity = tx.entities.find_named(name) or tx.entities.add(
                id=engine._context.new_id(), name=name, type="thing"
            )
            tx.entities.link(entity, memory)
        tx.journal.record(MemoryCreated(memory.id, content, memory.type))
    return memory


def living(engine: Engine) -> list[Memory]:
    return list(engine.memories.find(Filter(), order="oldest").memories)


def contents(engine: Engine) -> list[str]:
    return [memory.content for memory in living(engine)]


@pytest.mark.seed("004 §4.5")
def test_prune_low_confidence_memories(engine: Engine, clock: Clock) -> None:
    faded = remember(engine, "a passing remark")
    clock.advance(days=100)
    fresh = remember(engine, "the sky is blue today")
    clock.advance(days=60)
    pruned = engine.maintenance.prune()
    assert [one.memory.id for one in pruned.faded] == [faded.id]
    assert pruned.faded[0].effective_confidence == pytest.approx(0.5 ** (160 / 30))
    assert contents(engine) == [fresh.content]


def test_pruning_can_be_previewed_and_undone_and_does_not_strike_again(engine: Engine, clock: Clock) -> None:
    memory = remember(engine, "a passing remark", tags=("x",), entity_names=("Talk",))
    clock.advance(days=200)
    preview = engine.maintenance.prune(dry_run=True)
    assert [one.memory.id for one in preview.faded] == [memory.id]
    assert preview.act is None
    assert contents(engine) == ["a passing remark"]
    pruned = engine.maintenance.prune()
    assert pruned.act
    undone = engine.history.undo(pruned.act)
    assert undone.restored == (memory.id,)
    assert engine.graph.open_nodes(["Talk"]).nodes[0].texts == ["a passing remark"]
    assert engine.maintenance.prune().faded == ()


def test_pinned_memories_and_identities_are_never_pruned(engine: Engine, clock: Clock) -> None:
    engine.graph.create_entities([NewEntity(name="Alice", observations=("likes tea",))])
    remember(engine, "the user is called Alice", type="identity")
    pinned = remember(engine, "never forget the milk", confidence=0.01)
    engine.memories.pin(pinned.id)
    keep(engine, "an identity that nobody pinned", type="identity")
    clock.advance(days=5000)
    assert engine.maintenance.prune().faded == ()
    assert len(contents(engine)) == 4


def test_a_run_prunes_no_more_than_it_may_and_the_weakest_first(
    make_engine: EngineMaker, clock: Clock
) -> None:
    engine = make_engine(tuning=Tuning(prune_limit=2))
    for number, confidence in enumerate((0.3, 0.1, 0.2)):
        remember(engine, f"remark {number} on matter {number * 31}", confidence=confidence)
    clock.advance(days=300)
    pruned = engine.maintenance.prune()
    assert [one.memory.confidence for one in pruned.faded] == [0.1, 0.2]
    assert pruned.left == 1


def test_cluster_detection(engine: Engine) -> None:
    for content in HOOKS:
        keep(engine, content)
    keep(engine, "Vue has a composition API")
    found = engine.maintenance.consolidate(0.85)
    assert (len(found.clusters), found.merged, found.deleted) == (1, 5, 4)
    merged, other = contents(engine)
    assert sorted(merged.splitlines()) == sorted(HOOKS[:4]), "every wording, but not the full stop"
    assert other == "Vue has a composition API"
    last = engine.history.events_after(0)[-1]
    assert (last.name, last.payload) == ("consolidation_complete", {"merged": 5, "deleted": 4})


def test_dry_run(engine: Engine) -> None:
    for content in HOOKS:
        keep(engine, content)
    seen = engine.history.last_seq()
    found = engine.maintenance.consolidate(0.85, dry_run=True)
    assert (len(found.clusters), found.merged, found.deleted, found.act) == (1, 5, 4, None)
    assert contents(engine) == list(HOOKS)
    assert engine.history.last_seq() == seen
    assert engine.maintenance.consolidate(0.85).deleted == 4


def test_version_trail(engine: Engine) -> None:
    first, second = keep(engine, HOOKS[0]), keep(engine, HOOKS[1])
    engine.maintenance.consolidate()
    absorbed, own = engine.history.versions(first.id)
    assert (absorbed.content, absorbed.reason, absorbed.state["id"]) == (HOOKS[1], "absorbed", second.id)
    assert (own.content, own.reason) == (HOOKS[0], "consolidated")
    assert [version.number for version in (absorbed, own)] == [1, 2]


def test_entity_reassignment(engine: Engine) -> None:
    keep(engine, HOOKS[0], "X")
    keep(engine, HOOKS[1], "Y", "X")
    engine.maintenance.consolidate()
    nodes = engine.graph.open_nodes(["X", "Y"]).nodes
    both = f"{HOOKS[0]}\n{HOOKS[1]}"
    assert [node.texts for node in nodes] == [[both], [both]]


@pytest.mark.seed("004 §6.2")
def test_the_primary_is_the_most_confident_and_takes_over_what_the_others_add(
    engine: Engine, clock: Clock
) -> None:
    old = keep(engine, HOOKS[0], tags=["a"], metadata={"k": 1, "old": True}, importance=0.9, source="book")
    clock.advance(days=40)
    new = keep(engine, HOOKS[1], tags=["b", "a"], metadata={"k": 2})
    other = remember(engine, "hooks were new in 2019")
    engine.memories.associate(old.id, other.id, "part_of", 0.4)
    engine.maintenance.consolidate()
    primary = engine.memories.get(new.id)
    assert primary.tags == ("b", "a")
    assert primary.metadata == {"k": 2, "old": True}
    assert (primary.importance, primary.source) == (0.9, "book")
    [association] = engine.memories.associations_of(new.id)
    assert (association.source_id, association.target_id, association.weight) == (new.id, other.id, 0.4)
    with pytest.raises(NotFound):
        engine.memories.get(old.id)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the server listens on port 8080", "the server listens on port 8081"),
        ("the user is allergic to peanuts", "the user is not allergic to peanuts"),
        ("the meeting with Anna is on March 14th at noon", "the meeting with Anna is on March 15th at noon"),
        ("the new backend team is led by Maria Lopez", "the new backend team is led by Maria Perez"),
    ],
)
def test_different_facts_are_kept_apart_with_the_reason(engine: Engine, one: str, other: str) -> None:
    keep(engine, one)
    keep(engine, other)
    found = engine.maintenance.consolidate(0.5)
    assert found.clusters == ()
    [apart] = found.apart
    assert {apart.a.content, apart.b.content} == {one, other}
    assert "differ in" in apart.reason
    assert contents(engine) == [one, other]


def test_types_and_contradictions_keep_memories_apart(engine: Engine) -> None:
    fact, decision = keep(engine, HOOKS[0], type="fact"), keep(engine, HOOKS[1], type="decision")
    other = keep(engine, HOOKS[2], type="fact")
    engine.memories.associate(fact.id, other.id, "contradicts")
    found = engine.maintenance.consolidate()
    assert found.clusters == ()
    assert {apart.reason for apart in found.apart} == {
        "one is of type fact, the other of type decision",
        "one is of type decision, the other of type fact",
        "one contradicts the other",
    }
    assert decision.content in contents(engine)


def test_what_is_forgotten_or_superseded_takes_no_part(engine: Engine) -> None:
    forgotten = keep(engine, HOOKS[0])
    engine.memories.forget(forgotten.id)
    old, new = keep(engine, HOOKS[1]), keep(engine, "hooks are functions")
    with engine._context.writing() as tx:
        tx.memories.change(old, superseded_at=tx.at, superseded_by=new.id)
        tx.journal.record(MemoryUpdated(old.id, {}))
    keep(engine, HOOKS[2])
    assert engine.maintenance.consolidate().clusters == ()


def test_what_pointed_to_an_absorbed_memory_points_to_the_primary(engine: Engine) -> None:
    primary, absorbed = keep(engine, HOOKS[0]), keep(engine, HOOKS[1])
    old = keep(engine, "mixins share state")
    with engine._context.writing() as tx:
        tx.memories.change(old, superseded_at=tx.at, superseded_by=absorbed.id)
        tx.journal.record(MemoryUpdated(old.id, {}))
    engine.maintenance.consolidate()
    with engine._context.reading() as tx:
        assert tx.memories.get(old.id).superseded_by == primary.id


def test_observations_are_merged_only_on_demand_and_keep_their_entities(engine: Engine, clock: Clock) -> None:
    engine.graph.create_entities([NewEntity(name="React", observations=(HOOKS[1],))])
    clock.advance(seconds=1)
    keep(engine, HOOKS[0], "Hooks")
    by_itself = engine.maintenance.run_due()
    assert by_itself["consolidate"] == "merged 0 memories into 0"
    engine.maintenance.consolidate()
    both = f"{HOOKS[1]}\n{HOOKS[0]}"
    nodes = engine.graph.open_nodes(["React", "Hooks"]).nodes
    assert [node.texts for node in nodes] == [[both], [both]]
    engine.graph.delete_observations("React", [both])
    assert contents(engine) == [both], "stored in its own right, it stays"
    engine.graph.create_entities([NewEntity(name="Docs", observations=(HOOKS[2], HOOKS[3]))])
    engine.maintenance.consolidate(observations=False)
    assert engine.graph.open_nodes(["Docs"]).nodes[0].texts == [HOOKS[2], HOOKS[3]]
    engine.maintenance.consolidate(full=True)
    assert len(engine.graph.open_nodes(["Docs"]).nodes[0].texts) == 1


def test_a_run_is_undone_as_a_whole(engine: Engine) -> None:
    for content in HOOKS:
        keep(engine, content, "React")
    found = engine.maintenance.consolidate()
    assert found.act
    undone = engine.history.undo(found.act)
    assert len(undone.restored) == 4
    assert contents(engine) == list(HOOKS)
    assert engine.graph.open_nodes(["React"]).nodes[0].texts == list(HOOKS)


def test_a_single_merge_is_taken_back_by_restoring_what_it_absorbed_and_is_not_repeated(
    engine: Engine,
) -> None:
    keep(engine, HOOKS[0])
    wanted = keep(engine, HOOKS[1])
    keep(engine, "Vue has a composition API")
    keep(engine, "Vue has a composition API.")
    assert len(engine.maintenance.consolidate().clusters) == 2
    engine.history.restore(wanted.id)
    assert contents(engine) == [HOOKS[0], HOOKS[1], "Vue has a composition API"]
    again = engine.maintenance.consolidate(full=True)
    assert again.clusters == ()
    assert [apart.reason for apart in again.apart] == ["they were merged before, and the merge was undone"]


def test_a_merge_that_was_changed_since_is_not_undone(engine: Engine) -> None:
    first = keep(engine, HOOKS[0])
    keep(engine, HOOKS[1])
    found = engine.maintenance.consolidate()
    engine.memories.update(first.id, {"content": "hooks let components use state"})
    assert found.act
    with pytest.raises(Conflict, match="has changed since"):
        engine.history.undo(found.act)


def test_only_what_is_new_is_compared_unless_told_otherwise(engine: Engine, clock: Clock) -> None:
    for content in ("tea is hot", "snow is cold", "grass is green"):
        keep(engine, content)
    clock.advance(hours=1)
    assert engine.maintenance.consolidate().compared == 3
    clock.advance(hours=1)
    keep(engine, "grass is green.")
    again = engine.maintenance.consolidate()
    assert (again.compared, again.deleted) == (1, 1)
    clock.advance(hours=1)
    assert engine.maintenance.consolidate(full=True).compared == 3
    assert engine.maintenance.consolidate(0.5).compared == 3, "a lower threshold was never tried"


def test_a_chain_of_small_steps_does_not_lead_from_one_fact_to_another(make_engine: EngineMaker) -> None:
    engine = make_engine(tuning=Tuning(consolidation_threshold=0.6))
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
    for start in range(4):
        keep(engine, " ".join(words[start : start + 5]))
    assert engine.maintenance.consolidate().clusters == ()


def test_many_new_memories_are_grouped_like_few(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """Looked up one by one or by products of tiles, in a first run and in a later one."""
    for number in range(30):
        keep(engine, f"fact number {number} about thing {number * 7} and nothing else")
        keep(engine, f"the fact number {number} about thing {number * 7} and nothing else")
    monkeypatch.setattr(maintenance, "FEW", 1000)
    few = engine.maintenance.consolidate(0.9, dry_run=True)
    monkeypatch.setattr(maintenance, "FEW", 0)
    monkeypatch.setattr(maintenance, "TILE", 7)
    monkeypatch.setattr(consolidation, "TILE", 7)
    many = engine.maintenance.consolidate(0.9, dry_run=True)
    assert len(few.clusters) == 30
    assert groups(many) == groups(few)
    clock.advance(hours=1)
    assert groups(engine.maintenance.consolidate(0.9)) == groups(few)
    clock.advance(hours=1)
    for number in range(30):
        keep(engine, f"fact number {number} about the thing {number * 7} and nothing else")
    assert engine.maintenance.consolidate(0.9).deleted == 30


def groups(found: maintenance.Consolidated) -> set[tuple[str, ...]]:
    return {
        (cluster.primary.content, *sorted(member.memory.content for member in cluster.absorbed))
        for cluster in found.clusters
    }


def test_consolidation_says_how_far_it_is(engine: Engine) -> None:
    for content in HOOKS:
        keep(engine, content)
    told: list[tuple[str, int, int]] = []
    engine.maintenance.consolidate(progress=lambda *step: told.append(step))
    assert ("making vectors", 5, 5) in told
    assert ("comparing", 5, 5) in told
    assert told[-1] == ("merging", 1, 1)


def test_without_a_model_consolidation_says_why_it_cannot(make_engine: EngineMaker) -> None:
    engine = make_engine(model=NoModel("no model is installed"))
    with pytest.raises(Unavailable, match="no model is installed"):
        engine.maintenance.consolidate()
    assert "no model is installed" in engine.maintenance.run_due()["consolidate"]


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_that_is_no_cosine_is_refused(engine: Engine, threshold: float) -> None:
    with pytest.raises(Invalid, match="between 0 and 1"):
        engine.maintenance.consolidate(threshold)


@pytest.mark.seed("004 §6.3")
def test_each_job_is_due_once_a_day_and_merging_also_after_many_insertions(
    make_engine: EngineMaker, clock: Clock
) -> None:
    engine = make_engine(tuning=Tuning(consolidation_interval=3))
    assert engine.maintenance.due() == ("prune", "consolidate", "age journal")
    engine.maintenance.run_due()
    assert engine.maintenance.due() == ()
    for number in range(3):
        assert engine.maintenance.due() == ()
        keep(engine, f"remark {number} on matter {number * 31}")
    assert engine.maintenance.due() == ("consolidate",)
    assert list(engine.maintenance.run_due()) == ["consolidate"]
    assert engine.maintenance.due() == ()
    clock.advance(hours=23)
    assert engine.maintenance.due() == ()
    clock.advance(hours=1)
    assert engine.maintenance.due() == ("prune", "consolidate", "age journal")


def test_where_changes_are_kept_for_an_hour_they_go_after_an_hour(
    make_engine: EngineMaker, clock: Clock
) -> None:
    hour = timedelta(hours=1)
    engine = make_engine(tuning=Tuning(trash=hour, journal=hour))
    engine.maintenance.run_due()
    keep(engine, "tea is hot")
    clock.advance(minutes=59)
    assert engine.maintenance.due() == ()
    clock.advance(minutes=2)
    assert engine.maintenance.due() == ("age journal",)
    engine.maintenance.run_due()
    assert not [event for event in engine.history.events_after(0) if event.name == "memory_created"]


def test_jobs_can_be_turned_off(make_engine: EngineMaker) -> None:
    never = timedelta(0)
    engine = make_engine(tuning=Tuning(consolidation_interval=0, consolidation_every=never, prune_limit=0))
    keep(engine, "tea is hot")
    assert engine.maintenance.due() == ("age journal",)


def test_of_equally_sure_memories_the_oldest_stays(engine: Engine, clock: Clock) -> None:
    first = keep(engine, "the team meets on mondays in the big room")
    clock.advance(hours=1)
    keep(engine, "The team meets on Mondays in the big room.")
    [cluster] = engine.maintenance.consolidate(0.85).clusters
    assert cluster.primary.id == first.id
