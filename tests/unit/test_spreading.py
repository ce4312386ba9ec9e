"""Relevance spreads to neighbours and along edges, and never grows on the way."""

import pytest

from mcp_memory.ranking.spreading import reached, shared_with_neighbours


def test_a_neighbour_of_a_good_match_is_raised_by_its_share() -> None:
    scores = shared_with_neighbours({"a": 1.0, "b": 0.5, "c": 0.5}, [("a", "b")], share=0.2)
    assert scores == pytest.approx({"a": 1.0, "b": 0.6, "c": 0.5})


def test_the_better_of_two_neighbours_counts() -> None:
    scores = shared_with_neighbours({"a": 0.2, "b": 0.0, "c": 0.8}, [("a", "b"), ("b", "c")], share=0.5)
    assert scores["b"] == pytest.approx(0.4)


def test_shared_scores_stay_within_0_and_1_and_keep_a_perfect_match_on_top() -> None:
    scores = shared_with_neighbours({"a": 1.0, "b": 0.99}, [("a", "b")])
    assert 0 <= scores["b"] < scores["a"] == 1.0


def test_an_edge_leads_both_ways() -> None:
    assert reached({"a": 0.8}, [("a", "b", 0.5), ("c", "a", 0.25)]) == pytest.approx({"b": 0.4, "c": 0.2})


def test_the_best_way_to_a_place_counts_once() -> None:
    assert reached({"a": 0.8, "b": 0.4}, [("a", "x", 0.5), ("b", "x", 0.9)]) == pytest.approx({"x": 0.4})


def test_nothing_becomes_more_than_where_it_came_from() -> None:
    assert reached({"a": 0.5}, [("a", "b", 1.5)]) == {"b": 0.5}


def test_edges_elsewhere_lead_nowhere() -> None:
    assert reached({"a": 0.5}, [("b", "c", 1.0)]) == {}
