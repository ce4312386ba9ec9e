"""Spreading activation: relevance that flows from hits to connected items."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

SHARED = 0.2
"""Share of its neighbour's score that a turn of a conversation gets.

An answer is often next to the turn that the question matches. A higher share crowds out other memories that a
question about several needs (docs/quality.md).
"""

SHARED_BY_FACTS = 0.1
"""The same between unconnected facts that were stored one after the other."""

_GROWTH = 0.3


def share_of_neighbours(strength: float) -> float:
    """The share that neighbours give each other, by how far they are a conversation."""
    return min(SHARED, SHARED_BY_FACTS + _GROWTH * strength)


def shared_with_neighbours(
    scores: Mapping[K, float], pairs: Iterable[tuple[K, K]], share: float = SHARED
) -> dict[K, float]:
    """Scores, each raised by a share of its best neighbour's, up to 1."""
    best: dict[K, float] = {}
    for a, b in pairs:
        best[a] = max(best.get(a, 0.0), scores[b])
        best[b] = max(best.get(b, 0.0), scores[a])
    return {key: score + share * best.get(key, 0.0) * max(0.0, 1 - score) for key, score in scores.items()}


def reached(from_scores: Mapping[K, float], edges: Iterable[tuple[K, K, float]]) -> dict[K, float]:
    """The best score that each end of an edge gets from the other: that one's score × the edge's factor.

    Edges lead both ways. Nothing that spreads becomes more than where it came from.
    """
    gained: dict[K, float] = {}
    for a, b, factor in edges:
        for source, target in ((a, b), (b, a)):
            if source in from_scores:
                score = from_scores[source] * min(1.0, factor)
                gained[target] = max(gained.get(target, 0.0), score)
    return gained
