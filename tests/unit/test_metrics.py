import pytest

from mcp_memory.ranking.metrics import lift_at, mrr, ndcg_at, recall_at, reciprocal_rank


@pytest.mark.seed("002 tuning")
def test_ndcg_discounts_by_the_log_of_the_rank() -> None:
    # (1/log2(3) + 1/log2(4)) / (1/log2(2) + 1/log2(3)) = 1.130930 / 1.630930
    assert ndcg_at(5, ["x", "a", "b"], {"a": 1, "b": 1}) == pytest.approx(0.693426, abs=1e-6)


def test_ndcg_weighs_graded_relevance_exponentially() -> None:
    # (3/1 + 7/log2(3)) / (7/1 + 3/log2(3)) = 7.416508 / 8.892789
    assert ndcg_at(2, ["b", "a"], {"a": 3, "b": 2}) == pytest.approx(0.833991, abs=1e-6)


def test_ndcg_looks_at_the_first_k_only() -> None:
    assert ndcg_at(1, ["x", "a"], {"a": 1}) == 0.0
    assert ndcg_at(1, ["a", "b"], {"a": 1, "b": 1}) == 1.0


def test_ndcg_is_nought_when_nothing_is_relevant() -> None:
    assert ndcg_at(5, ["a"], {}) == ndcg_at(5, ["a"], {"a": 0}) == 0.0


def test_lift_compares_the_density_of_the_top_with_the_whole() -> None:
    # 2 of 2 in the top against 2 of 5 in all
    assert lift_at(2, ["a", "b", "x", "y", "z"], {"a", "b"}) == pytest.approx(2.5)
    assert lift_at(2, ["x", "y", "a"], {"a"}) == 0.0
    assert lift_at(5, ["x", "a"], {"a"}) == 1.0
    assert lift_at(5, ["x"], {"a"}) == lift_at(5, [], {"a"}) == 0.0


def test_recall_is_the_share_of_the_relevant_that_was_found() -> None:
    assert recall_at(2, ["a", "x", "b"], {"a", "b"}) == 0.5
    assert recall_at(3, ["a", "x", "b"], {"a", "b"}) == 1.0
    assert recall_at(3, ["a"], set()) == 0.0


def test_the_reciprocal_rank_is_that_of_the_first_relevant_item() -> None:
    assert reciprocal_rank(["x", "a", "b"], {"a", "b"}) == 0.5
    assert reciprocal_rank(["x"], {"a"}) == 0.0


def test_mrr_is_the_mean_over_searches() -> None:
    assert mrr([(["a"], {"a"}), (["x", "a"], {"a"}), (["x"], {"a"})]) == pytest.approx(0.5)
    assert mrr([]) == 0.0
