"""A relation is corrected: its strength, or what it is called."""

from __future__ import annotations

import pytest

from mcp_memory.engine import Engine
from mcp_memory.errors import Invalid
from mcp_memory.inputs import NewRelation
from mcp_memory.model import Relation


@pytest.fixture
def relation(engine: Engine) -> Relation:
    [made] = engine.graph.create_relations(
        [NewRelation(source="Ann", target="Apollo", type="knows", strength=0.3, make_ends=True)]
    )
    assert made.relation is not None
    return made.relation


def test_what_is_given_changes_and_the_rest_stays(engine: Engine, relation: Relation) -> None:
    changed = engine.graph.update_relation(relation.id, strength=0.9)
    assert (changed.id, changed.type, changed.strength) == (relation.id, "knows", 0.9)


def test_another_type_replaces_it_in_one_change_that_is_undone_whole(
    engine: Engine, relation: Relation
) -> None:
    changed = engine.graph.update_relation(relation.id, type="leads")
    assert (changed.type, changed.strength) == ("leads", 0.3)
    assert [one.type for one in engine.inventory.relations(limit=9).relations] == ["leads"]
    engine.history.undo_last()
    assert [one.type for one in engine.inventory.relations(limit=9).relations] == ["knows"]


def test_one_that_has_ended_is_left_alone(engine: Engine, relation: Relation) -> None:
    engine.graph.end_relation(relation.id)
    with pytest.raises(Invalid, match="has ended"):
        engine.graph.update_relation(relation.id, type="leads")
