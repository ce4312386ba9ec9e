import pytest

from mcp_memory.ranking.neighbours import with_neighbours


def test_a_fifth_of_the_best_neighbours_score_is_added() -> None:
    scores = {"a": 0.5, "b": 0.9, "c": 0.52}
    # a stands beside b; c beside nobody that was found
    shared = with_neighbours(scores, {"a": ["x", "b"], "b": ["a"], "c": ["y"]})
    assert shared == pytest.approx({"b": 1.0, "a": 0.68, "c": 0.52})
    assert list(shared) == ["b", "a", "c"]


def test_the_share_can_be_chosen() -> None:
    assert with_neighbours({"a": 0.5, "b": 1.0}, {"a": ["b"]}, share=0.1) == pytest.approx(
        {"b": 1.0, "a": 0.6}
    )


def test_scores_are_shared_as_they_were_and_not_passed_on() -> None:
    chain = {"a": ["b"], "b": ["a", "c"], "c": ["b"]}
    assert with_neighbours({"a": 1.0, "b": 0.0, "c": 0.0}, chain) == pytest.approx(
        {"a": 1.0, "b": 0.2, "c": 0.0}
    )


def test_without_neighbours_nothing_changes() -> None:
    assert with_neighbours({"a": 0.1, "b": 0.2}, {}) == {"b": 0.2, "a": 0.1}
