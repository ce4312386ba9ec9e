"""Reads what ranking needs of memories, each of them once in a search."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from mcp_memory.model import Filter
from mcp_memory.ranking.unit_vectors import Neighbours
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts

READ_CLOSELY = 50
"""How many of the best candidates are read with their surroundings."""

V = TypeVar("V")


class MemoryReader:
    """Memories of one transaction that pass a filter. What was read ahead is not read again."""

    def __init__(self, tx: Transaction, filter: Filter, half_life: timedelta) -> None:
        self._tx = tx
        self._filter = filter
        self._half_life = half_life
        self._facts: dict[int, RankingFacts | None] = {}
        self._neighbours: dict[int, Neighbours | None] = {}
        self._contents: dict[int, str | None] = {}

    def facts(self, seqs: Iterable[int]) -> dict[int, RankingFacts]:
        """Ranking facts of those that pass the filter."""
        return _known(self._facts, seqs, self._read_facts)

    def neighbours(self, seqs: Iterable[int]) -> dict[int, Neighbours]:
        """The memories stored right before and after each of them, whether these pass the filter or not."""
        return _known(self._neighbours, seqs, self._tx.memories.neighbours)

    def contents(self, seqs: Iterable[int]) -> dict[int, str]:
        return _known(self._contents, seqs, self._tx.memories.contents)

    def read_ahead(self, seqs: Sequence[int]) -> None:
        """Read facts of these, and the first ones with their surroundings: most of it will be needed."""
        best = seqs[:READ_CLOSELY]
        around = self.neighbours(best)
        self.facts([*seqs, *(seq for pair in around.values() for seq in pair if seq is not None)])
        self.contents(best)

    def _read_facts(self, seqs: Sequence[int]) -> dict[int, RankingFacts]:
        return self._tx.memories.ranking_facts(seqs, self._filter, half_life=self._half_life)


def _known(
    known: dict[int, V | None], seqs: Iterable[int], read: Callable[[Sequence[int]], Mapping[int, V]]
) -> dict[int, V]:
    """The values of those that have one, in the order of their numbers."""
    wanted = sorted(set(seqs))
    if missing := [seq for seq in wanted if seq not in known]:
        known.update(dict.fromkeys(missing))
        known.update(read(missing))
    return {seq: value for seq in wanted if (value := known[seq]) is not None}
