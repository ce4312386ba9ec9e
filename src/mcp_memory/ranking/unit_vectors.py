"""Vectors of the memories that a ranking compares, as rows of one matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Numbers = npt.NDArray[np.float64]
    Rows = npt.NDArray[np.intp]

Neighbours = tuple[int | None, int | None]
"""The memory right before and the one right after, where they are of one occasion."""


class NeighbourRows(NamedTuple):
    """Memories and their neighbours, by the rows that they have in a matrix."""

    own: Rows
    before: Rows
    after: Rows


@dataclass(frozen=True)
class UnitVectors:
    """Vectors of length one."""

    seqs: Sequence[int]
    rows: Floats
    """One for each memory, and a last one of zeros, which stands for whatever has no vector."""

    @cached_property
    def places(self) -> Mapping[int | None, int]:
        return {seq: place for place, seq in enumerate(self.seqs)}

    @property
    def missing(self) -> int:
        """The row of whatever has no vector."""
        return len(self.seqs)

    def neighbour_rows(self, around: Mapping[int, Neighbours]) -> NeighbourRows:
        return neighbour_rows(around, self.places, self.missing)

    def cosines(self, query: bytes) -> Numbers:
        """The cosine of each row with a vector; the last is 0."""
        import numpy as np

        found: Numbers = (self.rows @ np.frombuffer(query, "<f4")).astype(np.float64)
        return found

    def joined_with(self, other: UnitVectors) -> UnitVectors:
        """These and others, which are different ones."""
        import numpy as np

        return UnitVectors([*self.seqs, *other.seqs], np.concatenate([self.rows[:-1], other.rows]))


def unit_vectors(seqs: Sequence[int], rows: Floats) -> UnitVectors:
    """Vectors with a row each."""
    import numpy as np

    return UnitVectors(seqs, np.concatenate([rows, np.zeros((1, rows.shape[1]), np.float32)]))


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
