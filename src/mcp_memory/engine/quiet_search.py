"""Search for injection: it records no usage, and gives a certainty for each result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mcp_memory.engine.context import Context
from mcp_memory.engine.indexing import Meaning
from mcp_memory.engine.memory_candidates import MemoryCandidates
from mcp_memory.engine.memory_search import MemoryPlan, Wanted
from mcp_memory.engine.pipeline import Note, Question, Ranking, ask, search
from mcp_memory.model import Filter, Memory
from mcp_memory.ranking.certainty import certainty, coverage, rarity
from mcp_memory.ranking.decay import fading_factor
from mcp_memory.ranking.fusion import best_first
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts
from mcp_memory.text.words import tokens

CERTAINTY_WEIGHT = 0.4
"""Weight of certainty against the fused score when ordering the best: it finds one more in a hundred."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A memory with its scores."""

    memory: Memory
    score: float
    """Relative to the other results."""
    cosine: float
    """0 where there is no model."""
    certainty: float
    """Comparable between searches; without a model, only the share of the query's words."""
    space: str = ""
    """Where it was found, if that is not the caller's own space."""


@dataclass(frozen=True, slots=True)
class QuietAnswer:
    found: tuple[Found, ...]
    by_meaning: bool


@dataclass(frozen=True)
class QuietSearch:
    """Keywords and vectors fused, with gentle fading; results do not count as used."""

    plan: MemoryPlan

    def candidates(self, tx: Transaction, question: Question) -> MemoryCandidates:
        return self.plan.gathered(tx, question, self.plan.wanted.filter)

    def fuse(self, question: Question, candidates: MemoryCandidates) -> dict[int, float]:
        return self.plan.matched(question, candidates)

    def rerank(
        self, tx: Transaction, candidates: MemoryCandidates, matches: Mapping[int, float]
    ) -> Ranking[MemoryCandidates, RankingFacts]:
        facts = candidates.facts
        scores = {
            seq: score * fading_factor(facts[seq].effective_confidence, "gentle")
            for seq, score in matches.items()
        }
        return Ranking(candidates, best_first(scores), facts)

    def hydrate(
        self, tx: Transaction, question: Question, ranking: Ranking[MemoryCandidates, RankingFacts]
    ) -> QuietAnswer:
        pool = tx.memories.fetch(ranking.scores)
        words = {seq: frozenset(tokens(memory.content)) for seq, memory in pool.items()}
        weights = rarity(question.terms, list(words.values()))
        count = tx.memories.count(self.plan.wanted.filter, half_life=self.plan.tuning.half_life)
        by_meaning = isinstance(question.meaning, Meaning)
        candidates = ranking.candidates.found

        def certain(seq: int) -> float:
            covered = coverage(words[seq], weights)
            return certainty(candidates.semantic(seq), covered, count) if by_meaning else covered

        found = [
            Found(
                memory=memory,
                score=min(1.0, ranking.scores[seq]),
                cosine=candidates.cosine.get(seq, 0.0),
                certainty=certain(seq),
            )
            for seq, memory in list(pool.items())[: self.plan.wanted.limit]
        ]
        return QuietAnswer(tuple(found), by_meaning)

    def remember(
        self, question: Question, ranking: Ranking[MemoryCandidates, RankingFacts], answer: QuietAnswer
    ) -> Note | None:
        return None


def look(context: Context, text: str, filter: Filter, *, limit: int) -> QuietAnswer:
    """Memories that a text of any length may refer to, best first."""
    query = " ".join(text.split())[: context.limits.query_length].encode("utf-8", "ignore").decode()
    if not query.replace("\0", ""):
        return QuietAnswer((), False)
    plan = QuietSearch(MemoryPlan(context.tuning, Wanted(filter=filter, limit=limit)))
    question = ask(context, query.replace("\0", " "), "memory")
    answer = search(context, question, plan)
    others = [
        replace(one, space=further.caller.space)
        for further in context.further
        for one in search(further, question, plan).found
    ]
    return QuietAnswer(tuple(sorted((*answer.found, *others), key=_surest_first)[:limit]), answer.by_meaning)


def _surest_first(one: Found) -> float:
    return -(one.score + CERTAINTY_WEIGHT * one.certainty)
