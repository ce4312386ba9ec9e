import pytest

from mcp_memory.ranking.spreading import reached, shared_with_neighbours


def test_a_fifth_of_the_best_neighbours_score_fills_what_is_missing_to_one() -> None:
    shared = shared_with_neighbours({"a": 0.5, "b": 0.9, "c": 0.2}, [("a", "b"), ("c", "a")])
    # a: 0.5 + 0.2 × 0.9 × 0.5; b: 0.9 + 0.2 × 0.5 × 0.1; c: 0.2 + 0.2 × 0.5 × 0.8
    assert shared == pytest.approx({"a": 0.59, "b": 0.91, "c": 0.28})


def test_the_share_can_be_chosen() -> None:
    assert shared_with_neighbours({"a": 0.0, "b": 1.0}, [("a", "b")], share=0.1) == pytest.approx(
        {"a": 0.1, "b": 1.0}
    )


def test_without_neighbours_nothing_changes() -> None:
    assert shared_with_neighbours({"a": 0.1, "b": 0.2}, []) == {"a": 0.1, "b": 0.2}


def test_both_ends_of_an_edge_are_reached_by_score_times_factor() -> None:
    assert reached({"a": 0.8}, [("a", "b", 0.5), ("c", "a", 0.25)]) == pytest.approx({"b": 0.4, "c": 0.2})


def test_the_best_way_counts_and_nothing_grows_on_its_way() -> None:
    edges = [("a", "c", 0.5), ("b", "c", 1.0), ("a", "d", 7.0)]
    assert reached({"a": 0.8, "b": 0.3}, edges) == pytest.approx({"c": 0.4, "d": 0.8})


def test_an_edge_between_strangers_reaches_nothing() -> None:
    assert reached({"a": 0.8}, [("x", "y", 1.0)]) == {}
