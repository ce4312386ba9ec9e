"""Vectors of the memories that a ranking compares, as rows of one matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
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
        own, before, after = self.turns
        return self._pair(own, before), self._pair(own, after), self._pair(before, after)

    def _pair(self, a: Rows, b: Rows) -> Pair:
        import numpy as np

        return Pair(a, b, np.einsum("ij,ij->i", self.rows[a], self.rows[b]))


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
