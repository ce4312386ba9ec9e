"""Read-only diagnostics of an SQLite file, including one the program cannot open."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import apsw

from mcp_memory.storage import queries
from mcp_memory.storage.consistency import inconsistencies
from mcp_memory.storage.diagnostics import Finding
from mcp_memory.storage.sqlite import derived_checks
from mcp_memory.storage.sqlite.connection import APPLICATION_ID, SqliteConnection
from mcp_memory.storage.sqlite.unreadable_rows import unreadable_rows

LEAST_FREE = 100_000_000
"""Bytes of disk that should be free, besides room for a second copy of the database."""
LOCK_PATIENCE_MS = 2_000
_SQL = queries.load("sqlite")

_REBUILD = "rebuild it: `mcp-memory export --format full FILE`, then import that into a new database"


def examine(
    path: Path, *, quick: bool = False, structure_only: bool = False, now: datetime | None = None
) -> Iterator[Finding]:
    """Findings in the order of the checks.

    `quick` skips those that read the whole file, `structure_only` those beyond what SQLite itself can check.
    With `now`, dates in the future are found.
    """
    yield _disk(path)
    yield _access(path)
    if not path.exists():
        yield Finding("database", True, f"{path} does not exist yet: the first write creates it")
        return
    try:
        connection = _opened(path)
    except apsw.Error as error:
        yield Finding("database", False, f"{path} cannot be opened: {error}", "check the path and its rights")
        return
    try:
        connection.set_busy_timeout(LOCK_PATIENCE_MS)
        yield from _checks(connection, quick, structure_only, now)
    except (apsw.Error, ValueError) as error:  # also bytes that are no text
        advice = "the file is damaged: restore a backup, or export what can still be read"
        yield Finding("database", False, f"{path}: {error}", advice)
    finally:
        with suppress(apsw.Error):
            connection.close()


def _checks(
    connection: apsw.Connection, quick: bool, structure_only: bool, now: datetime | None
) -> Iterator[Finding]:
    yield from _schema(connection)
    yield from _integrity(quick)(connection)
    tables = list(derived_checks.objects(connection))
    yield from tables
    yield derived_checks.strangers(connection)
    [[version]] = connection.execute("PRAGMA user_version")
    if version != queries.migrations("sqlite")[-1].number or not all(found.is_well for found in tables):
        return  # the other checks need the tables of this release
    yield from _references(connection)
    if structure_only:
        return
    for look in (_rows, _locks, *(() if quick else _FULL)):
        yield from look(connection)
    if not quick:
        yield from inconsistencies(SqliteConnection(connection).run, now)


def _opened(path: Path) -> apsw.Connection:
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    # Without the right to write beside it there can be no log: the file is read as it is.
    return apsw.Connection(
        f"{path.absolute().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )


_Look = Callable[[apsw.Connection], Iterator[Finding]]

_FULL: tuple[_Look, ...] = (
    derived_checks.contents,
    derived_checks.numbers,
    derived_checks.tags,
    derived_checks.words,
    derived_checks.vectors,
    derived_checks.sketches,
)
"""Checks that read whole tables."""


def _disk(path: Path) -> Finding:
    folder = next((parent for parent in path.absolute().parents if parent.exists()), Path("/"))
    free = shutil.disk_usage(folder).free
    wanted = LEAST_FREE + (path.stat().st_size if path.exists() else 0)
    detail = f"{free / 1e9:,.1f} GB free"
    return Finding(
        "disk", free >= wanted, detail, f"make room in {folder}, or set DATABASE_URL to another disk"
    )


def _access(path: Path) -> Finding:
    present = path if path.exists() else next(parent for parent in path.absolute().parents if parent.exists())
    # The write-ahead log is made beside the file, so its folder must be writable too.
    closed = [
        place
        for place in {present, present.parent if present == path else present}
        if not os.access(place, os.W_OK)
    ]
    if closed:
        advice = "give your user the right to write there, or set DATABASE_URL to another place"
        return Finding("access", False, f"{closed[0]} cannot be written to", advice)
    return Finding("access", True, f"{present} can be written to")


def _schema(connection: apsw.Connection) -> Iterator[Finding]:
    [[application]] = connection.execute("PRAGMA application_id")
    [[version]] = connection.execute("PRAGMA user_version")
    newest = queries.migrations("sqlite")[-1].number
    if application != APPLICATION_ID:
        yield Finding(
            "schema", False, "this file belongs to another program", "set DATABASE_URL to another file"
        )
    elif version > newest:
        yield Finding("schema", False, f"version {version}, this program knows {newest}", "update mcp-memory")
    else:
        meanwhile = "; rows are examined once a server has migrated it" if version < newest else ""
        yield Finding("schema", True, f"version {version} of {newest}{meanwhile}")


def _integrity(quick: bool) -> _Look:
    def integrity(connection: apsw.Connection) -> Iterator[Finding]:
        found = [row[0] for row in connection.execute(f"PRAGMA {'quick' if quick else 'integrity'}_check(5)")]
        detail = "every page and index is sound" if found == ["ok"] else "; ".join(map(str, found))
        yield Finding("integrity", found == ["ok"], detail, "restore a backup, or " + _REBUILD)

    return integrity


def _references(connection: apsw.Connection) -> Iterator[Finding]:
    broken = list(connection.execute("PRAGMA foreign_key_check"))
    detail = f"{len(broken):,} rows refer to a deleted row" if broken else "all of them resolve"
    yield Finding("references", not broken, detail, "run `mcp-memory doctor --repair`, which removes them")


def _rows(connection: apsw.Connection) -> Iterator[Finding]:
    """Every row can be read: its JSON and its times are what they should be."""
    bad = list(unreadable_rows(connection))
    names = ", ".join(row.place for row in bad[:3])
    detail = f"{len(bad):,} values cannot be read: {names}" if bad else "every one can be read"
    yield Finding("rows", not bad, detail, "run `mcp-memory doctor --repair`")


def _locks(connection: apsw.Connection) -> Iterator[Finding]:
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except apsw.BusyError:
        yield Finding(
            "locks",
            False,
            f"another process has been writing for more than {LOCK_PATIENCE_MS / 1000:.0f} s",
            "wait for it; if it hangs, end it (on Linux and macOS, `lsof` on the file names it)",
        )
    except apsw.ReadOnlyError:
        yield Finding("locks", False, "the file is read-only", "give your user the right to write it")
    else:
        yield Finding("locks", True, "no other process holds the write lock")
