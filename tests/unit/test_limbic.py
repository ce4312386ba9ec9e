from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from mcp_memory.ranking.limbic import (
    CoOccurrence,
    EntityStanding,
    LimbicWeights,
    Matches,
    Scored,
    cached_decay,
    deboost,
    fused_relevance,
    guarded,
    importance,
    rank,
    temporal_factor,
    togetherness,
    weighed,
)

NOW = datetime(2026, 6, 1, tzinfo=UTC)
WEIGHTS = LimbicWeights()
HALF_LIFE = timedelta(hours=6931.4718)  # ln 2 / 0.0001


def usage(
    accesses: int = 0, *, degree: int = 0, days: int = 1, age: timedelta = timedelta()
) -> EntityStanding:
    return EntityStanding(
        created_at=NOW - timedelta(days=3000),
        last_access_at=NOW - age,
        access_count=accesses,
        active_days=days,
        degree=degree,
    )


class Candidate(NamedTuple):
    key: int
    standing: EntityStanding
    cosine: float | None
    words: float
    identifiers: float


def candidate(
    key: int,
    cosine: float | None = None,
    words: float = 0.0,
    used: EntityStanding | None = None,
    status: str = "",
    metadata_share: float = 0.0,
    identifiers: float = 0.0,
) -> Candidate:
    standing = (used or usage())._replace(status=status, metadata_share=metadata_share)
    return Candidate(key, standing, cosine, words, identifiers)


def matches(candidates: Sequence[Candidate]) -> Matches:
    columns = zip(*candidates, strict=True) if candidates else [()] * len(Matches._fields)
    return Matches(*map(list, columns))


def ranked(
    candidates: Sequence[Candidate],
    together: Sequence[CoOccurrence] = (),
    weights: LimbicWeights = WEIGHTS,
    *,
    unrelated: float = 0.0,
) -> list[Scored]:
    return rank(matches(candidates), together, NOW, weights, unrelated=unrelated)


def relevance(candidates: Sequence[Candidate], unrelated: float = 0.0) -> list[float]:
    return fused_relevance(matches(candidates), unrelated)


def order(candidates: Sequence[Candidate], unrelated: float = 0.0) -> list[int]:
    return [item.key for item in ranked(candidates, unrelated=unrelated)]


@pytest.mark.seed("002 limbic")
def test_importance_is_worked_out_from_accesses_relations_and_days() -> None:
    # log2(4)/log2(8) = 2/3; 1 + 0.15 × 5/15 = 1.05; 1 + 0.2 × log2(2)/log2(4) = 1.1
    # log2(8)/log2(8) = 1; degree 40 counts as 15: 1.15; 1 + 0.2 = 1.2
    usages = [usage(3, degree=5, days=1), usage(7, degree=40, days=3)]
    assert importance(usages, WEIGHTS) == pytest.approx([0.77, 1.38])


def test_days_do_not_count_while_nothing_was_used_on_two() -> None:
    assert importance([usage(1), usage(3)], WEIGHTS) == pytest.approx([0.5, 1.0])


def test_what_was_never_accessed_has_no_importance() -> None:
    assert importance([usage(degree=9), usage()], WEIGHTS) == [0.0, 0.0]
    assert importance([], WEIGHTS) == []


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (timedelta(), 1.0),
        (timedelta(hours=1000), 0.904837),
        (HALF_LIFE, 0.5),
        (timedelta(days=960), 0.1),
        (timedelta(days=-5), 1.0),
    ],
)
@pytest.mark.seed("002 limbic")
def test_the_temporal_factor_halves_in_289_days_and_stops_at_a_tenth(age: timedelta, expected: float) -> None:
    assert temporal_factor(NOW - age, NOW, WEIGHTS) == pytest.approx(expected, abs=1e-4)


def test_co_occurrence_is_the_decayed_log_of_how_often() -> None:
    pairs = [
        CoOccurrence(1, 2, 3, NOW),  # log2(4) = 2
        CoOccurrence(2, 3, 7, NOW - HALF_LIFE),  # log2(8) × 0.5 = 1.5
        CoOccurrence(1, 1, 99, NOW),  # with itself: means nothing
        CoOccurrence(3, 9, 99, NOW),  # 9 was not found
        CoOccurrence(9, 3, 99, NOW),
    ]
    assert togetherness([1, 2, 3], pairs, cached_decay(NOW, WEIGHTS)) == pytest.approx(
        {1: 2.0, 2: 3.5, 3: 1.5}, abs=1e-4
    )


@pytest.mark.seed("002 limbic")
def test_the_score_is_the_product_of_its_factors() -> None:
    used = [
        candidate(1, 0.8, used=usage(3, age=HALF_LIFE)),
        candidate(2, 0.7, used=usage(1)),
    ]
    [first, second] = ranked(used, [CoOccurrence(1, 2, 3, NOW)])
    # 2: 0.7 × (1 + 0.5 × 0.5) × 1 × (1 + 0.01 × 2) = 0.8925
    # 1: 0.8 × (1 + 0.5 × 1.0) × 0.5 × 1.02 = 0.612
    assert [first.key, second.key] == [2, 1]
    assert first.score == pytest.approx(0.8925)
    assert second.score == pytest.approx(0.612)
    assert (second.importance, second.temporal_factor, second.cooc_boost) == pytest.approx(
        (1.0, 0.5, 2.0), abs=1e-6
    )


def test_weights_can_be_tuned() -> None:
    weights = LimbicWeights(gamma=0.5, beta_sal=1.0)
    found = [candidate(1, 0.5, used=usage(1)), candidate(2, 0.5)]
    [first, _] = ranked(found, [CoOccurrence(1, 2, 1, NOW)], weights)
    assert first.score == pytest.approx(0.5 * (1 + 1.0 * 1.0) * (1 + 0.5 * 1.0))


def test_without_an_access_the_age_counts_from_creation() -> None:
    fresh = EntityStanding(created_at=NOW)
    old = EntityStanding(created_at=NOW - HALF_LIFE)
    [first, second] = ranked([candidate(1, 0.6, used=old), candidate(2, 0.6, used=fresh)])
    assert first.key == 2
    assert second.score == pytest.approx(0.3)


def test_words_and_meaning_are_fused_in_the_base() -> None:
    both = [candidate(1, 0.5, 1.0), candidate(2, 0.7), candidate(3, None, 0.5)]
    assert relevance(both) == pytest.approx([0.7, 0.42, 0.2])


def test_one_kind_of_evidence_alone_counts_whole() -> None:
    assert relevance([candidate(1, None, 0.8), candidate(2)]) == [0.8, 0.0]
    assert relevance([candidate(1, 0.6), candidate(2)], unrelated=0.2) == pytest.approx([0.5, 0.0])
    assert relevance([]) == []


def test_an_exact_identifier_comes_before_popular_look_alikes() -> None:
    wanted = candidate(1, 0.70, 1.0, usage(1, age=timedelta(days=2000)))
    alike = [candidate(key, 0.72, 0.1, usage(500, degree=15, days=90)) for key in range(2, 12)]
    assert order([*alike, wanted], unrelated=0.2)[0] == 1


def test_an_identifier_counts_as_much_as_all_other_evidence() -> None:
    found = [candidate(1, 0.5, 1.0, identifiers=1.0), candidate(2, 0.7, 0.5), candidate(3, identifiers=0.5)]
    assert relevance(found) == pytest.approx([(0.7 + 1) / 2, 0.62 / 2, 0.25])


def test_an_identifier_outweighs_any_likeness_and_any_use() -> None:
    wanted = candidate(1, None, 0.6, usage(0, age=timedelta(days=2000)), identifiers=1.0)
    alike = [candidate(key, 0.99, 0.5, usage(500, degree=15, days=90)) for key in range(2, 12)]
    assert order([*alike, wanted], unrelated=0.75)[0] == 1


def test_factors_that_were_kept_can_be_weighed_again() -> None:
    found = [candidate(1, 0.62), candidate(2, 0.60, used=usage(9))]
    without_use = LimbicWeights(beta_sal=0.0)
    again = weighed(ranked(found), without_use)
    assert again == ranked(found, weights=without_use)
    assert [item.key for item in again] == [1, 2]


def test_popularity_does_not_lift_the_unrelated_under_a_model_with_close_cosines() -> None:
    relevant = candidate(1, 0.88, used=usage(0, age=timedelta(days=900)))
    popular = candidate(2, 0.76, used=usage(1000, degree=15, days=200))
    together = [CoOccurrence(2, key, 10_000, NOW) for key in range(3, 60)]
    others = [candidate(key, 0.75) for key in range(3, 60)]
    first, second, *_ = ranked([popular, *others, relevant], together, unrelated=0.75)
    assert [first.key, second.key] == [1, 2]
    assert first.score >= second.score


def test_use_re_orders_results_of_like_relevance() -> None:
    assert order([candidate(1, 0.62), candidate(2, 0.60, used=usage(9))]) == [2, 1]


@pytest.mark.parametrize(
    ("status", "factor"),
    [
        ("activo", 1.0),
        ("pausado", 0.85),
        ("completado", 0.7),
        ("archivado", 0.5),
        ("Archived", 0.5),
        ("new", 1.0),
    ],
)
def test_status_takes_off_relevance(status: str, factor: float) -> None:
    assert deboost(candidate(1, status=status).standing) == factor


def test_an_entity_that_is_mostly_metadata_counts_less() -> None:
    assert deboost(candidate(1, metadata_share=0.5).standing) == 1.0
    assert deboost(candidate(1, metadata_share=0.51).standing) == 0.7
    assert deboost(candidate(1, status="archived", metadata_share=1.0).standing) == pytest.approx(0.35)


def test_a_de_boost_re_sorts() -> None:
    assert order([candidate(1, 0.8, status="archivado"), candidate(2, 0.6)]) == [2, 1]


def test_no_score_stands_above_one_that_is_clearly_more_relevant() -> None:
    relevances = [0.9, 0.7, 0.5, 0.0, 0.0]
    scores = [0.2, 0.6, 0.8, 0.9, 0.1]
    # The third and fourth are held by the first (0.9 ≥ 1.3 × 0.5); the second is of like relevance and stays.
    assert guarded(scores, relevances) == [0.2, 0.6, 0.2, 0.2, 0.1]


def test_nothing_found_is_ranked_as_nothing() -> None:
    assert ranked([]) == []
