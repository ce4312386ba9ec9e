"""Vectors of the memories that a ranking compares, as rows of one matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Numbers = npt.NDArray[np.float64]
    Rows = npt.NDArray[np.intp]
    Marks = npt.NDArray[np.bool_]

Neighbours = tuple[int | None, int | None]
"""The memory right before and the one right after, where they are of one occasion."""


class NeighbourRows(NamedTuple):
    """Memories and their neighbours, by the rows that they have in a matrix."""

    own: Rows
    before: Rows
    after: Rows

    def of(self, chosen: Rows) -> NeighbourRows:
        """Those of some memories, if each has the row of its place here."""
        return NeighbourRows(chosen, self.before[chosen], self.after[chosen])


@dataclass(frozen=True)
class NeighbourVectors:
    """Vectors of length one of memories and their neighbours, and how close these are to each other."""

    rows: Numbers
    """One for each memory, of zeros if it has no vector, and a last one, which stands for none."""
    known: Marks
    """Whether there is a vector."""
    turns: NeighbourRows
    """All memories, each by its place."""

    @classmethod
    def of(cls, rows: Numbers, places: Rows, turns: NeighbourRows) -> NeighbourVectors:
        """From rows of which those at some places are vectors, and the others zeros."""
        import numpy as np

        known = np.zeros(len(rows), bool)
        known[places] = True
        return cls(rows, known, turns)

    def cosines(self, query: bytes) -> Numbers:
        """The cosine of each row with a vector."""
        import numpy as np

        found: Numbers = self.rows @ np.frombuffer(query, "<f4").astype(np.float64)
        return found

    @cached_property
    def squares(self) -> Numbers:
        """1 for each vector; 0 for none."""
        import numpy as np

        found: Numbers = np.einsum("ij,ij->i", self.rows, self.rows)
        return found

    @cached_property
    def pairs(self) -> tuple[Pair, Pair, Pair]:
        """Each memory with the one before and the one after it, and these two."""
        return self._pairs(self.turns)

    def pairs_of(self, chosen: Rows) -> tuple[Pair, ...]:
        """The same of some memories: computed for them alone, unless it is known of all."""
        if "pairs" not in self.__dict__:
            return self._pairs(self.turns.of(chosen))
        return tuple(Pair(pair.a[chosen], pair.b[chosen], pair.products[chosen]) for pair in self.pairs)

    def _pairs(self, turns: NeighbourRows) -> tuple[Pair, Pair, Pair]:
        import numpy as np

        own, before, after = turns
        rows = [self.rows[places] for places in turns]
        products = [np.einsum("ij,ij->i", *two) for two in combinations(rows, 2)]
        return (
            Pair(own, before, products[0]),
            Pair(own, after, products[1]),
            Pair(before, after, products[2]),
        )


class Pair(NamedTuple):
    """Rows side by side, and the products of their vectors."""

    a: Rows
    b: Rows
    products: Numbers


def neighbour_rows(
    around: Mapping[int, Neighbours], places: Mapping[int | None, int], missing: int
) -> NeighbourRows:
    """The rows of memories and their neighbours; `missing` stands for a memory that has none."""
    import numpy as np

    place = places.get
    return NeighbourRows(
        np.array([place(seq, missing) for seq in around], np.intp),
        np.array([place(before, missing) for before, _ in around.values()], np.intp),
        np.array([place(after, missing) for _, after in around.values()], np.intp),
    )
