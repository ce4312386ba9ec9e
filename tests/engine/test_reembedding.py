"""Another model takes over: nothing is mixed, nothing is missed, and the old one serves meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from mcp_memory.embedding import NoModel, Purpose
from mcp_memory.engine import Engine
from mcp_memory.errors import Unavailable
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Caller, unreported
from mcp_memory.storage.postgres import vectors as postgres_vectors
from mcp_memory.storage.sqlite import sketches
from tests.conftest import EngineMaker
from tests.fakes import HashEmbedder


class Interrupted(Exception):
    pass


class Meddled(HashEmbedder):
    """A model during whose work something else happens once."""

    def __init__(self, meddle: object) -> None:
        super().__init__(64, "newer")
        self.meddle = meddle

    def embed(self, texts: Sequence[str], purpose: Purpose) -> NDArray[np.float32]:
        if callable(self.meddle) and "ready?" not in texts:
            meddle, self.meddle = self.meddle, None
            meddle()
        return super().embed(texts, purpose)


@pytest.fixture
def newer() -> HashEmbedder:
    return HashEmbedder(64, "newer")


@pytest.fixture
def stocked(engine: Engine) -> Engine:
    """Forty entities in one space and one in another, with vectors by the old model."""
    names = [f"Node {number}" for number in range(40)]
    engine.graph.create_entities([NewEntity(name=name, observations=(f"{name} is blue",)) for name in names])
    engine.acting_for(Caller("elsewhere")).graph.create_entities(
        [NewEntity(name="Far", observations=("green",))]
    )
    while engine.indexing.catch_up_anywhere():
        pass
    return engine


ignore = unreported


def stop_after_the_first_batch(doing: str, made: int, total: int | None) -> None:
    raise Interrupted


def test_another_model_is_not_searched_with_until_all_vectors_are_made(
    stocked: Engine, make_engine: EngineMaker, newer: HashEmbedder
) -> None:
    engine = make_engine(model=newer)
    assert engine.entities.search("blue", 3).mode.startswith("keyword only: ")
    assert "reembed" in engine.entities.search("blue", 3).mode
    engine.reembedding.run(ignore)
    assert not engine.entities.search("blue", 3).mode.startswith("keyword")
    state = engine.inventory.vectors()
    assert state.serving is not None
    assert (state.serving.name, state.serving.dimensions) == ("newer", 64)
    assert (state.building, state.missing_count, state.vector_count) == (None, 0, 82)


def test_every_space_is_reached(stocked: Engine, make_engine: EngineMaker, newer: HashEmbedder) -> None:
    make_engine(model=newer).reembedding.run(ignore)
    elsewhere = make_engine(model=newer, caller=Caller("elsewhere"))
    answer = elsewhere.entities.search("green", 3)
    assert not answer.mode.startswith("keyword")
    assert [hit.node.entity.name for hit in answer.hits] == ["Far"]


def test_the_old_model_serves_until_the_new_one_is_ready(
    stocked: Engine, make_engine: EngineMaker, newer: HashEmbedder
) -> None:
    with pytest.raises(Interrupted):
        make_engine(model=newer).reembedding.run(stop_after_the_first_batch)
    assert not stocked.entities.search("blue", 3).mode.startswith("keyword")
    building = stocked.inventory.vectors().building
    assert building is not None
    assert building.name == "newer"


def test_a_second_run_goes_on_where_the_first_was_stopped(
    stocked: Engine, make_engine: EngineMaker, newer: HashEmbedder
) -> None:
    engine = make_engine(model=newer)
    everything = engine.reembedding.plan().remaining
    with pytest.raises(Interrupted):
        engine.reembedding.run(stop_after_the_first_batch)
    left = engine.reembedding.plan().remaining
    assert 0 < left < everything
    assert engine.reembedding.run(ignore).made == left


def test_what_was_begun_for_a_third_model_is_dropped(
    stocked: Engine, make_engine: EngineMaker, newer: HashEmbedder
) -> None:
    with pytest.raises(Interrupted):
        make_engine(model=HashEmbedder(32, "third")).reembedding.run(stop_after_the_first_batch)
    make_engine(model=newer).reembedding.run(ignore)
    state = stocked.inventory.vectors()
    assert state.serving is not None
    assert (state.serving.name, state.building) == ("newer", None)


def test_what_changes_while_it_is_embedded_gets_the_vector_of_its_new_text(
    stocked: Engine, make_engine: EngineMaker
) -> None:
    model = Meddled(lambda: stocked.graph.add_observations("Node 0", ["a red and rusty thing"]))
    engine = make_engine(model=model)
    engine.reembedding.run(ignore)
    assert engine.inventory.vectors().missing_count == 0
    assert any("a red and rusty thing" in text and "Node 0" in text for text in model.seen)


def test_what_changes_after_it_was_embedded_is_embedded_again(
    stocked: Engine, make_engine: EngineMaker, newer: HashEmbedder
) -> None:
    engine = make_engine(model=newer)
    with pytest.raises(Interrupted):
        engine.reembedding.run(stop_after_the_first_batch)
    for number in range(40):
        stocked.graph.add_observations(f"Node {number}", [f"a red and rusty thing {number}"])
    while stocked.indexing.catch_up_anywhere():
        pass
    engine.reembedding.run(ignore)
    snapshots = [text for text in newer.seen if "red and rusty" in text and "Node" in text]
    assert len(snapshots) == 40


def test_the_model_that_serves_only_gets_what_it_lacks(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Ana", observations=("likes tea",))])
    done = engine.reembedding.run(ignore)
    assert (done.made, engine.inventory.vectors().missing_count) == (2, 0)
    assert engine.reembedding.run(ignore).made == 0


def test_progress_is_told(stocked: Engine, make_engine: EngineMaker, newer: HashEmbedder) -> None:
    told: list[tuple[int, int | None]] = []
    make_engine(model=newer).reembedding.run(lambda doing, made, total: told.append((made, total)))
    assert told[-1] == (82, 82)
    assert [total for _, total in told] == [82] * len(told)


def test_many_vectors_serve_with_their_index_at_once(
    stocked: Engine, make_engine: EngineMaker, newer: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as few:
        few.setattr(postgres_vectors, "INDEX_FROM", 30)
        few.setattr(sketches, "SKETCH_FROM", 30)
        few.setattr(sketches, "LEAST_BATCH", 10)
        steps: list[str] = []
        engine = make_engine(model=newer)
        engine.reembedding.run(lambda doing, done, total: steps.append(doing))
        assert set(steps) > {"embedding"}
        assert engine.scheduled_maintenance.tend_index(lambda: True) == [], "nothing is left to do"
    engine.scheduled_maintenance.tend_index(
        lambda: True
    )  # a database that other tests use shall have no index


def test_the_plan_says_what_would_be_done(
    stocked: Engine, make_engine: EngineMaker, newer: HashEmbedder
) -> None:
    plan = make_engine(model=newer).reembedding.plan()
    assert (plan.serving, plan.model, plan.is_change, plan.remaining) == ("hashed-words", "newer", True, 82)
    assert stocked.reembedding.plan().remaining == 0


def test_without_a_model_there_is_nothing_to_embed_with(make_engine: EngineMaker) -> None:
    with pytest.raises(Unavailable, match="not installed"):
        make_engine(model=NoModel("it is not installed")).reembedding.run(ignore)
