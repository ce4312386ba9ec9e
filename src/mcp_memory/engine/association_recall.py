"""Brings memories up together: what words and meaning find, and what is associated with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mcp_memory.engine.candidates import Candidates
from mcp_memory.model import Filter
from mcp_memory.ranking.fusion import best_first, rrf
from mcp_memory.ranking.spreading import reached
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts

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

IMPORTANCE = 0.2
"""How far importance moves a relevance: by a tenth up, at most, or a tenth down."""


@dataclass(frozen=True, slots=True)
class Recollection:
    """What came up, and through which of the three lists."""

    evidence: Candidates
    reached: Mapping[int, float]
    """The score that associations gave."""
    relevance: Mapping[int, float]
    standing: Mapping[int, RankingFacts]
    lists: Mapping[str, Sequence[int]]
    fused: Mapping[int, float]
    """Reciprocal ranks over the lists, best first."""

    def curated(self, most: int) -> dict[int, float]:
        """The best by rank in order of relevance and importance; what was superseded after all others."""
        scores = {seq: self.relevance[seq] * self.weight(seq) for seq in list(self.fused)[:most]}
        current = {seq: score for seq, score in scores.items() if not self.standing[seq].superseded}
        least = min(current.values(), default=1.0)
        past = {seq: min(score, least) for seq, score in scores.items() if seq not in current}
        return {**best_first(current), **best_first(past)}

    def weight(self, seq: int) -> float:
        """What importance makes of a relevance; like confidence, it fades unless the memory is pinned."""
        standing = self.standing[seq]
        return 1 - IMPORTANCE / 2 + IMPORTANCE * standing.importance * standing.effective_confidence

    def explained(self, seq: int) -> dict[str, Any]:
        return {
            "ranks": {name: seqs.index(seq) + 1 for name, seqs in self.lists.items() if seq in seqs},
            "rrf": self.fused[seq],
            "association": self.reached.get(seq),
            "importance_factor": self.weight(seq),
            "superseded": self.standing[seq].superseded,
        }


def recollect(
    tx: Transaction,
    evidence: Candidates,
    matches: Mapping[int, float],
    filter: Filter,
    *,
    half_life: timedelta,
    pool: int,
) -> Recollection:
    """Put together what matches, by words and by meaning, and what its associations lead to."""
    found = associated(tx, matches)
    standing = {**evidence.standing, **tx.memories.standing(found, filter, half_life=half_life)}
    near = {seq: score for seq, score in found.items() if seq in standing}
    relevance = {seq: max(matches.get(seq, 0.0), near.get(seq, 0.0)) for seq in {**matches, **near}}
    lists = {
        "words": list(best_first(evidence.keyword))[:pool],
        "vectors": [seq for seq in best_first(evidence.cosine) if seq in matches][:pool],
        "associations": list(best_first(relevance))[:pool],
    }
    return Recollection(evidence, near, relevance, standing, lists, rrf(lists.values()))


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
