"""Counts the steps that a process takes towards its database, and kills it at a chosen one.

SQLite's steps are the writes, syncs and truncations of its files, seen by a VFS of ours; a write may also be
torn, half of it reaching the file. PostgreSQL's are the driver's round trips to the server. Renamed and
removed files count as well. A process is killed before, in or after a step, as the system would: no handler
runs.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import apsw
import psycopg

from mcp_memory.engine import pacing
from mcp_memory.storage.sqlite import online_migration

How = Literal["before", "torn", "after"]

USUAL = apsw.vfs_names()[0]


@dataclass
class Steps:
    """The steps taken since counting began, and the one to die at."""

    taken: int = 0
    last: int = 0
    """0: none."""
    how: How = "before"

    def arm(self, last: int, how: How) -> None:
        self.taken, self.last, self.how = 0, last, how

    def take(self, step: Callable[[], Any], torn: Callable[[], Any] | None = None) -> Any:
        self.taken += 1
        if self.taken != self.last:
            return step()
        if self.how == "torn" and torn is not None:
            torn()
        elif self.how == "after":
            step()
        os.kill(os.getpid(), signal.SIGKILL)
        return None


STEPS = Steps()


class CountedDisk(apsw.VFS):
    """The usual file system, whose files are counted."""

    def __init__(self) -> None:
        super().__init__("counted", USUAL, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return CountedFile(name, flags)


class CountedFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__(USUAL, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        write = super().xWrite
        STEPS.take(lambda: write(data, offset), lambda: write(bytes(data[: len(data) // 2]), offset))

    def xSync(self, flags: int) -> None:  # noqa: N802
        sync = super().xSync
        STEPS.take(lambda: sync(flags))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        truncate = super().xTruncate
        STEPS.take(lambda: truncate(size))


def count_steps() -> None:
    """From now on, of every database this process opens."""
    global _DISK
    _DISK = CountedDisk()
    # Pieces of one size, the least: otherwise the steps of a long act depend on how fast the machine is.
    pacing.AIM = online_migration.AIM = 0.0
    wait = psycopg.Connection.wait

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        return STEPS.take(lambda: wait(self, *args, **kwargs))

    psycopg.Connection.wait = counted  # type: ignore[method-assign]
    sys.addaudithook(lambda event, _: STEPS.take(_nothing) if event in ("os.rename", "os.remove") else None)


def _nothing() -> None:
    """The interpreter reports these before they happen, and only then."""


_DISK: CountedDisk | None = None
"""Registered as long as it is referred to."""
