"""A walk from one entity shows what is near, and says when there is more."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_memory.engine import Engine, graph_walk
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.graph_walk import EntityGraph
from mcp_memory.engine.relating import Triple
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.inputs import NewEntity, NewRelation


def relate(engine: Engine, *pairs: str, strength: float = 0.5) -> None:
    engine.graph.create_relations(
        [
            NewRelation(source=source, target=target, type="to", strength=strength, make_ends=True)
            for source, target in (pair.split(">") for pair in pairs)
        ]
    )


def names(graph: EntityGraph) -> list[str]:
    return [node.entity.name for node in graph.nodes]


def edges(graph: EntityGraph) -> list[str]:
    return [f"{edge.source}>{edge.target}" for edge in graph.edges]


@pytest.mark.seed("004 §11.2")
def test_get_entity_graph_depth_1(engine: Engine) -> None:
    relate(engine, "A>B", "A>C", "B>D")
    graph = engine.walk.entity_graph("A", depth=1)
    assert names(graph) == ["A", "B", "C"]
    assert edges(graph) == ["A>B", "A>C"]
    assert not graph.truncated


def test_get_entity_graph_depth_2(engine: Engine) -> None:
    relate(engine, "A>B", "A>C", "B>D")
    graph = engine.walk.entity_graph("A", depth=2)
    assert names(graph) == ["A", "B", "C", "D"]
    assert [node.depth for node in graph.nodes] == [0, 1, 1, 2]
    assert edges(graph) == ["A>B", "A>C", "B>D"]


@pytest.mark.seed("004 §11.2")
def test_both_directions_are_followed_and_circles_end(engine: Engine) -> None:
    relate(engine, "B>A", "B>C", "C>A", "C>C")
    graph = engine.walk.entity_graph("A", depth=5)
    assert sorted(names(graph)) == ["A", "B", "C"]
    assert edges(graph) == ["B>A", "B>C", "C>A", "C>C"]


def test_depth_0_is_the_entity_alone(engine: Engine) -> None:
    relate(engine, "A>B", "A>A")
    graph = engine.walk.entity_graph("A", depth=0)
    assert (names(graph), edges(graph)) == (["A"], ["A>A"])


def test_weak_and_ended_relations_are_not_followed(engine: Engine) -> None:
    relate(engine, "A>B", strength=0.2)
    relate(engine, "A>C", "A>E", strength=0.7)
    engine.graph.end_relation(Triple("A", "E", "to"))
    graph = engine.walk.entity_graph("A", depth=3, min_strength=0.5)
    assert (names(graph), edges(graph)) == (["A", "C"], ["A>C"])


def test_memories_come_with_their_nodes_the_newest_first(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="A", observations=tuple(f"note {n}" for n in range(25)))])
    relate(engine, "A>B")
    engine.memories.remember(NewMemory(content="A met B", entity_names=("A", "B")))
    center, other = engine.walk.entity_graph("A").nodes
    assert [memory.content for memory in center.memories][:3] == ["A met B", "note 24", "note 23"]
    assert (len(center.memories), center.memory_count) == (graph_walk.MEMORIES_PER_NODE, 26)
    assert [memory.content for memory in other.memories] == ["A met B"]
    bare = engine.walk.entity_graph("A", include_memories=False)
    assert bare.nodes[0].memories == ()
    assert bare.nodes[0].memory_count == 26


def test_being_shown_is_being_used(engine: Engine) -> None:
    memory = engine.memories.remember(
        NewMemory(content="A met B", entity_names=("A",), confidence=0.5)
    ).memory
    engine.walk.entity_graph("A")
    assert engine.memories.get(memory.id).confidence == pytest.approx(0.6)


def test_a_walk_stops_at_its_limit_and_says_so(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_walk, "MOST_NODES", 4)
    relate(engine, *(f"A>N{number}" for number in range(6)))
    relate(engine, "A>Strong", strength=0.9)
    graph = engine.walk.entity_graph("A", depth=2)
    assert graph.truncated
    assert names(graph) == ["A", "Strong", "N0", "N1"]


@pytest.mark.parametrize("wrong", [{"depth": 6}, {"depth": -1}, {"min_strength": 1.5}])
def test_a_walk_too_far_is_refused(engine: Engine, wrong: dict[str, Any]) -> None:
    relate(engine, "A>B")
    with pytest.raises(Invalid, match="between 0 and"):
        engine.walk.entity_graph("A", **wrong)


def test_an_unknown_entity_is_not_found(engine: Engine) -> None:
    with pytest.raises(NotFound, match="Nobody"):
        engine.walk.entity_graph("Nobody")
