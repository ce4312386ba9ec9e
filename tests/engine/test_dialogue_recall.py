"""Turns of a dialogue are found by what the turns beside them say, and by words near to the question's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_memory.embedding import Embedder
from mcp_memory.engine import Context, Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.tuning import Tuning
from mcp_memory.wiring import new_id
from tests.conftest import EngineMaker, open_database
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


EDITED = "Ben: I had to water the garden every evening.", "Ben: I let the weeds grow all over it."
ADDED = "Ben: Next year the garden gets a pond."
ASKED = (GARDEN[0], SPORTS[0], "What grows in Ben's garden?")


def edit(engine: Engine, ids: dict[str, str]) -> None:
    engine.memories.update(ids[EDITED[0]], {"content": EDITED[1]})


def forget(engine: Engine, ids: dict[str, str]) -> None:
    engine.memories.forget(ids[EDITED[0]])


def delete(engine: Engine, ids: dict[str, str]) -> None:
    engine.memories.delete([ids[EDITED[0]]])


def add(engine: Engine, ids: dict[str, str]) -> None:
    engine.memories.remember(NewMemory(content=ADDED))


@pytest.mark.parametrize("by_another", [False, True], ids=["by this process", "by another"])
@pytest.mark.parametrize(
    ("change", "texts"),
    [
        (edit, lambda texts: [EDITED[1] if text == EDITED[0] else text for text in texts]),
        (forget, lambda texts: [text for text in texts if text != EDITED[0]]),
        (delete, lambda texts: [text for text in texts if text != EDITED[0]]),
        (add, lambda texts: [*texts, ADDED] if texts[0] == TALKS[-1][0] else texts),
    ],
)
def test_a_changed_conversation_is_read_as_one_that_was_always_so(
    make_engine: EngineMaker,
    minilm: Embedder,
    clock: Clock,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    change: Callable[[Engine, dict[str, str]], None],
    texts: Callable[[Sequence[str]], Sequence[str]],
    by_another: bool,
) -> None:
    changed = make_engine(model=minilm, caller=Caller("changed"))
    always_so = make_engine(model=minilm, caller=Caller("always so"))
    ids = {}
    for talk in TALKS:
        clock.advance(days=1)
        for turn in talk:
            ids[turn] = changed.memories.remember(NewMemory(content=turn)).memory.id
        for turn in texts(talk):
            always_so.memories.remember(NewMemory(content=turn))
    expected = [answered(always_so, question) for question in ASKED]
    before = [answered(changed, question) for question in ASKED]  # last: what is kept is of this space
    with closing(open_database(request.node.callspec.params["database"], request, tmp_path)) as second:
        context = Context(store=Store(second), embedder=minilm, clock=clock, new_id=new_id)
        other = Engine(context).acting_for(Caller("changed"))
        change(other if by_another else changed, ids)
    after = [answered(changed, question) for question in ASKED]
    assert before != after == expected


def answered(engine: Engine, question: str) -> list[tuple[str, float, dict[str, float]]]:
    """Results with their signals; being asked changes nothing."""
    silent = engine.noting_later(lambda note: None)
    hits = silent.recall.recall(question, limit=50, fading="gentle", explain=True).hits
    return [
        (
            hit.memory.content,
            round(hit.score, 6),
            {name: round(value or 0.0, 6) for name, value in (hit.explanation or {}).items()},
        )
        for hit in hits
    ]
