"""Memories that a query may mean, by words, by meaning and in their surroundings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mcp_memory.engine.candidates import Candidates, gather
from mcp_memory.engine.pipeline import Question
from mcp_memory.engine.surroundings import MOST_READ, Surroundings, read_in_context
from mcp_memory.model import Filter
from mcp_memory.ranking.fusion import DATED, lifted, min_max, weighted
from mcp_memory.ranking.spreading import share_of_neighbours, shared_with_neighbours
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts
from mcp_memory.text.dates import is_from
from mcp_memory.tuning import Tuning

READ_CLOSELY = 50
"""Of how many of the best candidates the surroundings are read."""


@dataclass(frozen=True)
class MemoryCandidates:
    """Memories that may be meant, with what ranking must know of them."""

    found: Candidates
    facts: Mapping[int, RankingFacts]
    context: Surroundings
    terms: Sequence[str] = ()
    """The words of the query."""
    dated: frozenset[int] = frozenset()
    """Candidates from the time that is asked for."""

    def by_words(self) -> dict[int, float]:
        return self._of_that_time(self._in_company(self.keyword))

    def by_meaning(self, least_cosine: float) -> dict[int, float]:
        least = max(least_cosine, self.found.unrelated)
        near = {seq: self.found.semantic(seq) for seq, cosine in self.found.cosine.items() if cosine >= least}
        return self._of_that_time(self._in_company(near))

    def by_both(self, keyword_weight: float) -> dict[int, float]:
        """Everything that holds a word of the query or means more than an unrelated text."""
        scores = weighted(self.keyword, self.semantic, keyword_weight)
        return self._of_that_time(self._in_company(self.context.in_dialogue(scores, self.terms)))

    @cached_property
    def keyword(self) -> dict[int, float]:
        """BM25 with the words of the surroundings and what close reading adds, the best being 1."""
        words = min_max({**self.found.words, **self.context.words}, floor=0.0)
        readings = self.context.close_reading
        read = {
            seq: score + readings[seq].bonus if seq in readings else score for seq, score in words.items()
        }
        return min_max(read, floor=0.0)

    @cached_property
    def semantic(self) -> dict[int, float]:
        return {**_related(self.found), **self.context.meaning}

    def _of_that_time(self, scores: dict[int, float]) -> dict[int, float]:
        return lifted(scores, self.dated, DATED) if self.dated else scores

    def _in_company(self, scores: Mapping[int, float]) -> dict[int, float]:
        if not self.context.shares:
            return dict(scores)
        pairs = (
            (before, seq)
            for seq, (before, _) in self.context.around.items()
            if before in scores and seq in scores
        )
        share = share_of_neighbours(self.context.strength)
        return shared_with_neighbours(scores, ((a, b) for a, b in pairs if a is not None), share)


def gather_memories(
    tx: Transaction,
    question: Question,
    filter: Filter,
    *,
    tuning: Tuning,
    pool: int,
) -> MemoryCandidates:
    """Candidates among the memories that the filter lets through, the best of them in their surroundings."""
    half_life = tuning.half_life
    found = gather(tx, "memory", question, tx.memories.allowed(filter, half_life=half_life), pool)
    if "language" in tuning.without:
        found = replace(found, worth=1.0)
    first = weighted(found.keyword, _related(found), keyword_weight(tuning))

    def facts_of(seqs: Iterable[int]) -> dict[int, RankingFacts]:
        return tx.memories.standing(seqs, filter, half_life=half_life)

    facts = facts_of({**found.words, **found.cosine})
    context = read_in_context(
        tx, question, found, list(first)[:READ_CLOSELY], facts, facts_of, tuning.without
    )
    dated = frozenset() if "dates" in tuning.without else _dated(question, context)
    return MemoryCandidates(found, context.facts, context, question.terms, dated)


def _dated(question: Question, context: Surroundings) -> frozenset[int]:
    """Memories made in the time that is asked for; of those that were read, also what names that time."""
    if not question.dates:
        return frozenset()
    return frozenset(
        seq
        for seq, facts in context.facts.items()
        if is_from(question.dates, context.texts.get(seq, "")[:MOST_READ], facts.created_at.date())
    )


def keyword_weight(tuning: Tuning) -> float:
    """The weight of words beside meaning; an ablation leaves one of both out."""
    if "words" in tuning.without:
        return 0.0
    return 1.0 if "meaning" in tuning.without else tuning.keyword_weight


def _related(found: Candidates) -> dict[int, float]:
    return {seq: found.semantic(seq) for seq, cosine in found.cosine.items() if cosine > found.unrelated}
