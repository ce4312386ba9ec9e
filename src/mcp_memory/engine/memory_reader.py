"""Reads what ranking needs of memories, each of them once in a search."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from itertools import chain
from typing import TypeVar

from mcp_memory.model import Filter
from mcp_memory.ranking.unit_vectors import Neighbours
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts

READ_CLOSELY = 50
"""How many of the best candidates are read with their surroundings."""

MOST_READ_WHOLE = 1_000
"""Memories of a space that is read at once: that takes less than reading half of them by their numbers."""

LONGEST_TURN = 2_000
"""Bytes of a text that is read with all others; longer ones are no turns of a conversation."""

V = TypeVar("V")


class MemoryReader:
    """Memories of one transaction that pass a filter. What was read ahead is not read again."""

    def __init__(self, tx: Transaction, filter: Filter, half_life: timedelta) -> None:
        self._tx = tx
        self._filter = filter
        self._half_life = half_life
        self.whole: Sequence[int] = ()
        """All living memories in the order they were stored, if they are few, short and were read ahead."""
        self._facts: dict[int, RankingFacts | None] = {}
        self._neighbours: dict[int, Neighbours | None] = {}
        self._contents: dict[int, str | None] = {}

    def facts(self, seqs: Collection[int]) -> dict[int, RankingFacts]:
        """Ranking facts of those that pass the filter."""
        return _found(self.known_facts(seqs), seqs)

    def known_facts(self, seqs: Collection[int] = ()) -> Mapping[int, RankingFacts | None]:
        """The same of these and of all that were read before; None for one that does not pass."""
        return _read_missing(self._facts, seqs, self._read_facts)

    def neighbours(self, seqs: Collection[int]) -> dict[int, Neighbours]:
        """The memories stored right before and after each of them, whether these pass the filter or not."""
        return _found(_read_missing(self._neighbours, seqs, self._tx.memories.neighbours), seqs)

    def contents(self, seqs: Collection[int]) -> dict[int, str]:
        return _found(_read_missing(self._contents, seqs, self._tx.memories.contents), seqs)

    def known_contents(self) -> Mapping[int, str | None]:
        """All that were read."""
        return self._contents

    def read_ahead(self, seqs: Sequence[int], count: int | None) -> None:
        """Read what is likely to be needed while the model computes.

        That is all of a small space, where `count` tells about how many memories it has. Else it is facts of
        these, and the first ones with their surroundings.
        """
        if count is not None and count <= MOST_READ_WHOLE and self._read_whole():
            return
        best = seqs[:READ_CLOSELY]
        self.known_facts([*seqs, *beside(self.neighbours(best))])
        _read_missing(self._contents, best, self._tx.memories.contents)

    def read_dialogue(self, seqs: Sequence[int]) -> None:
        """Read all that is needed of turns: their surroundings up to two steps away, in few statements."""
        near = beside(self.neighbours(seqs))
        around = {*seqs, *near, *beside(self.neighbours(near))}
        self.known_facts(around)
        _read_missing(self._contents, around, self._tx.memories.contents)

    def _read_whole(self) -> bool:
        """Whether the space is small enough, and its living memories are those that are searched."""
        if self._filter.forgotten:
            return False
        found = self._tx.memories.whole_space(
            self._filter, MOST_READ_WHOLE, LONGEST_TURN, half_life=self._half_life
        )
        if found is None:
            return False
        seqs = found.seqs
        self._facts.update(zip(seqs, found.facts, strict=True))
        beside_each = zip([None, *seqs[:-1]], [*seqs[1:], None], strict=True)
        self._neighbours.update(zip(seqs, beside_each, strict=True) if seqs else ())
        texts = {seq: text for seq, text in zip(seqs, found.contents, strict=True) if text is not None}
        self._contents.update(texts)
        if len(texts) == len(seqs):
            self.whole = seqs
        return True

    def _read_facts(self, seqs: Sequence[int]) -> dict[int, RankingFacts]:
        return self._tx.memories.ranking_facts(seqs, self._filter, half_life=self._half_life)


def beside(around: Mapping[int, Neighbours]) -> list[int]:
    """The memories right before and after some, each once."""
    return [seq for seq in dict.fromkeys(chain.from_iterable(around.values())) if seq is not None]


def _read_missing(
    known: dict[int, V | None], seqs: Collection[int], read: Callable[[Sequence[int]], Mapping[int, V]]
) -> dict[int, V | None]:
    """All that is known, with these; None for one that has no value."""
    if missing := sorted({seq for seq in seqs if seq not in known}):
        known.update(dict.fromkeys(missing))
        known.update(read(missing))
    return known


def _found(known: Mapping[int, V | None], seqs: Collection[int]) -> dict[int, V]:
    """The values of those that have one, in the order of their numbers."""
    return {seq: value for seq in sorted(set(seqs)) if (value := known[seq]) is not None}
