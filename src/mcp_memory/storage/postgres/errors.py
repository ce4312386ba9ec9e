"""Translates the driver's errors into ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed

from mcp_memory.errors import Conflict, Invalid, MemoryServerError, Unavailable

NOTHING_KEPT = "Nothing was saved: try again."

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
"""The first match decides: specific errors come before their base classes."""


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise `Conflict`, `Invalid` or `Unavailable` for the driver's errors; wrong SQL stays a bug."""
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
    """Around a COMMIT: when its answer is lost, the outcome is unknown."""
    try:
        yield
    except psycopg.OperationalError as error:
        if not raw.closed:  # the server refused it
            raise
        raise Unavailable(
            f"the connection to PostgreSQL was lost during a commit: {first_line(error)}. "
            "Check whether the change was saved before trying again."
        ) from error


def unreachable(error: psycopg.Error) -> Unavailable:
    """The error for a failed connection."""
    return Unavailable(
        f"PostgreSQL cannot be reached: {first_line(error)}. "
        "Check that it runs, and that the address has the right host, role and password."
    )


def first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].removeprefix("connection failed: ").removeprefix("connection is bad: ").rstrip(".")
