"""A model in this process computes while the rest of a search or a write goes on."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_memory.embedding import LocalModel, Purpose
from mcp_memory.engine import Engine
from mcp_memory.errors import Unavailable
from mcp_memory.inputs import NewMemory
from tests.conftest import EngineMaker
from tests.fakes import HashEmbedder


class Local(HashEmbedder):
    """Notes when a text was begun and when its vector was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []

    def begin(self, text: str, purpose: Purpose) -> Callable[[], NDArray[np.float32]]:
        self.log.append(f"begun: {text}")

        def result() -> NDArray[np.float32]:
            self.log.append(f"asked for: {text}")
            return self.embed([text], purpose)

        return result

    def foresee(self, text: str, purpose: Purpose) -> None:
        self.log.append(f"foreseen: {text}")


class Failing(Local):
    def begin(self, text: str, purpose: Purpose) -> Callable[[], NDArray[np.float32]]:
        def result() -> NDArray[np.float32]:
            raise Unavailable("the model cannot run")

        return result


def stored(engine: Engine, texts: Sequence[str]) -> list[str]:
    return [engine.memories.remember(NewMemory(content=text)).outcome for text in texts]


TEXTS = ("the cat sleeps on the roof", "the dog sleeps in the yard", "tea is drunk at five")


def test_a_local_model_finds_what_any_other_finds(make_engine: EngineMaker) -> None:
    model = Local()
    assert isinstance(model, LocalModel)
    engine = make_engine(model=model)
    assert stored(engine, [*TEXTS, TEXTS[0]]) == ["created", "created", "created", "equal"]
    found = engine.recall.recall("where does the cat sleep")
    waiting = make_engine(model=HashEmbedder()).recall.recall("where does the cat sleep")
    assert found.mode == waiting.mode == "hybrid"
    assert [(hit.memory.content, hit.score) for hit in found.hits] == [
        (hit.memory.content, hit.score) for hit in waiting.hits
    ]
    assert model.log[-2:] == ["begun: where does the cat sleep", "asked for: where does the cat sleep"]


def test_a_text_that_is_known_does_not_wait_for_its_vector(make_engine: EngineMaker) -> None:
    model = Local()
    engine = make_engine(model=model)
    stored(engine, [TEXTS[0], TEXTS[0]])
    assert model.log.count(f"asked for: {TEXTS[0]}") == 1


def test_a_local_model_that_fails_leaves_words(make_engine: EngineMaker) -> None:
    engine = make_engine(model=Failing())
    assert stored(engine, TEXTS) == ["created"] * 3
    found = engine.recall.recall("cat")
    assert found.mode == "keyword only: the model cannot run"
    assert found.hits[0].memory.content == TEXTS[0]


def test_a_text_is_embedded_as_it_is_stored(make_engine: EngineMaker) -> None:
    model = Local()
    said = NewMemory(content="the deploy key is ghp_16C7e42F292c6912E7710c838347Ae178B4a", captured=True)
    kept = make_engine(model=model).memories.remember(said).memory.content
    assert kept == "the deploy key is [redacted]"
    assert [line for line in model.log if line.startswith("asked")] == [f"asked for: {kept}"]
