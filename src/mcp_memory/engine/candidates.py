"""What speaks for each memory that a query may mean: its words, its meaning, its surroundings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from mcp_memory.engine.indexing import ByWordsOnly, Meaning
from mcp_memory.model import Filter
from mcp_memory.ranking.fusion import calibrated, min_max, weighted
from mcp_memory.ranking.spreading import shared_with_neighbours
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts

POOL = 100
"""Candidates from each list. Short lists lose what only both together would find."""

ONE_OCCASION = timedelta(hours=1)
"""Memories stored one after the other within this time are taken for parts of one conversation."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """By the numbers of memories; what is missing in a mapping was not found that way."""

    keyword: Mapping[int, float]
    """BM25, on a scale where the best is 1."""
    cosine: Mapping[int, float]
    """Of every candidate that has a vector."""
    unrelated: float
    """The cosine that says nothing."""
    standing: Mapping[int, RankingFacts]

    def semantic(self, seq: int) -> float:
        return calibrated(self.cosine[seq], self.unrelated) if seq in self.cosine else 0.0

    def by_words(self) -> dict[int, float]:
        return self._in_company(self.keyword)

    def by_meaning(self, least_cosine: float) -> dict[int, float]:
        least = max(least_cosine, self.unrelated)
        return self._in_company(
            {seq: self.semantic(seq) for seq, cosine in self.cosine.items() if cosine >= least}
        )

    def by_both(self, keyword_weight: float) -> dict[int, float]:
        """Everything that holds a word of the query or means more than an unrelated text."""
        semantic = {seq: self.semantic(seq) for seq, cosine in self.cosine.items() if cosine > self.unrelated}
        return self._in_company(weighted(self.keyword, semantic, keyword_weight))

    def _in_company(self, scores: Mapping[int, float]) -> dict[int, float]:
        return shared_with_neighbours(scores, _said_together(scores, self.standing))


def gather(
    tx: Transaction,
    terms: Sequence[str],
    meaning: Meaning | ByWordsOnly,
    filter: Filter,
    *,
    half_life: timedelta,
    pool: int = POOL,
) -> Candidates:
    """Candidates by words and by meaning among what the filter lets through."""
    allowed = tx.memories.allowed(filter, half_life=half_life)
    keyword = dict(tx.indexes.matching("memory", terms, allowed, pool))
    cosine: dict[int, float] = {}
    if isinstance(meaning, Meaning):
        cosine = dict(tx.indexes.nearest("memory", meaning.model, meaning.vector, allowed, pool))
        cosine |= _cosines(tx, meaning, [seq for seq in keyword if seq not in cosine])
    return Candidates(
        min_max(keyword, floor=0.0),
        cosine,
        meaning.unrelated_cosine if isinstance(meaning, Meaning) else 0.0,
        tx.memories.standing({**keyword, **cosine}, filter, half_life=half_life),
    )


def _cosines(tx: Transaction, meaning: Meaning, seqs: Sequence[int]) -> dict[int, float]:
    """How close the ones found by words alone are in meaning."""
    import numpy as np

    vectors = tx.indexes.vectors("memory", meaning.model, seqs)
    if not vectors:
        return {}
    rows = np.stack([np.frombuffer(vector, "<f4") for vector in vectors.values()])
    cosines = rows @ np.frombuffer(meaning.vector, "<f4")
    return dict(zip(vectors, map(float, cosines), strict=True))


def _said_together(seqs: Iterable[int], standing: Mapping[int, RankingFacts]) -> Iterator[tuple[int, int]]:
    """Those stored one right after the other, in one channel, on one occasion."""
    present = set(seqs)
    for seq in present & standing.keys():
        previous = standing[seq].previous_seq
        if previous in present and previous in standing:
            before, after = standing[previous], standing[seq]
            if before.channel == after.channel and after.created_at - before.created_at <= ONE_OCCASION:
                yield previous, seq
