"""Rewrites a database file, so that nothing of what was deleted stays in it.

A deleted row stays in its page until something takes its place, and SQLite leaves copies behind when it moves
rows. `VACUUM` leaves neither, and is safe wherever it is killed. Others read meanwhile but do not write, so
those who want to write go first for a while: the rewriting is given up, and begins again after them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import apsw

PATIENCE = 10.0
"""Seconds during which others who want to write go first."""

PAUSE = 0.05
"""Seconds from giving up to the next attempt."""

LOOK_EVERY = 20_000
"""Steps of SQLite's machine between two looks at who is waiting: less than a millisecond."""


def rewrite(
    turn: Callable[[], AbstractContextManager[apsw.Connection]],
    is_awaited: Callable[[], bool],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """In a `turn` nobody else writes; `is_awaited` returns whether somebody waits for theirs."""
    until = clock() + PATIENCE
    while True:
        with turn() as writer:
            if _rewritten(writer, is_awaited if clock() < until else None):
                return
        time.sleep(PAUSE)


def _rewritten(writer: apsw.Connection, give_up: Callable[[], bool] | None) -> bool:
    writer.set_progress_handler(give_up, LOOK_EVERY)
    try:
        writer.execute("VACUUM")
    except apsw.InterruptError:
        return False
    finally:
        writer.set_progress_handler(None)
    return True
