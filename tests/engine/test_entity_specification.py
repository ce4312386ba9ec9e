"""Entities and relations as the memory tools' specification tests them."""

from __future__ import annotations

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.relating import Triple
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import UNKNOWN_TYPE, Filter

COLLABORATION = NewRelation(
    source="Alice", target="Bob", type="collaborates_with", strength=0.8, make_ends=True
)


def test_create_entity(engine: Engine) -> None:
    [node] = engine.graph.create_entities(
        [NewEntity(name="Alice", type="person", description="Software engineer", same_type=True)]
    )
    assert (node.entity.name, node.entity.type, node.entity.description) == (
        "Alice",
        "person",
        "Software engineer",
    )
    engine.indexing.catch_up("entity")
    model = engine.indexing.model()
    assert model is not None
    with engine._context.reading() as tx:
        assert len(tx.indexes.vectors("entity", model, [node.entity.seq])) == 1


def test_create_relation(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Alice"), NewEntity(name="Bob")])
    [outcome] = engine.graph.create_relations([COLLABORATION])
    assert outcome.relation is not None
    assert outcome.relation.strength == 0.8
    [found] = engine.graph.open_nodes(["Bob"]).relations
    assert (found.source, found.target, found.type) == ("Alice", "Bob", "collaborates_with")


@pytest.mark.seed("004 §2.3")
def test_duplicate_relation_prevention(engine: Engine) -> None:
    first, again = (engine.graph.create_relations([COLLABORATION])[0] for _ in range(2))
    assert (first.existed, again.existed) == (False, True)
    assert len(engine.graph.open_nodes(["Alice"]).relations) == 1


def test_entity_deletion_cascade(engine: Engine) -> None:
    engine.graph.create_relations([COLLABORATION])
    engine.memories.remember(NewMemory(content="Alice wrote the parser", entity_names=("Alice",)))
    engine.graph.delete_entities(["Alice"])
    assert engine.graph.open_nodes(["Alice"]).nodes == ()
    assert engine.graph.open_nodes(["Bob"]).relations == ()
    assert [memory.content for memory in engine.memories.find(Filter()).memories] == [
        "Alice wrote the parser"
    ]


def test_auto_create_entities_from_store_memory(engine: Engine) -> None:
    engine.memories.remember(NewMemory(content="met somebody new", entity_names=("NewPerson",)))
    [node] = engine.graph.open_nodes(["NewPerson"]).nodes
    assert (node.entity.type, node.texts) == (UNKNOWN_TYPE, ["met somebody new"])


def test_an_ended_relation_can_begin_again(engine: Engine) -> None:
    engine.graph.create_relations([COLLABORATION])
    engine.graph.end_relation(Triple("Alice", "Bob", "collaborates_with"))
    [again] = engine.graph.create_relations([COLLABORATION])
    assert not again.existed
