"""Checkpoints: move the write-ahead log into the database file."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress

import apsw

from mcp_memory.errors import MemoryServerError

_log = logging.getLogger(__name__)

BUSY_TIMEOUT_MS = 10_000
CHECKPOINT_PAGES = 1000
LONGEST_LOG = 16_000
"""Pages of 4 kB from which the writer waits for readers."""
CHECKPOINT_PATIENCE_MS = 100
EMPTYING_PAUSE = 0.02
"""Seconds between two attempts to empty the log."""


class LogGrowth:
    """Whether the log has grown by a part since it was moved last.

    While others write, it rarely starts over: a checkpoint for each commit would sync the disk beside all of
    them.
    """

    def __init__(self, part: int) -> None:
        self._part = self._due_at = part

    def is_due(self, pages: int) -> bool:
        if pages < self._part:
            self._due_at = self._part
        if pages < self._due_at:
            return False
        self._due_at = pages + self._part
        return True


class Checkpoints:
    """The write-ahead log hook of the writing connection.

    A log of some size is moved by a thread of its own, for a commit would wait for the disk several times.
    Readers that never all pause keep the log from starting over, so it could grow without end. Past a
    limit the writer waits for them briefly; if one of them stays, it retries when the log has grown further.
    """

    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        """`connect` opens a connection for the thread; it may raise a `MemoryServerError`."""
        self._next = LONGEST_LOG
        self._growth = LogGrowth(CHECKPOINT_PAGES)
        self._connect = connect
        self._thread: threading.Thread | None = None
        self._due = threading.Event()
        self._running = threading.Lock()
        self._closed = False

    def __call__(self, connection: apsw.Connection, schema: str, pages: int) -> int:
        """Called after each commit with the number of pages in the log."""
        is_due = self._growth.is_due(pages)
        if pages < CHECKPOINT_PAGES:
            self._next = LONGEST_LOG
        elif pages < self._next:
            if is_due:
                self._begin()
        else:
            self._next = LONGEST_LOG if self._start_over(connection) else pages + LONGEST_LOG // 4
        return apsw.SQLITE_OK

    def close(self) -> None:
        """Wait for a running checkpoint, and make no more."""
        self._closed = True
        self._due.set()
        if self._thread is not None:
            self._thread.join()

    def _start_over(self, connection: apsw.Connection) -> bool:
        # SQLite refuses a second checkpoint at the same time, without waiting.
        with self._running:
            connection.set_busy_timeout(CHECKPOINT_PATIENCE_MS)
            done = _checkpoint(connection, apsw.SQLITE_CHECKPOINT_TRUNCATE)
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        return done

    def empty(self, turn: Callable[[], AbstractContextManager[apsw.Connection]]) -> bool:
        """Move the whole log into the file and truncate it, so that nothing removed stays in it.

        Most of it is moved while others write, and each attempt has a `turn` of its own, for others write
        while a reader is waited for.
        """
        with suppress(MemoryServerError), closing(self._connect()) as connection, self._running:
            # A new connection does not know of the log before it has read.
            connection.execute("PRAGMA user_version").fetchall()
            _checkpoint(connection, apsw.SQLITE_CHECKPOINT_PASSIVE)
        until = time.monotonic() + BUSY_TIMEOUT_MS / 1000
        while True:
            with turn() as connection:
                if self._start_over(connection):
                    return True
            if time.monotonic() > until:
                _log.warning("the write-ahead log could not be emptied: somebody else reads the database")
                return False
            time.sleep(EMPTYING_PAUSE)  # SQLite does not wait for another process's checkpoint

    def _begin(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._work, name="checkpoints", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no more threads; the commit is safe in the log, and the next one retries
                return
            self._thread = thread
        self._due.set()

    def _work(self) -> None:
        connection: apsw.Connection | None = None
        while self._due.wait() and not self._closed:
            self._due.clear()
            with suppress(MemoryServerError, apsw.Error, OSError):  # the next commit retries
                connection = connection or self._connect()
                with self._running:
                    _checkpoint(connection, apsw.SQLITE_CHECKPOINT_PASSIVE)
        if connection is not None:
            connection.close(True)


def _checkpoint(connection: apsw.Connection, mode: int) -> bool:
    """Whether it succeeded; the commit is safe in the log either way."""
    try:
        connection.wal_checkpoint("main", mode)
    except (apsw.BusyError, apsw.LockedError):
        return False
    except apsw.Error as error:
        # For example a full disk. The commit succeeded; reporting a failure would cause a retry.
        _log.warning("the write-ahead log could not be moved into the database, and stays: %s", error)
        return False
    return True
