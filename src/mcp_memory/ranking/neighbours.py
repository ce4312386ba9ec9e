"""What stands next to a good answer in the same conversation is more likely to belong to it."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from mcp_memory.ranking.fusion import best_first

K = TypeVar("K", bound=Hashable)

SHARE = 0.2  # +5 points of recall@10 on long conversations, harmless elsewhere; 0.5 does harm


def with_neighbours(
    scores: Mapping[K, float], neighbours: Mapping[K, Iterable[K]], share: float = SHARE
) -> dict[K, float]:
    """Each score plus a share of its best neighbour's, best first.

    `neighbours` names what came right before and after, in the same session only.
    """
    return best_first(
        {
            key: score
            + share * max((scores.get(other, 0.0) for other in neighbours.get(key, ())), default=0.0)
            for key, score in scores.items()
        }
    )
