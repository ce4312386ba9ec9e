"""What a failure of PostgreSQL means to a caller."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed

from mcp_memory.errors import Conflict, Invalid, Unavailable

NOTHING_KEPT = "Nothing was kept of what failed: try again."

_TOO_SLOW = frozenset({"25P03", "25P04"})
"""Idle for too long within a transaction; a transaction that took too long."""


@contextmanager
def translated_errors() -> Iterator[None]:
    """A driver's error becomes one of ours; wrong SQL stays what it is, a bug."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise Invalid("a text holds half of a surrogate pair, which is not text: remove it") from error
    except psycopg.IntegrityError as error:
        raise Conflict(f"the database refused a row: {first_line(error)}") from error
    except psycopg.DataError as error:
        raise Invalid(f"the database cannot hold this: {first_line(error)}") from error
    except errors.ProgramLimitExceeded as error:
        raise Invalid(f"something is too long for the database: {first_line(error)}") from error
    except (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure) as error:
        raise Unavailable("the database is busy with another writer; try again") from error
    except PoolClosed as error:
        raise Unavailable("the connections to PostgreSQL are closed: this server is stopping") from error
    except errors.InsufficientPrivilege as error:
        raise Unavailable(
            f"PostgreSQL does not allow this: {first_line(error)}. "
            "Give the role in DATABASE_URL the rights of the tables' owner."
        ) from error
    except errors.ReadOnlySqlTransaction as error:
        raise Unavailable(
            "this PostgreSQL only takes reads: point DATABASE_URL at the primary, "
            "and DATABASE_READ_URL at the replica"
        ) from error
    except errors.DiskFull as error:
        raise Unavailable(
            f"PostgreSQL has no room left on its disk: {first_line(error)}. Make room there. {NOTHING_KEPT}"
        ) from error
    except errors.QueryCanceled as error:
        raise Unavailable(f"PostgreSQL broke off a statement: {first_line(error)}. {NOTHING_KEPT}") from error
    except (psycopg.OperationalError, psycopg.InternalError) as error:
        if isinstance(error, psycopg.InternalError) and error.sqlstate not in _TOO_SLOW:
            raise
        raise Unavailable(f"PostgreSQL failed: {first_line(error)}. {NOTHING_KEPT}") from error


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
