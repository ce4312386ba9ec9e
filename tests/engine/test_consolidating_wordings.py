"""Consolidation with the real model: one thought in several wordings becomes one memory, facts stay apart."""

from __future__ import annotations

import pytest

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Invalid
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Filter
from tests.conftest import EngineMaker

HOOKS = (
    "React hooks simplify state management in components",
    "React hooks make state management simpler in components",
    "React hooks simplify managing state in components",
    "React hooks simplify component state management",
)


@pytest.fixture(scope="module")
def model() -> object:
    return wiring.embedder(load({}, environ={}))


@pytest.fixture
def engine(make_engine: EngineMaker, model: object) -> Engine:
    return make_engine(model=model)


def contents(engine: Engine) -> list[str]:
    return [memory.content for memory in engine.memories.find(Filter(), limit=50).memories]


def test_cluster_detection(engine: Engine) -> None:
    for text in HOOKS:
        engine.memories.remember(NewMemory(content=text, type="learning"))
    done = engine.maintenance.consolidate(0.85)
    assert [len(cluster.absorbed) for cluster in done.clusters] == [3]
    [merged] = contents(engine)
    assert all(text in merged for text in HOOKS)
    assert done.act is not None
    engine.history.undo(done.act)
    assert sorted(contents(engine)) == sorted(HOOKS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API listens on port 8080", "The API listens on port 8081"),
        ("User is allergic to peanuts", "User is not allergic to peanuts"),
        ("Alice's birthday is on March 14th", "Alice's birthday is on March 15th"),
        ("The user likes green tea", "The user likes black tea"),
        ("The user's dog is called Rex", "The user's dog is called Max"),
        ("The server is up", "The server is down"),
        ("The user is a teacher", "The user was a teacher"),
    ],
)
def test_facts_that_differ_in_one_point_are_kept_apart_and_reported(
    engine: Engine, one: str, other: str
) -> None:
    for text in (one, other):
        engine.memories.remember(NewMemory(content=text, type="fact"))
    done = engine.maintenance.consolidate()
    assert done.clusters == ()
    assert sorted(contents(engine)) == sorted((one, other))


def test_a_threshold_that_is_named_is_honoured(engine: Engine) -> None:
    engine.memories.remember(NewMemory(content="The user likes green tea in the morning"))
    engine.memories.remember(NewMemory(content="The user likes black tea in the morning"))
    assert engine.maintenance.consolidate().clusters == ()
    [cluster] = engine.maintenance.consolidate(0.85).clusters
    assert len(cluster.absorbed) == 1
    [merged] = contents(engine)
    assert {"green", "black"} <= set(merged.split())


def test_only_force_merges_what_differs_in_a_fact(engine: Engine) -> None:
    engine.memories.remember(NewMemory(content="The API listens on port 8080"))
    engine.memories.remember(NewMemory(content="The API listens on port 8081"))
    assert engine.maintenance.consolidate(0.8).clusters == ()
    assert len(engine.maintenance.consolidate(0.8, force=True).clusters) == 1
    [merged] = contents(engine)
    assert {"8080", "8081"} <= set(merged.split())


def test_a_request_compares_what_the_automatic_run_skipped(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Ana", type="person")])
    engine.graph.add_observations("Ana", ["Ana prefers dark mode", "Ana really prefers dark mode"])
    engine.maintenance.run_due()
    assert len(contents(engine)) == 2
    assert len(engine.maintenance.consolidate().clusters) == 1


def test_what_store_memory_merges_stays_a_line_that_search_finds(engine: Engine) -> None:
    engine.memories.remember(NewMemory(content="User prefers dark mode"))
    stored = engine.memories.remember(NewMemory(content="The user likes dark mode"))
    assert stored.outcome == "merged"
    assert stored.memory.content.splitlines() == ["User prefers dark mode", "The user likes dark mode"]
    assert engine.recall.recall("likes", mode="keyword").total == 1
    again = engine.memories.remember(NewMemory(content="The user likes dark mode."))
    assert (again.outcome, again.memory.id) == ("equal", stored.memory.id)
    assert contents(engine) == [stored.memory.content]


def test_two_named_memories_become_one_and_can_be_parted_again(engine: Engine) -> None:
    one = engine.memories.remember(NewMemory(content="Deploys happen on Friday", tags=("ops",))).memory
    other = engine.memories.remember(NewMemory(content="We ship at the end of the week")).memory
    merged = engine.maintenance.merge(one.id, other.id)
    assert contents(engine) == ["Deploys happen on Friday\nWe ship at the end of the week"]
    engine.history.undo(merged.act)
    assert len(contents(engine)) == 2
    with pytest.raises(Invalid, match="itself"):
        engine.maintenance.merge(one.id, one.id)
