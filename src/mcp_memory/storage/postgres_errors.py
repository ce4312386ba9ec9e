"""What a failure of PostgreSQL means to a caller."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout

from mcp_memory.errors import Conflict, Invalid, Unavailable


@contextmanager
def translated_errors() -> Iterator[None]:
    """A driver's error becomes one of ours; wrong SQL stays what it is, a bug."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise Invalid("a text holds half of a surrogate pair, which is not text: remove it") from error
    except psycopg.IntegrityError as error:
        raise Conflict(f"the database refused a row: {_first_line(error)}") from error
    except psycopg.DataError as error:
        raise Invalid(f"the database cannot hold this: {_first_line(error)}") from error
    except (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure) as error:
        raise Unavailable("the database is busy with another writer; try again") from error
    except (PoolTimeout, PoolClosed) as error:
        raise Unavailable(f"PostgreSQL cannot be reached: {_first_line(error)}. Try again.") from error
    except errors.ReadOnlySqlTransaction as error:
        raise Unavailable(
            "this PostgreSQL only takes reads: point DATABASE_URL at the primary, "
            "and DATABASE_READ_URL at the replica"
        ) from error
    except psycopg.OperationalError as error:
        raise Unavailable(
            f"the connection to PostgreSQL failed: {_first_line(error)}. "
            "Look whether a write was kept before trying it again."
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
