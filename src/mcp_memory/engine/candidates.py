"""Candidates of a search, with their keyword and vector scores."""

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property

from mcp_memory.engine.indexing import ByWordsOnly, Meaning
from mcp_memory.engine.pipeline import Question
from mcp_memory.engine.read_turns import TurnReader
from mcp_memory.model import Owner
from mcp_memory.ranking.fusion import calibrated, min_max
from mcp_memory.storage import Transaction
from mcp_memory.storage.database import Allowed

Passing = Callable[[Sequence[int]], Sized]
"""Those of some rows that the filter lets through, read in a way that is needed for ranking anyway."""

POOL = 100
"""Candidates from each list. Shorter lists lose candidates that rank well only in both."""


@dataclass(frozen=True)
class Candidates:
    """Scores by candidate; a key missing in a mapping was not found that way."""

    words: Mapping[int, float]
    """BM25, best first."""
    nearest: Mapping[int, float]
    """Cosines of the nearest vectors, best first."""
    cosine: Mapping[int, float]
    """The cosine of every candidate that has a vector, also of those found by words alone."""
    unrelated: float
    """The cosine of texts that have nothing in common."""
    worth: float = 1.0
    """Weight of the model's similarity; lower where the query is in a language it does not know."""

    @cached_property
    def keyword(self) -> dict[int, float]:
        """BM25 on a scale where the best is 1."""
        return min_max(self.words, floor=0.0)

    @cached_property
    def related(self) -> dict[int, float]:
        """The same of the cosine, for those that are closer than unrelated texts are."""
        worth, unrelated = self.worth, self.unrelated
        return {
            seq: worth * calibrated(cosine, unrelated)
            for seq, cosine in self.cosine.items()
            if cosine > unrelated
        }

    def semantic(self, seq: int) -> float:
        """The cosine on a scale from unrelated (0) to the same (1)."""
        return self.worth * calibrated(self.cosine[seq], self.unrelated) if seq in self.cosine else 0.0


def gather(
    tx: Transaction,
    owner: Owner,
    question: Question,
    allowed: Allowed,
    pool: int = POOL,
    reader: TurnReader | None = None,
) -> Candidates:
    """Candidates by words and by meaning among allowed rows.

    A `reader` of memories, whose filter is the same, reads ahead while the model computes.
    """
    matching = dict(tx.indexes.matching(owner, question.sought, allowed, pool))
    if question.soon.model is not None:
        count = tx.indexes.prepare(owner, question.soon.model)
        if reader is not None:
            reader.read_ahead(list(matching), question.soon.model, count)
    passing = reader.memories.facts if reader is not None else None
    return with_vectors(tx, owner, question.meaning, matching, allowed, pool, passing)


def with_vectors(
    tx: Transaction,
    owner: Owner,
    meaning: Meaning | ByWordsOnly,
    words: Mapping[int, float],
    allowed: Allowed,
    pool: int,
    passing: Passing | None = None,
) -> Candidates:
    """Add the nearest vectors to the keyword candidates, and the cosines of the latter."""
    if isinstance(meaning, ByWordsOnly):
        return Candidates(words, {}, {}, 0.0)
    nearest = _nearest(tx, owner, meaning, allowed, pool, passing)
    others = cosines(tx, owner, meaning, [seq for seq in words if seq not in nearest])
    return Candidates(words, nearest, {**nearest, **others}, meaning.unrelated_cosine, meaning.worth)


def _nearest(
    tx: Transaction, owner: Owner, meaning: Meaning, allowed: Allowed, pool: int, passing: Passing | None
) -> dict[int, float]:
    if passing is not None:
        near = tx.indexes.nearest_at_hand(owner, meaning.model, meaning.vector, pool)
        if near is not None and len(passing([seq for seq, _ in near])) == len(near):
            return dict(near)
    return dict(tx.indexes.nearest(owner, meaning.model, meaning.vector, allowed, pool))


def cosines(
    tx: Transaction, owner: Owner, meaning: Meaning | ByWordsOnly, seqs: Sequence[int]
) -> dict[int, float]:
    """Cosines of all candidates with a vector. Those found by keywords alone may still be similar."""
    if isinstance(meaning, ByWordsOnly) or not seqs:
        return {}
    return tx.indexes.cosines(owner, meaning.model, meaning.vector, seqs)
