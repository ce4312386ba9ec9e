"""Full garbage collections of a server: between requests instead of in the middle of one.

A full collection holds the interpreter and visits every object of the process: 50 ms with the libraries that
a server loads. Left alone, one of twenty bulk writes set it off, and took four times as long as the others.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

YOUNG, MIDDLE, OLD = 10_000, 20, 1_000
"""Thresholds of the three generations; the last keeps full collections from starting by themselves."""

EVERY = 60.0
"""Seconds between two full collections."""

LONGEST_WAIT = 600.0
"""Seconds after which requests are no reason to wait any longer."""

LOADING = 2
"""Full collections after which what is left is taken for loaded: modules, the model, caches."""


def collect_rarely() -> None:
    """Leave full collections to `Collector`. Call it when a server starts."""
    gc.set_threshold(YOUNG, MIDDLE, OLD)


class Collector:
    """Collects when it is told that nobody waits for an answer."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock() - EVERY
        self._count = 0

    def collect_if_due(self, *, calm: bool) -> bool:
        """Whether it was due. The first time it is due at once; without calm it waits."""
        if self._clock() - self._last < (EVERY if calm else LONGEST_WAIT):
            return False
        gc.collect()
        self._count += 1
        if self._count <= LOADING:
            # Later collections need not visit what stays.
            gc.freeze()
        self._last = self._clock()
        return True
