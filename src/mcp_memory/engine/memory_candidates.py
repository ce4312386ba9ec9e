"""Candidate memories of a query, by words, by meaning and by their surroundings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mcp_memory.engine.candidates import Candidates, gather
from mcp_memory.engine.memory_reader import MemoryReader
from mcp_memory.engine.pipeline import Question
from mcp_memory.engine.read_turns import MOST_READ, TurnReader
from mcp_memory.engine.surroundings import Surroundings, read_in_context
from mcp_memory.model import Filter
from mcp_memory.ranking.fusion import DATED, OVERVIEW, lifted, min_max, weighted, with_instruction
from mcp_memory.ranking.spreading import share_of_neighbours, shared_with_neighbours
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts
from mcp_memory.text.dates import is_from
from mcp_memory.text.instructions import is_instruction
from mcp_memory.tuning import Tuning


@dataclass(frozen=True)
class MemoryCandidates:
    """Candidate memories, with their ranking facts."""

    found: Candidates
    facts: Mapping[int, RankingFacts]
    context: Surroundings
    terms: Sequence[str] = ()
    """The words of the query."""
    dated: frozenset[int] = frozenset()
    """Candidates from the period that the query names."""
    instructions: frozenset[int] = frozenset()
    """Candidates that say how to answer."""

    def by_words(self) -> dict[int, float]:
        return self._of_that_time(self._in_company(self.keyword))

    def by_meaning(self, least_cosine: float) -> dict[int, float]:
        least = max(least_cosine, self.found.unrelated)
        near = {seq: self.found.semantic(seq) for seq, cosine in self.found.cosine.items() if cosine >= least}
        return self._of_that_time(self._in_company(near))

    def by_both(self, keyword_weight: float) -> dict[int, float]:
        """All memories that share a keyword with the query or are closer to it than unrelated texts are."""
        scores = weighted(self.keyword, self.semantic, keyword_weight)
        together = self._in_company(self.context.in_dialogue(scores, self.terms))
        return self._of_that_time(with_instruction(together, self.instructions))

    @cached_property
    def keyword(self) -> dict[int, float]:
        """BM25 including surroundings and bonuses for proximity and phrases; the best is 1."""
        words = min_max({**self.found.words, **self.context.words}, floor=0.0)
        readings = self.context.close_reading
        read = {
            seq: score + readings[seq].bonus if seq in readings else score for seq, score in words.items()
        }
        return min_max(read, floor=0.0)

    @cached_property
    def semantic(self) -> dict[int, float]:
        return {**self.found.related, **self.context.meaning}

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
    if "stems" in tuning.without:
        question = replace(question, by_language=False)
    reader = MemoryReader(tx, filter, half_life)
    allowed = tx.memories.allowed(filter, half_life=half_life)
    turn_reader = TurnReader(tx, question, reader)
    found = gather(tx, "memory", question, allowed, pool, turn_reader)
    if "language" in tuning.without:
        found = replace(found, worth=1.0)
    first = weighted(found.keyword, found.related, keyword_weight(tuning, question))
    reader.known_facts([*found.words, *found.cosine])
    context = read_in_context(question, found, list(first), turn_reader, tuning.without)
    facts = {seq: own for seq, own in reader.known_facts().items() if own is not None}
    dated = frozenset() if "dates" in tuning.without else _dated(question, context, facts)
    instructions = frozenset(
        seq
        for seq, text in context.texts.items()
        if "instructions" not in tuning.without and is_instruction(text)
    )
    return MemoryCandidates(found, facts, context, question.terms, dated, instructions)


def _dated(question: Question, context: Surroundings, facts: Mapping[int, RankingFacts]) -> frozenset[int]:
    """Memories stored in the period that the query names, or read closely and mentioning it."""
    if not question.dates:
        return frozenset()
    return frozenset(
        seq
        for seq, own in facts.items()
        if is_from(question.dates, context.texts.get(seq, "")[:MOST_READ], own.created_at.date())
    )


def keyword_weight(tuning: Tuning, question: Question) -> float:
    """The weight of keywords against vectors; an ablation leaves out one of the two."""
    if "words" in tuning.without:
        return 0.0
    if "meaning" in tuning.without:
        return 1.0
    overview = "overview" not in tuning.without and question.asks_for_overview
    return max(tuning.keyword_weight, OVERVIEW) if overview else tuning.keyword_weight
