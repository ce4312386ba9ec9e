"""Cuts long work into pieces that each take a short time, however fast the machine is."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

AIM = 0.05
"""Seconds that a piece should take: others wait for their turn meanwhile."""
FIRST, LEAST, MOST = 32, 4, 2000
"""Weights of a piece."""


class Pace:
    """How much is done at once; learns from the time that each piece took."""

    def __init__(self) -> None:
        self.weight: float = FIRST

    def pieces(self, items: Iterable[Item], weigh: Callable[[Item], float]) -> Iterator[list[Item]]:
        """The items in batches; requesting the next batch means that the one before is done."""
        piece: list[Item] = []
        weight = 0.0
        for item in items:
            piece.append(item)
            weight += weigh(item)
            if weight >= self.weight:
                yield from self._timed(piece, weight)
                piece, weight = [], 0.0
        if piece:
            yield piece

    def _timed(self, piece: list[Item], weight: float) -> Iterator[list[Item]]:
        begun = time.monotonic()
        yield piece
        taken = max(time.monotonic() - begun, 1e-6)
        # At most twice as much as before: one quick piece says little of the next.
        self.weight = min(max(weight * AIM / taken, LEAST), self.weight * 2, MOST)
