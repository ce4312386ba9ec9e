from datetime import UTC, datetime, timedelta

import pytest

from mcp_memory.ranking.decay import effective_confidence

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
