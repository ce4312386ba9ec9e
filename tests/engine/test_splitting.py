"""Splitting: an overgrown entity becomes several, and nothing of what was known is lost."""

from __future__ import annotations

import pytest

from mcp_memory.engine import Engine, Tuning
from mcp_memory.engine.splitting import Split
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.inputs import NewEntity
from tests.conftest import EngineMaker

DEPLOY = tuple(f"deploy server region cluster rollout step{n}" for n in range(13))
PAINT = tuple(f"paint colour brush canvas gallery piece{n}" for n in range(13))


@pytest.fixture
def grown(engine: Engine) -> Engine:
    engine.graph.create_entities([NewEntity(name="Plan", type="Proyecto", observations=DEPLOY + PAINT)])
    return engine


def texts(engine: Engine, name: str) -> list[str]:
    [node] = engine.graph.open_nodes([name]).nodes
    return node.texts


@pytest.mark.parametrize(
    ("entity_type", "threshold"), [("Sesion", 15), ("Sesión", 15), ("Proyecto", 25), ("Persona", 20)]
)
@pytest.mark.seed("000 §11")
def test_each_type_has_its_threshold(engine: Engine, entity_type: str, threshold: int) -> None:
    facts = tuple(f"fact number {n}" for n in range(threshold))
    engine.graph.create_entities([NewEntity(name="E", type=entity_type, observations=facts)])
    at = engine.splitting.analyse("E")
    assert (at.threshold, at.needs_split, at.topics) == (threshold, False, {})
    assert at.split_score == 1.0
    engine.graph.add_observations("E", ["one more fact"])
    above = engine.splitting.analyse("E")
    assert above.needs_split
    assert above.split_score > 1.0


def test_thresholds_are_settings(make_engine: EngineMaker) -> None:
    engine = make_engine(tuning=Tuning(split_thresholds={"Note": 2}, split_threshold=3))
    engine.graph.create_entities(
        [NewEntity(name="N", type="note", observations=("a one", "b two", "c three"))]
    )
    engine.graph.create_entities([NewEntity(name="M", observations=("a four", "b five", "c six"))])
    assert [analysis.entity.name for analysis in engine.splitting.candidates()] == ["N"]


def test_topics_hold_every_observation_once(grown: Engine) -> None:
    analysis = grown.splitting.analyse("Plan")
    assert len(analysis.topics) >= 2
    assert sorted(text for group in analysis.topics.values() for text in group) == sorted(DEPLOY + PAINT)
    groups = [set(group) for group in analysis.topics.values()]
    assert set(DEPLOY) in groups
    assert set(PAINT) in groups


@pytest.mark.seed("000 §12")
def test_a_proposal_names_children_after_their_topics_and_relates_them_both_ways(grown: Engine) -> None:
    proposal = grown.splitting.propose("Plan")
    assert proposal is not None
    assert all(split.name.startswith("Plan - ") and split.type == "Proyecto" for split in proposal.splits)
    child = proposal.splits[0].name
    assert ("Plan", child, "contiene") in proposal.relations
    assert (child, "Plan", "parte_de") in proposal.relations
    assert texts(grown, "Plan") == [*DEPLOY, *PAINT]


@pytest.mark.seed("000 §12")
def test_an_entity_within_its_limit_gets_no_proposal(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Small", observations=("a",))])
    assert engine.splitting.propose("Small") is None


def test_an_unknown_entity_is_refused(engine: Engine) -> None:
    with pytest.raises(NotFound, match="Entity not found: Nobody"):
        engine.splitting.analyse("Nobody")


@pytest.mark.seed("000 §13")
def test_a_split_moves_observations_with_all_they_had(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Plan", type="Proyecto", observations=("stays",))])
    engine.graph.add_observations("Plan", ["use SQLite"], kind="decision")
    [before] = engine.graph.open_nodes(["Plan"], kinds=["decision"]).nodes[0].observations
    outcome = engine.splitting.execute("Plan", [Split("Plan - Storage", "Proyecto", ("use SQLite",))])
    assert outcome.new_entities == ("Plan - Storage",)
    assert (outcome.moved_observations, outcome.relations_created) == (1, 2)
    assert outcome.original_observations_remaining == 1
    [after] = engine.graph.open_nodes(["Plan - Storage"]).nodes[0].observations
    assert after == before
    assert texts(engine, "Plan") == ["stays"]
    relations = {(r.source, r.target, r.type) for r in engine.graph.open_nodes(["Plan"]).relations}
    assert relations == {("Plan", "Plan - Storage", "contiene"), ("Plan - Storage", "Plan", "parte_de")}


@pytest.mark.seed("000 §13")
def test_children_are_found_at_once(grown: Engine) -> None:
    grown.splitting.execute("Plan", [Split("Plan - Art", "Proyecto", PAINT)])
    best = grown.entities.search("brush and canvas", 2).hits[0]
    assert best.node.entity.name == "Plan - Art"
    assert best.distance is not None


def test_a_parent_can_be_given(grown: Engine) -> None:
    grown.graph.create_entities([NewEntity(name="Umbrella")])
    grown.splitting.execute("Plan", [Split("Art", "Proyecto", PAINT)], parent="Umbrella")
    assert {r.source for r in grown.graph.open_nodes(["Art"]).relations} == {"Umbrella", "Art"}


@pytest.mark.parametrize(
    ("splits", "complaint"),
    [
        ([], "at least one split"),
        (
            [Split("Art", "P", (PAINT[0],)), Split("Bad", "P", ("never said",))],
            "has no observation 'never said'",
        ),
        ([Split("Art", "P", (PAINT[0],)), Split("Too", "P", (PAINT[0],))], "more than one split"),
        ([Split("Plan", "P", (PAINT[0],))], "name of the entity itself"),
        ([Split("Art", "P", ())], "no observations"),
        ([Split(" ", "P", (PAINT[0],))], "empty"),
    ],
)
@pytest.mark.seed("000 §13")
def test_a_bad_split_changes_nothing(grown: Engine, splits: list[Split], complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint):
        grown.splitting.execute("Plan", splits)
    assert texts(grown, "Plan") == [*DEPLOY, *PAINT]
    assert [node.entity.name for node in grown.graph.read(limit=10).graph.nodes] == ["Plan"]


@pytest.mark.seed("000 §14")
def test_candidates_are_the_entities_above_their_threshold(grown: Engine) -> None:
    grown.graph.create_entities([NewEntity(name="Small", observations=("a",))])
    [candidate] = grown.splitting.candidates()
    assert candidate.entity.name == "Plan"
    assert candidate.needs_split


def test_a_split_can_be_undone(grown: Engine) -> None:
    before = grown.graph.read(limit=10)
    grown.splitting.execute("Plan", [Split("Plan - Art", "Proyecto", PAINT)])
    grown.history.undo_last()
    after = grown.graph.read(limit=10)
    assert [node.texts for node in after.graph.nodes] == [node.texts for node in before.graph.nodes]
    assert after.graph.relations == ()
    assert grown.entities.search("brush and canvas", 2).hits[0].node.entity.name == "Plan"
