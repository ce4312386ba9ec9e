"""Search plan for agents: hits by words and meaning, and memories associated with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_memory.engine.memory_candidates import MemoryCandidates
from mcp_memory.engine.memory_search import Answer, MemoryPlan, parts
from mcp_memory.engine.pipeline import Question, Ranking
from mcp_memory.ranking.fusion import best_first, rrf
from mcp_memory.ranking.spreading import reached
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts

SEEDS = 20
"""How many of the best matches have their associations followed."""

FACTORS: Mapping[str, float] = {
    "updates": 1.5,
    "caused_by": 1.3,
    "result_of": 1.3,
    "related_to": 1.0,
    "part_of": 0.8,
    "contradicts": 0.5,
}
"""Factor on an association's weight, by type: replacements and explanations count most."""

LEADING_ON = frozenset({"related_to", "part_of"})
"""Types that are followed for a second step. Others lead too far away by then."""

IMPORTANCE = 0.2
"""Importance changes a relevance by at most a tenth, up or down."""


CURATED = 3
"""How many candidates per wanted result are re-ranked after the lists were fused by rank."""


@dataclass(frozen=True)
class AssociationSearch(MemoryPlan):
    """Words, vectors and associations, fused by rank; the best of them in the order of relevance."""

    def candidates(self, tx: Transaction, question: Question) -> MemoryCandidates:
        return self.gathered(tx, question, self.wanted.filter)

    def fuse(self, question: Question, candidates: MemoryCandidates) -> dict[int, float]:
        return self.matched(question, candidates)

    def rerank(
        self, tx: Transaction, candidates: MemoryCandidates, matches: Mapping[int, float]
    ) -> Ranking[MemoryCandidates, RankingFacts]:
        found = associated(tx, matches)
        half_life = self.tuning.half_life
        facts = {
            **candidates.facts,
            **tx.memories.ranking_facts(found, self.wanted.filter, half_life=half_life),
        }
        near = {seq: score for seq, score in found.items() if seq in facts}
        relevance = {seq: max(matches.get(seq, 0.0), near.get(seq, 0.0)) for seq in {**matches, **near}}
        lists = self._lists(candidates, matches, relevance)
        fused = rrf(lists.values())
        # A strong association of the best match is in one list only: fusion by rank alone would drop it.
        chosen = [*list(fused)[: CURATED * self.wanted.limit], *lists["associations"][: self.wanted.limit]]
        curated = {seq: relevance[seq] for seq in dict.fromkeys(chosen)}

        def explained(seq: int) -> dict[str, Any]:
            return {
                **parts(candidates, seq),
                "ranks": {name: seqs.index(seq) + 1 for name, seqs in lists.items() if seq in seqs},
                "rrf": fused[seq],
                "association": near.get(seq),
                "importance_factor": importance_factor(facts[seq]),
                "superseded": facts[seq].superseded,
            }

        # Dropped candidates are not shown, but count towards the total.
        rest = dict.fromkeys(fused.keys() - curated.keys(), 0.0)
        return Ranking(candidates, {**_ordered(curated, facts), **rest}, facts, explained)

    def hydrate(
        self, tx: Transaction, question: Question, ranking: Ranking[MemoryCandidates, RankingFacts]
    ) -> Answer:
        return Answer(
            mode=question.meaning.mode("hybrid"), hits=self.hits(tx, ranking), total=len(ranking.scores)
        )

    def _lists(
        self, candidates: MemoryCandidates, matches: Mapping[int, float], relevance: Mapping[int, float]
    ) -> dict[str, list[int]]:
        return {
            "words": list(best_first(candidates.keyword))[: self.wanted.pool],
            "vectors": [seq for seq in best_first(candidates.semantic) if seq in matches][: self.wanted.pool],
            "associations": list(best_first(relevance))[: self.wanted.pool],
        }


def importance_factor(facts: RankingFacts) -> float:
    """Relevance weighted by importance, which fades like confidence unless the memory is pinned."""
    return 1 - IMPORTANCE / 2 + IMPORTANCE * facts.importance * facts.effective_confidence


def _ordered(relevance: Mapping[int, float], facts: Mapping[int, RankingFacts]) -> dict[int, float]:
    """By relevance and importance, best first; superseded memories after all others."""
    scores = {seq: score * importance_factor(facts[seq]) for seq, score in relevance.items()}
    current = {seq: score for seq, score in scores.items() if not facts[seq].superseded}
    least = min(current.values(), default=1.0)
    past = {seq: min(score, least) for seq, score in scores.items() if seq not in current}
    return {**best_first(current), **best_first(past)}


def associated(tx: Transaction, scores: Mapping[int, float]) -> dict[int, float]:
    """Memories associated with the best matches, at most two steps away, with the score that reaches them."""
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
