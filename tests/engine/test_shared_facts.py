"""One text may be a fact about several entities: what becomes of it for one leaves the others alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from mcp_memory.embedding import Purpose
from mcp_memory.engine import Engine
from mcp_memory.engine.indexing import texts_for
from mcp_memory.engine.relating import Triple
from mcp_memory.errors import Invalid
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Pending
from mcp_memory.storage import Store
from tests.conftest import EngineMaker
from tests.consistency import troubles
from tests.fakes import Clock, HashEmbedder

OLD, NEW = "listens on port 80", "listens on port 81"


def observations(engine: Engine, name: str) -> list[str]:
    [node] = engine.graph.open_nodes([name]).nodes
    return node.texts


@pytest.fixture
def shared(engine: Engine) -> Engine:
    engine.graph.create_entities([NewEntity(name=name, observations=(OLD,)) for name in ("Api", "Web")])
    return engine


def test_superseding_a_shared_observation_leaves_it_to_the_other_entity(shared: Engine) -> None:
    shared.graph.add_observations("Api", [NEW], supersedes=OLD)
    assert observations(shared, "Api") == [NEW]
    assert observations(shared, "Web") == [OLD]
    shared.history.undo_last()
    assert observations(shared, "Api") == observations(shared, "Web") == [OLD]


def test_a_fact_that_one_entity_replaced_may_become_true_of_another(engine: Engine, store: Store) -> None:
    engine.graph.create_entities([NewEntity(name="Api", observations=(OLD,)), NewEntity(name="Web")])
    engine.graph.add_observations("Api", [NEW], supersedes=OLD)
    engine.graph.add_observations("Web", [OLD])
    assert observations(engine, "Api") == [NEW]
    assert observations(engine, "Web") == [OLD]
    engine.history.undo_last()
    [node] = engine.graph.open_nodes(["Api"], superseded=True).nodes
    assert node.texts == [OLD, NEW]
    assert troubles(store) == []


def test_who_gets_the_successor_in_the_same_call_loses_what_becomes_true_of_another(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Api", observations=(OLD,)), NewEntity(name="Web")])
    engine.graph.add_observations("Api", [NEW], supersedes=OLD)
    engine.graph.add_observations("Web", [NEW])
    engine.graph.delete_observations("Api", [NEW])
    engine.graph.create_entities(
        [NewEntity(name="Api", observations=(NEW,)), NewEntity(name="App", observations=(OLD,))]
    )
    assert observations(engine, "Api") == [NEW]
    assert observations(engine, "App") == [OLD]


def test_deleting_an_entity_leaves_what_it_shares(shared: Engine, store: Store, clock: Clock) -> None:
    shared.graph.delete_entities(["Api"])
    assert observations(shared, "Web") == [OLD]
    shared.graph.delete_entities(["Web"])
    with store.read("default", clock()) as tx:
        assert tx.memories.equal_to(OLD) is None
    assert troubles(store) == []


def test_of_several_entities_with_one_name_each_is_reached_by_its_id(engine: Engine) -> None:
    twins = engine.graph.create_entities(
        [NewEntity(name="Mercury", type=type, same_type=True) for type in ("planet", "metal")]
    )
    planet, metal = (node.entity for node in twins)
    engine.graph.create_entities([NewEntity(name="Sun")])
    engine.graph.create_relations([NewRelation(source=metal.id, target="Sun", type="melts_near")])
    [node] = engine.graph.open_nodes([metal.id]).nodes
    assert node.entity.type == "metal"
    assert engine.graph.open_nodes(["Mercury"]).nodes[0].entity == planet
    gone = engine.graph.delete_relations([Triple(metal.id, "Sun", "melts_near")])
    assert (len(gone.deleted), gone.missing) == (1, ())


class Slow(HashEmbedder):
    """While it works for the first time, something else happens."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__()
        self._meanwhile: Callable[[], object] | None = meanwhile

    def embed(self, texts: Sequence[str], purpose: Purpose) -> NDArray[np.float32]:
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile:
            meanwhile()
        return super().embed(texts, purpose)


def test_a_vector_of_an_earlier_text_is_not_kept_though_another_process_made_it_too(
    make_engine: EngineMaker, store: Store, clock: Clock
) -> None:
    quick = make_engine()
    quick.graph.create_entities([NewEntity(name="Ana")])

    def meanwhile() -> None:
        quick.scheduled_maintenance.make_vectors()
        quick.graph.update("Ana", {"name": "Bea"})

    make_engine(model=Slow(meanwhile)).scheduled_maintenance.make_vectors()
    with store.read("default", clock()) as tx:
        seq = tx.entities.get("Bea").seq
        [text] = texts_for(tx, [Pending("entity", seq, 0)], 512).values()
        kept = tx.indexes.vectors("entity", tx.indexes.models()["active"], [seq])
    # SQLite keeps a byte for each number, so the vector comes back nearly as it was.
    wanted = HashEmbedder().embed([text], "passage")[0]
    assert np.frombuffer(kept[seq], np.float32) == pytest.approx(wanted, abs=0.01)


def test_the_description_of_an_entity_has_a_limit(engine: Engine) -> None:
    with pytest.raises(Invalid, match="allowed"):
        engine.graph.create_entities([NewEntity(name="Ana", description="x" * 60_000)])


def test_a_relations_context_has_a_limit(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Ana")])
    with pytest.raises(Invalid, match="allowed"):
        engine.graph.create_relations(
            [NewRelation(source="Ana", target="Ana", type="knows", context="x" * 60_000)]
        )


def test_deleting_takes_so_much_at_once(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Ana")])
    with pytest.raises(Invalid, match="several calls"):
        engine.graph.delete_relations([Triple("Ana", "Ana", str(number)) for number in range(1001)])
    with pytest.raises(Invalid, match="several calls"):
        engine.graph.delete_from_each([("Ana", ["x"])] * 1001)
    with pytest.raises(Invalid, match="several calls"):
        engine.graph.delete_observations("Ana", ["x"] * 10_001)


def test_a_long_beginning_of_a_name_is_refused(engine: Engine) -> None:
    with pytest.raises(Invalid, match="allowed"):
        engine.graph.names_beginning("x" * 60_000, limit=5)


@pytest.mark.parametrize("unwanted", [OLD, NEW])
def test_either_of_an_observation_and_its_successor_can_be_deleted(
    engine: Engine, store: Store, unwanted: str
) -> None:
    engine.graph.create_entities([NewEntity(name="Api", observations=(OLD,))])
    engine.graph.add_observations("Api", [NEW], supersedes=OLD)
    engine.graph.delete_observations("Api", [unwanted])
    [node] = engine.graph.open_nodes(["Api"], superseded=True).nodes
    assert node.texts == [text for text in (OLD, NEW) if text != unwanted]
    engine.graph.add_observations("Api", [unwanted])
    assert unwanted in observations(engine, "Api")
    assert troubles(store) == []
