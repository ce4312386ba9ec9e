"""Reads tables of another program's SQLite file, without changing it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from mcp_memory.errors import Invalid

MAGIC = b"SQLite format 3\0"


def table_names(path: Path) -> frozenset[str]:
    with _opened(path) as connection:
        return frozenset(name for (name,) in connection.execute("SELECT name FROM sqlite_master"))


def table_rows(path: Path, table: str) -> Iterator[dict[str, Any]]:
    """The rows of a table in the order of its first column, each with all columns it has."""
    with _opened(path) as connection:
        cursor = connection.execute(f'SELECT * FROM "{table}" ORDER BY 1')
        for values in cursor:
            yield dict(zip((column[0] for column in cursor.description), values, strict=True))


@contextmanager
def _opened(path: Path) -> Iterator[apsw.Connection]:
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            connection.set_busy_timeout(5000)
            yield connection
    except apsw.Error as error:
        raise Invalid(f"{path} cannot be read as a SQLite database: {error}") from error
