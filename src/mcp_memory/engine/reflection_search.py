"""Search plan over reflections: by meaning and words, recent ones first."""

from collections.abc import Mapping
from dataclasses import dataclass

from mcp_memory.engine.candidates import Candidates, gather
from mcp_memory.engine.pipeline import Note, Question, Ranking
from mcp_memory.model import Reflection
from mcp_memory.ranking.fusion import best_first, rrf
from mcp_memory.ranking.limbic import LimbicWeights, temporal_factor
from mcp_memory.storage import Transaction

OVER_FETCH = 3
"""Candidates from each list, per result that is wanted."""

FADING = LimbicWeights()
"""Decay of reflections, the same as of entities."""


@dataclass(frozen=True, slots=True)
class ReflectionHit:
    reflection: Reflection
    score: float
    """0 to 1: how well it fits, faded by its age."""


@dataclass(frozen=True, slots=True)
class ReflectionAnswer:
    mode: str
    hits: tuple[ReflectionHit, ...]


ReflectionRanking = Ranking[Candidates, Reflection]


@dataclass(frozen=True, slots=True)
class ReflectionPlan:
    limit: int
    author: str | None = None
    mood: str | None = None
    target_type: str | None = None

    def candidates(self, tx: Transaction, question: Question) -> Candidates:
        allowed = tx.reflections.allowed(author=self.author, mood=self.mood, target_type=self.target_type)
        return gather(tx, "reflection", question, allowed, self.limit * OVER_FETCH)

    def fuse(self, question: Question, candidates: Candidates) -> dict[int, float]:
        """The fused ranks, scaled so that first in every list is 1, with the cosine where there is one."""
        near = candidates.nearest
        lists = [ranking for ranking in (list(near), list(candidates.words)) if ranking]
        fused = rrf(lists)
        highest = sum(rrf([[0]]).values()) * max(len(lists), 1)
        if not near:
            return {seq: score / highest for seq, score in fused.items()}
        return {
            seq: (score / highest + min(1.0, max(0.0, near.get(seq, 0.0)))) / 2
            for seq, score in fused.items()
        }

    def rerank(
        self, tx: Transaction, candidates: Candidates, matches: Mapping[int, float]
    ) -> ReflectionRanking:
        found = tx.reflections.fetch(matches)
        scores = {
            seq: fit * temporal_factor(found[seq].created_at, tx.at, FADING)
            for seq, fit in matches.items()
            if seq in found
        }
        return Ranking(candidates, best_first(scores), found)

    def hydrate(self, tx: Transaction, question: Question, ranking: ReflectionRanking) -> ReflectionAnswer:
        best = list(ranking.scores.items())[: self.limit]
        hits = tuple(ReflectionHit(ranking.factors[seq], score) for seq, score in best)
        return ReflectionAnswer(question.meaning.mode("hybrid"), hits)

    def remember(
        self, question: Question, ranking: ReflectionRanking, answer: ReflectionAnswer
    ) -> Note | None:
        """Nothing: reflections do not fade by use."""
        return None
