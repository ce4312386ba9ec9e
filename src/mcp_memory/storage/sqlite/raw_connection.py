"""A raw connection to SQLite: its settings, the size of its cache, and how a write begins."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import apsw

from mcp_memory.storage.sqlite.checkpoints import BUSY_TIMEOUT_MS

BEGIN_ATTEMPTS = 5
CONNECTION_CACHE_KB = 64_000
"""The cache of one connection, at most."""
WHOLE_CACHE_KB = 2_000
"""The cache of a connection during a full scan, at most."""

Synchronous = Literal["FULL", "NORMAL"]


def pragmas(synchronous: Synchronous) -> tuple[str, ...]:
    return (
        # Readers never wait for the writer, nor the writer for them.
        "PRAGMA journal_mode = WAL",
        # FULL: an acknowledged commit survives a power cut. NORMAL syncs only at a checkpoint, and loses
        # the commits after the last one.
        f"PRAGMA synchronous = {synchronous}",
        f"PRAGMA cache_size = -{CONNECTION_CACHE_KB}",
        # Sorts and temporary tables need no disk.
        "PRAGMA temp_store = MEMORY",
        # Off by default in SQLite.
        "PRAGMA foreign_keys = ON",
    )


@contextmanager
def few_pages(connection: apsw.Connection) -> Iterator[None]:
    """A small cache for full scans: pages that are read once must not evict others."""
    connection.execute(f"PRAGMA cache_size = -{WHOLE_CACHE_KB}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA cache_size = -{CONNECTION_CACHE_KB}")


def begin(connection: apsw.Connection) -> None:
    # IMMEDIATE takes the write lock at once: a transaction that reads first and writes later
    # could otherwise fail half way with SQLITE_BUSY.
    for attempt in range(BEGIN_ATTEMPTS):
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            if attempt == BEGIN_ATTEMPTS - 1:
                raise
            time.sleep(min(0.1 * 2**attempt, 2.0) * (1 + random.random() / 10))
        else:
            return


def begin_at_once(connection: apsw.Connection, patience: float) -> None:
    connection.set_busy_timeout(int(patience * 1000))
    try:
        connection.execute("BEGIN IMMEDIATE")
    finally:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)


def lowered(*texts: Any) -> str | None:
    [text] = texts
    return None if text is None else str(text).lower()


def digits(*ids: Any) -> str | None:
    """The digits of an id, which is stored as bytes where it is a UUID."""
    [id] = ids
    return id.hex() if isinstance(id, bytes) else None if id is None else str(id).replace("-", "")
