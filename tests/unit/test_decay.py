from datetime import UTC, datetime, timedelta

import pytest

from mcp_memory.ranking.decay import effective_confidence, faded_at, reinforced

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("days", "expected"), [(0, 0.8), (15, 0.565685), (30, 0.4), (60, 0.2), (90, 0.1)])
@pytest.mark.seed("004 §4.1")
def test_confidence_halves_every_thirty_days(days: int, expected: float) -> None:
    assert effective_confidence(0.8, START, START + timedelta(days=days)) == pytest.approx(expected, abs=1e-6)


def test_the_half_life_can_be_chosen() -> None:
    later = START + timedelta(days=2)
    assert effective_confidence(1.0, START, later, timedelta(days=1)) == 0.25


def test_a_pinned_memory_does_not_decay() -> None:
    assert effective_confidence(0.8, START, START + timedelta(days=3650), pinned=True) == 0.8


def test_a_time_in_the_future_does_not_raise_confidence() -> None:
    assert effective_confidence(0.8, START + timedelta(days=9), START) == 0.8


def test_an_age_of_centuries_comes_near_nought() -> None:
    assert effective_confidence(1.0, datetime(1, 1, 1, tzinfo=UTC), START) == pytest.approx(0.0)


@pytest.mark.parametrize(("before", "after"), [(0.5, 0.6), (0.95, 1.0), (1.0, 1.0)])
def test_being_returned_adds_a_tenth_up_to_one(before: float, after: float) -> None:
    assert reinforced(before) == pytest.approx(after)


def test_a_memory_fades_when_its_confidence_has_halved_often_enough() -> None:
    # 0.8 to 0.05 is four halvings.
    assert faded_at(0.8, START) == START + timedelta(days=120)
    assert effective_confidence(0.8, START, faded_at(0.8, START)) == pytest.approx(0.05)


def test_a_memory_below_the_threshold_has_faded_already() -> None:
    assert faded_at(0.04, START) == START
