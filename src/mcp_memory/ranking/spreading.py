"""How relevance spreads from what was found to what is connected with it."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

SHARED = 0.2
"""What a memory gets of the score of the one said right before or after it.

An answer often stands next to what the question names. Above 0.2 it begins to harm collections
of unconnected facts (docs/quality.md).
"""


def shared_with_neighbours(
    scores: Mapping[K, float], pairs: Iterable[tuple[K, K]], share: float = SHARED
) -> dict[K, float]:
    """Scores of 0..1, each raised by a share of its best neighbour's, and still 0..1."""
    best: dict[K, float] = {}
    for a, b in pairs:
        best[a] = max(best.get(a, 0.0), scores[b])
        best[b] = max(best.get(b, 0.0), scores[a])
    return {key: score + share * best.get(key, 0.0) * (1 - score) for key, score in scores.items()}


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
