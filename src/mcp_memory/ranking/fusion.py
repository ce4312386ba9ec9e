"""Rank fusion: several result lists combined into one."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from math import inf, nextafter
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mcp_memory.ranking.unit_vectors import Numbers

K = TypeVar("K", bound=Hashable)

RRF_K = 60  # Cormack, Clarke and Büttcher 2009; all three tool sets name it
ALPHA = 0.4  # the weight of words beside meaning in a hybrid score

DATED = 0.2
"""Relative bonus of a memory from the period that the query names."""

OVERVIEW = 0.55
"""The same for a request for an overview: its vector is mostly that of the request's own frame."""

INSTRUCTED = 0.08
"""Bonus of the best match among standing instructions: questions rarely share its words."""

FIRST_RESULTS, APPLICABLE = 10, 0.5
"""That instruction is among so many results, if it has this share of the last one's score."""


def rrf(rankings: Iterable[Sequence[K]], k: int = RRF_K) -> dict[K, float]:
    """Reciprocal rank fusion, best first: each list gives 1 / (k + rank), ranks from 1."""
    scores: dict[K, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            scores[key] = scores.get(key, 0.0) + 1 / (k + rank)
    return best_first(scores)


def min_max(
    scores: Mapping[K, float], *, floor: float | None = None, ceiling: float | None = None
) -> dict[K, float]:
    """Scores scaled to 0..1, between the smallest and the largest, or given bounds.

    In a short list even the smallest score is good, and scaling it to 0 loses up to six points of recall;
    pass `floor=0` for scores with a meaningful zero. Equal scores all become 1.
    """
    if not scores:
        return {}
    least, most = min(scores.values()), max(scores.values())
    low = least if floor is None else floor
    high = most if ceiling is None else ceiling
    if high <= low:
        return {key: float(score >= high) for key, score in scores.items()}
    if low <= least and most <= high:
        return {key: (score - low) / (high - low) for key, score in scores.items()}
    return {key: _clamped((score - low) / (high - low)) for key, score in scores.items()}


def calibrated(cosine: float, unrelated: float = 0.0) -> float:
    """A cosine on the scale of 0 (no better than unrelated texts) to 1 (the same text).

    `unrelated` is the cosine that a model gives texts which have nothing in common.
    """
    return _clamped((cosine - unrelated) / (1 - unrelated))


def calibrated_all(cosines: "Numbers", unrelated: float = 0.0) -> "Numbers":
    """The same for many."""
    return ((cosines - unrelated) / (1 - unrelated)).clip(0.0, 1.0)


def weighted(keyword: Mapping[K, float], semantic: Mapping[K, float], alpha: float = ALPHA) -> dict[K, float]:
    """`alpha` × keyword + (1 - `alpha`) × semantic, best first; what is in one list only gets its share."""
    found = {key: alpha * score for key, score in keyword.items()}
    for key, score in semantic.items():
        found[key] = found.get(key, 0.0) + (1 - alpha) * score
    return best_first(found)


def lifted(scores: Mapping[K, float], chosen: Collection[K], by: float) -> dict[K, float]:
    """The scores of the chosen raised by a part of themselves, best first; the others stay as they are."""
    return best_first({key: score * (1 + by) if key in chosen else score for key, score in scores.items()})


def with_instruction(scores: Mapping[K, float], instructions: Collection[K]) -> dict[K, float]:
    """Scores, that of the best instruction raised; the others stay as they are."""
    best = max((key for key in instructions if key in scores), key=lambda key: scores[key], default=None)
    if best is None:
        return dict(scores)
    own, raised = scores[best], scores[best] + INSTRUCTED
    others = sorted((score for key, score in scores.items() if key != best), reverse=True)
    if len(others) >= FIRST_RESULTS and own >= APPLICABLE * others[FIRST_RESULTS - 1]:
        raised = max(raised, nextafter(others[FIRST_RESULTS - 1], inf))
    return best_first({**scores, best: raised})


def best_first(scores: Mapping[K, float]) -> dict[K, float]:
    """The same scores in descending order; equals keep the order they came in."""
    return dict(sorted(scores.items(), key=itemgetter(1), reverse=True))


def _clamped(value: float) -> float:
    # Called for every candidate, several times: `min` and `max` cost three times as much.
    return value if 0.0 <= value <= 1.0 else float(value > 1.0)
