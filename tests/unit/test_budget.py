"""Answers are cut to what a model asked to pay for, and what comes first stays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.text.budget import tokens, within

pytestmark = pytest.mark.unit


def memories(count: int, length: int = 100) -> dict[str, Any]:
    return {
        "memories": [{"id": f"m{number}", "content": f"{number} " + "x" * length} for number in range(count)],
        "total_found": count,
        "mode": "hybrid",
    }


def test_an_answer_that_fits_is_left_alone() -> None:
    answer = memories(3)
    assert within(answer, tokens(answer)) == answer


def test_the_first_results_stay_and_the_rest_is_counted() -> None:
    cut = within(memories(50), 300)
    assert [one["id"] for one in cut["memories"][:3]] == ["m0", "m1", "m2"]
    assert 3 <= len(cut["memories"]) < 50
    assert (cut["total_found"], cut["truncated"]) == (50, True)
    assert tokens(cut) <= 300


def test_one_result_that_is_too_long_keeps_its_beginning_and_its_id() -> None:
    cut = within(memories(1, length=10_000), 200)
    [only] = cut["memories"]
    assert only["id"] == "m0"
    assert only["content"].startswith("0 xxx")
    assert only["content"].endswith("…")
    assert tokens(cut) <= 200


def test_an_entity_loses_its_last_observations_first() -> None:
    answer = {"entities": [{"name": "Acme", "observations": [f"fact {number}" for number in range(1000)]}]}
    cut = within(answer, 200)
    [entity] = cut["entities"]
    assert entity["observations"][:2] == ["fact 0", "fact 1"]
    assert len(entity["observations"]) < 100
    assert tokens(cut) <= 200


PARTS = st.recursive(
    st.none() | st.integers() | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=8), PARTS, max_size=5), st.integers(50, 500))
def test_no_answer_is_longer_than_asked(answer: Any, limit: int) -> None:
    cut = within(answer, limit)
    # Where there is room for nothing, only the shape is left.
    is_shape = not any(isinstance(part, list | str) and part for part in cut.values())
    assert tokens(cut) <= limit or is_shape
    assert cut == answer or cut["truncated"]
