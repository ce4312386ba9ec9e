"""Consolidation with the real model: one thought in several wordings becomes one memory, facts stay apart."""

from __future__ import annotations

import pytest

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
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
    done = engine.maintenance.consolidate(0.7)
    assert done.clusters == ()
    assert sorted(contents(engine)) == sorted((one, other))
