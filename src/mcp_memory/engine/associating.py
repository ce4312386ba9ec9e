"""Follows associations from the memories that were found to those that belong with them."""

from collections.abc import Mapping

from mcp_memory.ranking.fusion import best_first
from mcp_memory.ranking.spreading import reached
from mcp_memory.storage import Transaction

SEEDS = 20
"""How many of the best matches are followed."""

FACTORS: Mapping[str, float] = {
    "updates": 1.5,
    "caused_by": 1.3,
    "result_of": 1.3,
    "related_to": 1.0,
    "part_of": 0.8,
    "contradicts": 0.5,
}
"""What a type of association makes of its weight: what replaces or explains is wanted most."""

LEADING_ON = frozenset({"related_to", "part_of"})
"""Only these are followed a second time: the update of a cause of something is too far from it."""


def associated(tx: Transaction, scores: Mapping[int, float]) -> dict[int, float]:
    """What the best matches are associated with, at most two steps away, with the score that reaches it."""
    seeds = dict(list(best_first(scores).items())[:SEEDS])
    edges = tx.associations.edges(seeds)
    near = reached(seeds, ((e.source_seq, e.target_seq, e.weight * FACTORS.get(e.type, 1.0)) for e in edges))
    leading = {seq for e in edges if e.type in LEADING_ON for seq in (e.source_seq, e.target_seq)}
    bridge = {seq: score for seq, score in near.items() if seq in leading and seq not in seeds}
    further = reached(
        bridge,
        (
            (e.source_seq, e.target_seq, e.weight * FACTORS[e.type])
            for e in tx.associations.edges(bridge)
            if e.type in LEADING_ON
        ),
    )
    return {seq: max(near.get(seq, 0.0), further.get(seq, 0.0)) for seq in {**near, **further}}
