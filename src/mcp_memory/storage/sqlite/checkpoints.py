"""Checkpoints: move the write-ahead log into the database file."""

import logging

import apsw

_log = logging.getLogger(__name__)

BUSY_TIMEOUT_MS = 10_000
CHECKPOINT_PAGES = 1000
LONGEST_LOG = 16_000
"""Pages of 4 kB from which the writer waits for readers."""
CHECKPOINT_PATIENCE_MS = 250


class Checkpoints:
    """The write-ahead log hook of the writing connection.

    Readers that never all pause keep the log from starting over, so it could grow without end. Past a
    limit the writer waits for them briefly; if one of them stays, it retries when the log has grown further.
    """

    def __init__(self) -> None:
        self._next = LONGEST_LOG

    def __call__(self, connection: apsw.Connection, schema: str, pages: int) -> int:
        """Called after each commit with the number of pages in the log."""
        if pages < CHECKPOINT_PAGES:
            self._next = LONGEST_LOG
        elif pages < self._next:
            _checkpoint(connection, schema, apsw.SQLITE_CHECKPOINT_PASSIVE)
        else:
            connection.set_busy_timeout(CHECKPOINT_PATIENCE_MS)
            done = _checkpoint(connection, schema, apsw.SQLITE_CHECKPOINT_TRUNCATE)
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            self._next = LONGEST_LOG if done else pages + LONGEST_LOG // 4
        return apsw.SQLITE_OK


def _checkpoint(connection: apsw.Connection, schema: str, mode: int) -> bool:
    """Whether it succeeded; the commit is safe in the log either way."""
    try:
        connection.wal_checkpoint(schema, mode)
    except (apsw.BusyError, apsw.LockedError):
        return False
    except apsw.Error as error:
        # For example a full disk. The commit succeeded; reporting a failure would cause a retry.
        _log.warning("the write-ahead log could not be moved into the database, and stays: %s", error)
        return False
    return True
