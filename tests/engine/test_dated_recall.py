"""Recall for questions that name a time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_memory.engine import Engine, Tuning
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.recall import Answer
from tests.conftest import EngineMaker
from tests.fakes import Clock

GREEN = "Nora painted the fence green"
BLUE = "Nora painted the fence blue"


@pytest.fixture(autouse=True)
def two_coats(engine: Engine, clock: Clock) -> None:
    for content, month in ((GREEN, 3), (BLUE, 5)):
        clock.set(datetime(2026, month, 14, 12, tzinfo=UTC))
        engine.memories.remember(NewMemory(content=content))
    clock.set(datetime(2026, 9, 1, 12, tzinfo=UTC))


def first(answer: Answer) -> str:
    return answer.hits[0].memory.content


@pytest.mark.parametrize(
    ("when", "colour"),
    [
        ("in March", GREEN),
        ("in May 2026", BLUE),
        ("on 14 March 2026", GREEN),
        ("six months ago", GREEN),
        ("between April and June", BLUE),
    ],
)
def test_of_two_equal_matches_the_one_from_that_time_comes_first(
    engine: Engine, when: str, colour: str
) -> None:
    question = f"Who painted the fence {when}?"
    answers = (engine.recall.recall(question, fading="gentle"), engine.recall.recall_for_agent(question))
    for answer in answers:
        assert {hit.memory.content for hit in answer.hits} == {GREEN, BLUE}
        assert first(answer) == colour


def test_a_time_that_a_memory_names_counts_like_its_own(engine: Engine, clock: Clock) -> None:
    engine.memories.remember(NewMemory(content="On 3 January 2025 Nora painted the fence red"))
    asked = "When in January 2025 was the fence painted?"
    assert "red" in first(engine.recall.recall(asked, mode="keyword", fading="gentle"))


def test_the_explanation_says_which_memories_are_from_that_time(engine: Engine) -> None:
    answer = engine.recall.recall("Who painted the fence in March?", explain=True)
    dated = {hit.memory.content: (hit.explanation or {})["dated"] for hit in answer.hits}
    assert dated[GREEN] > 0
    assert dated[BLUE] == 0


@pytest.mark.parametrize("question", ["Who may paint the fence?", "Which colour has the fence?"])
def test_a_question_without_a_time_is_answered_as_without_the_signal(
    engine: Engine, make_engine: EngineMaker, question: str
) -> None:
    plain = make_engine(tuning=Tuning(without=frozenset({"dates"})))

    def scores(one: Engine) -> list[tuple[str, float]]:
        found = one.recall.recall(question, limit=5, as_of=datetime(2026, 8, 1, tzinfo=UTC))
        return [(hit.memory.content, hit.score) for hit in found.hits]

    assert scores(engine) == scores(plain)
    assert len(scores(engine)) == 2


def test_leaving_the_signal_out_is_possible(engine: Engine, make_engine: EngineMaker) -> None:
    plain = make_engine(tuning=Tuning(without=frozenset({"dates"})))
    answer = plain.recall.recall("Who painted the fence in March?", explain=True)
    assert [(hit.explanation or {})["dated"] for hit in answer.hits] == [0, 0]
