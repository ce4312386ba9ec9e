"""What a failure of PostgreSQL means to a caller."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed

from mcp_memory.errors import Conflict, Invalid, MemoryServerError, Unavailable

NOTHING_KEPT = "Nothing was kept of what failed: try again."

_TOO_SLOW = frozenset({"25P03", "25P04"})
"""Idle for too long within a transaction; a transaction that took too long."""


_MEANINGS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], type[MemoryServerError], str], ...] = (
    (UnicodeEncodeError, Invalid, "a text holds half of a surrogate pair, which is not text: remove it"),
    (psycopg.IntegrityError, Conflict, "the database refused a row: {reason}"),
    (psycopg.DataError, Invalid, "the database cannot hold this: {reason}"),
    (errors.ProgramLimitExceeded, Invalid, "something is too long for the database: {reason}"),
    (
        (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure),
        Unavailable,
        "the database is busy with another writer; try again",
    ),
    (PoolClosed, Unavailable, "the connections to PostgreSQL are closed: this server is stopping"),
    (
        errors.InsufficientPrivilege,
        Unavailable,
        "PostgreSQL does not allow this: {reason}. "
        "Give the role in DATABASE_URL the rights of the tables' owner.",
    ),
    (
        errors.ReadOnlySqlTransaction,
        Unavailable,
        "this PostgreSQL only takes reads: point DATABASE_URL at the primary, "
        "and DATABASE_READ_URL at the replica",
    ),
    (
        errors.DiskFull,
        Unavailable,
        f"PostgreSQL has no room left on its disk: {{reason}}. Make room there. {NOTHING_KEPT}",
    ),
    (errors.QueryCanceled, Unavailable, f"PostgreSQL cancelled a statement: {{reason}}. {NOTHING_KEPT}"),
    (psycopg.OperationalError, Unavailable, f"PostgreSQL failed: {{reason}}. {NOTHING_KEPT}"),
)
"""The first row that fits decides: special errors stand before the general ones they belong to."""


@contextmanager
def translated_errors() -> Iterator[None]:
    """A driver's error becomes one of ours; wrong SQL stays what it is, a bug."""
    try:
        yield
    except (psycopg.Error, UnicodeEncodeError) as error:
        translation = _translation(error)
        if translation is None:
            raise
        raise translation from error


def _translation(error: Exception) -> MemoryServerError | None:
    for kind, ours, sentence in _MEANINGS:
        if isinstance(error, kind):
            return ours(sentence.format(reason=first_line(error)))
    if isinstance(error, psycopg.InternalError) and error.sqlstate in _TOO_SLOW:
        return Unavailable(f"PostgreSQL failed: {first_line(error)}. {NOTHING_KEPT}")
    return None


@contextmanager
def uncertain_outcome(raw: psycopg.Connection[object]) -> Iterator[None]:
    """Around a COMMIT: when its answer is lost, nobody here knows what came of it."""
    try:
        yield
    except psycopg.OperationalError as error:
        if not raw.closed:  # it was refused in so many words
            raise
        raise Unavailable(
            f"the connection to PostgreSQL was lost while a change was being kept: {first_line(error)}. "
            "Look whether it was kept before trying again."
        ) from error


def unreachable(error: psycopg.Error) -> Unavailable:
    """No connection can be made."""
    return Unavailable(
        f"PostgreSQL cannot be reached: {first_line(error)}. "
        "Look whether it runs, and whether the address names it and a role and password that it knows."
    )


def first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].removeprefix("connection failed: ").removeprefix("connection is bad: ").rstrip(".")
