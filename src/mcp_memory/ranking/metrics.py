"""Quality measures of a ranking, given the relevant results."""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def ndcg_at(k: int, ranking: Sequence[K], relevance: Mapping[K, float]) -> float:
    """Gain (2^relevance - 1), discounted by log2(rank + 1), over that of the best possible order.

    0 when nothing is relevant.
    """
    best = _dcg(sorted(relevance.values(), reverse=True)[:k])
    return _dcg([relevance.get(key, 0.0) for key in ranking[:k]]) / best if best else 0.0


def lift_at(k: int, ranking: Sequence[K], relevant: Collection[K]) -> float:
    """How many times denser in relevant items the first `k` are than the whole ranking; 0 without any."""
    among_all = recalled(ranking, relevant)
    if not among_all:
        return 0.0
    top = ranking[:k]
    return (recalled(top, relevant) / len(top)) / (among_all / len(ranking))


def recall_at(k: int, ranking: Sequence[K], relevant: Collection[K]) -> float:
    """Recall at `k`; 0 when nothing is relevant."""
    return recalled(ranking[:k], relevant) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[K], relevant: Collection[K]) -> float:
    """1 / the rank of the first relevant item; 0 when there is none."""
    return next((1 / rank for rank, key in enumerate(ranking, start=1) if key in relevant), 0.0)


def mrr(searches: Sequence[tuple[Sequence[K], Collection[K]]]) -> float:
    """The mean reciprocal rank over (ranking, relevant) pairs; 0 for no searches."""
    if not searches:
        return 0.0
    return sum(reciprocal_rank(ranking, relevant) for ranking, relevant in searches) / len(searches)


def recalled(ranking: Sequence[K], relevant: Collection[K]) -> int:
    """How many of the items are relevant."""
    return sum(key in relevant for key in ranking)


def _dcg(gains: Sequence[float]) -> float:
    return sum((2**gain - 1) / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
