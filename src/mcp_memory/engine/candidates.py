"""Candidates of a search: what words and vectors say about each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from mcp_memory.engine.indexing import ByWordsOnly, Meaning
from mcp_memory.engine.pipeline import Question
from mcp_memory.model import Filter, Owner
from mcp_memory.ranking.fusion import calibrated, min_max, weighted
from mcp_memory.ranking.spreading import shared_with_neighbours
from mcp_memory.storage import Transaction
from mcp_memory.storage.database import Allowed
from mcp_memory.storage.memories import RankingFacts

POOL = 100
"""Candidates from each list. Short lists lose what only both together would find."""

ONE_OCCASION = timedelta(hours=1)
"""Memories stored one after the other within this time are taken for parts of one conversation."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """By the numbers of what may be meant; a key missing in a mapping was not found that way."""

    words: Mapping[int, float]
    """BM25, best first."""
    nearest: Mapping[int, float]
    """Cosines of the nearest vectors, best first."""
    cosine: Mapping[int, float]
    """The cosine of every candidate that has a vector, also of those found by words alone."""
    unrelated: float
    """The cosine of texts that have nothing in common."""

    @property
    def keyword(self) -> dict[int, float]:
        """BM25 on a scale where the best is 1."""
        return min_max(self.words, floor=0.0)

    def semantic(self, seq: int) -> float:
        """The cosine on a scale from unrelated (0) to the same (1)."""
        return calibrated(self.cosine[seq], self.unrelated) if seq in self.cosine else 0.0


def gather(
    tx: Transaction, owner: Owner, question: Question, allowed: Allowed, pool: int = POOL
) -> Candidates:
    """Candidates by words and by meaning among what is allowed."""
    matching = dict(tx.indexes.matching(owner, question.terms, allowed, pool))
    return with_vectors(tx, owner, question.meaning, matching, allowed, pool)


def with_vectors(
    tx: Transaction,
    owner: Owner,
    meaning: Meaning | ByWordsOnly,
    words: Mapping[int, float],
    allowed: Allowed,
    pool: int,
) -> Candidates:
    """Add the nearest by meaning to what words have found, and the cosines of the latter."""
    if isinstance(meaning, ByWordsOnly):
        return Candidates(words, {}, {}, 0.0)
    nearest = dict(tx.indexes.nearest(owner, meaning.model, meaning.vector, allowed, pool))
    others = cosines(tx, owner, meaning, [seq for seq in words if seq not in nearest])
    return Candidates(words, nearest, {**nearest, **others}, meaning.unrelated_cosine)


def cosines(
    tx: Transaction, owner: Owner, meaning: Meaning | ByWordsOnly, seqs: Sequence[int]
) -> dict[int, float]:
    """The cosine of each that has a vector. What words alone have found is not unrelated in meaning."""
    if isinstance(meaning, ByWordsOnly) or not seqs:
        return {}
    import numpy as np

    vectors = tx.indexes.vectors(owner, meaning.model, seqs)
    if not vectors:
        return {}
    rows = np.stack([np.frombuffer(vector, "<f4") for vector in vectors.values()])
    return dict(zip(vectors, map(float, rows @ np.frombuffer(meaning.vector, "<f4")), strict=True))


@dataclass(frozen=True, slots=True)
class MemoryCandidates:
    """Memories that may be meant, with what ranking must know of them."""

    found: Candidates
    facts: Mapping[int, RankingFacts]

    def by_words(self) -> dict[int, float]:
        return self._in_company(self.found.keyword)

    def by_meaning(self, least_cosine: float) -> dict[int, float]:
        least = max(least_cosine, self.found.unrelated)
        return self._in_company(
            {seq: self.found.semantic(seq) for seq, cosine in self.found.cosine.items() if cosine >= least}
        )

    def by_both(self, keyword_weight: float) -> dict[int, float]:
        """Everything that holds a word of the query or means more than an unrelated text."""
        found = self.found
        semantic = {
            seq: found.semantic(seq) for seq, cosine in found.cosine.items() if cosine > found.unrelated
        }
        return self._in_company(weighted(found.keyword, semantic, keyword_weight))

    def _in_company(self, scores: Mapping[int, float]) -> dict[int, float]:
        return shared_with_neighbours(scores, _said_together(scores, self.facts))


def gather_memories(
    tx: Transaction, question: Question, filter: Filter, *, half_life: timedelta, pool: int
) -> MemoryCandidates:
    """Candidates among the memories that the filter lets through."""
    found = gather(tx, "memory", question, tx.memories.allowed(filter, half_life=half_life), pool)
    facts = tx.memories.standing({**found.words, **found.cosine}, filter, half_life=half_life)
    return MemoryCandidates(found, facts)


def _said_together(seqs: Iterable[int], facts: Mapping[int, RankingFacts]) -> Iterator[tuple[int, int]]:
    """Those stored one right after the other, in one channel, on one occasion."""
    present = set(seqs)
    for seq in present & facts.keys():
        previous = facts[seq].previous_seq
        if previous in present and previous in facts:
            before, after = facts[previous], facts[seq]
            if before.channel == after.channel and after.created_at - before.created_at <= ONE_OCCASION:
                yield previous, seq
