"""Translates the driver's errors into ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from mcp_memory.errors import Conflict, Invalid, MemoryServerError, Unavailable


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise `Conflict`, `Invalid` or `Unavailable` for the driver's errors; wrong SQL stays a bug."""
    try:
        yield
    except MemoryServerError:
        raise
    except UnicodeEncodeError as error:
        raise Invalid("a text holds half of a surrogate pair, which is not text: remove it") from error
    except OverflowError as error:
        raise Invalid("a number is larger than the database can hold: give a smaller one") from error
    except apsw.ConstraintError as error:
        raise Conflict(f"the database refused a row: {error}") from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Unavailable("the database is busy with another process; try again") from error
    except (
        apsw.CantOpenError,
        apsw.IOError,
        apsw.FullError,
        apsw.ReadOnlyError,
        apsw.PermissionsError,
    ) as error:
        raise Unavailable(f"the database cannot be used: {error}") from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise Unavailable(f"the database file is damaged: {error}. Run `mcp-memory doctor`.") from error
