import pytest

from mcp_memory.ranking.fusion import calibrated, min_max, rrf, weighted


@pytest.mark.seed("003 fusion")
def test_reciprocal_ranks_are_summed_from_rank_one_with_k_sixty() -> None:
    # a: 1/61 + 1/62; b: 1/62 + 1/61; c: 1/63; d: 1/63
    assert rrf([["a", "b", "c"], ["b", "a", "d"]]) == pytest.approx(
        {"a": 0.0325225, "b": 0.0325225, "c": 0.0158730, "d": 0.0158730}, abs=1e-7
    )


def test_reciprocal_rank_fusion_is_best_first_and_equals_keep_their_order() -> None:
    assert list(rrf([["a", "b", "c"], ["c"]])) == ["c", "a", "b"]
    assert list(rrf([["x"], ["y"]])) == ["x", "y"]


def test_a_key_that_repeats_in_one_list_counts_once() -> None:
    assert rrf([["a", "a", "b"]]) == {"a": 1 / 61, "b": 1 / 62}


def test_reciprocal_rank_fusion_takes_another_k() -> None:
    assert rrf([["a"], ["a"]], k=1) == {"a": 1.0}


def test_min_max_moves_scores_between_nought_and_one() -> None:
    assert min_max({"a": 10.0, "b": 4.0, "c": 2.0}) == {"a": 1.0, "b": 0.25, "c": 0.0}


def test_a_floor_keeps_the_last_of_a_short_list_from_becoming_nought() -> None:
    assert min_max({"a": 10.0, "b": 8.0}, floor=0.0) == {"a": 1.0, "b": 0.8}


def test_a_ceiling_keeps_a_poor_best_from_becoming_one() -> None:
    assert min_max({"a": 2.0, "b": 1.0}, floor=0.0, ceiling=8.0) == {"a": 0.25, "b": 0.125}


def test_scores_outside_the_given_bounds_are_clamped() -> None:
    assert min_max({"a": -1.0, "b": 9.0}, floor=0.0, ceiling=8.0) == {"a": 0.0, "b": 1.0}


def test_equal_scores_are_all_the_best() -> None:
    assert min_max({"a": 3.0, "b": 3.0}) == {"a": 1.0, "b": 1.0}
    assert min_max({"a": 0.0}, floor=0.0) == {"a": 1.0}
    assert min_max({"a": -2.0, "b": -1.0}, floor=0.0) == {"a": 0.0, "b": 1.0}


def test_nothing_normalises_to_nothing() -> None:
    assert min_max({}) == {}


@pytest.mark.parametrize(
    ("cosine", "unrelated", "expected"),
    [
        (0.6, 0.2, 0.5),
        (1.0, 0.2, 1.0),
        (0.1, 0.2, 0.0),
        (0.875, 0.75, 0.5),
        (0.3, 0.0, 0.3),
        (-1.0, 0.0, 0.0),
    ],
)
def test_a_calibrated_cosine_counts_from_what_unrelated_texts_have(
    cosine: float, unrelated: float, expected: float
) -> None:
    assert calibrated(cosine, unrelated) == pytest.approx(expected)


def test_the_weighted_score_is_forty_percent_words_and_sixty_percent_meaning() -> None:
    fused = weighted({"both": 1.0, "words": 0.5}, {"both": 0.5, "meaning": 0.9})
    assert fused == pytest.approx({"both": 0.7, "meaning": 0.54, "words": 0.2})
    assert list(fused) == ["both", "meaning", "words"]


def test_the_weights_can_be_chosen() -> None:
    assert weighted({"a": 1.0}, {"a": 0.0}, alpha=0.3) == pytest.approx({"a": 0.3})
