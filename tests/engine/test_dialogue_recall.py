"""Turns of a dialogue are found by what the turns beside them say, and by words near to the question's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mcp_memory.embedding import Embedder
from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.tuning import Tuning
from tests.conftest import EngineMaker
from tests.fakes import Clock

TALKS = (
    (
        "Ana: How did your garden do this summer?",
        "Ben: The tomatoes in the garden grew taller than me.",
        "Ana: Did the garden get enough rain?",
        "Ben: I had to water the garden every evening.",
        "Ana: My garden is only herbs on the balcony.",
        "Ben: Herbs in a garden pot are a good start.",
    ),
    (
        "Ben: Have you moved into the new flat?",
        "Ana: Yes, the flat has a big kitchen and two windows.",
        "Ben: Is the kitchen of the flat quiet?",
        "Ana: The flat faces a yard, so it is quiet.",
        "Ben: A quiet flat is worth a lot.",
        "Ana: The rent of the flat went up, though.",
    ),
    (
        "Ana: What do you do after work these days?",
        "Ben: After work I go to soccer with the neighbours.",
        "Ana: That sounds tiring after a day of work.",
        "Ben: It is, but work feels lighter afterwards.",
        "Ana: After work I only read and sleep.",
        "Ben: Reading after work is fine as well.",
    ),
    (
        "Ben: Did you take the train to the lake?",
        "Ana: The train to the lake was late by an hour.",
        "Ben: Was the lake cold after the train ride?",
        "Ana: The lake was cold and clear.",
        "Ben: I would take the train to the lake too.",
        "Ana: Take the early train, the lake is empty then.",
    ),
)


@pytest.fixture
def talking(make_engine: EngineMaker, minilm: Embedder, clock: Clock) -> EngineMaker:
    """Engines on a store that holds the talks, one a day."""
    engine = make_engine(model=minilm)
    for talk in TALKS:
        clock.advance(days=1)
        for turn in talk:
            engine.memories.remember(NewMemory(content=turn))
    return make_engine


def told(engine: Engine, question: str, turn: str, factor: str) -> float:
    """What a signal is worth for a turn, as `explain` tells it."""
    hits = engine.recall.recall(question, limit=50, fading="gentle", explain=True).hits
    found = next(hit for hit in hits if hit.memory.content == turn)
    assert found.explanation is not None
    return float(found.explanation[factor] or 0.0)


GARDEN = "How was the weather for Ben's garden?", "Ben: I had to water the garden every evening."
SPORTS = "What sports does Ben do in summer?", "Ben: After work I go to soccer with the neighbours."


@pytest.mark.parametrize(
    ("signal", "asked", "factor"),
    [("thread", GARDEN, "semantic"), ("thesaurus", SPORTS, "keyword"), ("several", SPORTS, "lift")],
)
def test_a_signal_raises_the_turn_that_answers(
    talking: EngineMaker, minilm: Embedder, signal: str, asked: tuple[str, str], factor: str
) -> None:
    without = talking(model=minilm, tuning=replace(Tuning(), without=frozenset([signal])))
    assert told(talking(model=minilm), *asked, factor) > told(without, *asked, factor)
