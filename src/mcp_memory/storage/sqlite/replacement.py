"""Replaces an SQLite database file so that a kill at any point leaves one of the two, intact."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from mcp_memory.errors import Unavailable

PATIENCE_MS = 5_000
ATTEMPTS = 5
_COMPANIONS = ("-wal", "-shm")


def put_in_place(new: Path, database: Path, aside: Path) -> bool:
    """Replace the database by the new file; the old one is kept at `aside`. Returns whether there was one."""
    there = database.exists()
    try:
        if there:
            _replace(new, database, aside)
    except apsw.Error:
        # It cannot be read as a database: its files are kept as they are.
        for suffix in (*_COMPANIONS, ""):
            with suppress(FileNotFoundError):
                _beside(database, suffix).replace(_beside(aside, suffix))
    if new.exists():
        new.replace(database)
    return there


def _replace(new: Path, database: Path, aside: Path) -> None:
    # Not moved aside by renaming: a kill in between would leave no database, and the next start create an
    # empty one.
    with _quiet(database):
        part = aside.with_name(f".{aside.name}.part")
        shutil.copyfile(database, part)
        part.chmod(0o600)
        _sync(part)
        part.replace(aside)
        _sync(new)
        new.replace(database)
        for suffix in _COMPANIONS:
            # They belong to the file that was replaced, and hold nothing.
            _beside(database, suffix).unlink(missing_ok=True)


@contextmanager
def _quiet(database: Path) -> Iterator[None]:
    """Exclude writers and empty the log into the file: the old log beside the new file would damage it."""
    connection = apsw.Connection(str(database))
    try:
        connection.set_busy_timeout(PATIENCE_MS)
        # The last connection to close deletes the log by its name, which may belong to the new file by then.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        _fold(connection, _beside(database, "-wal"))
        yield
    finally:
        connection.close(True)


def _fold(connection: apsw.Connection, log: Path) -> None:
    for _ in range(ATTEMPTS):
        with suppress(apsw.BusyError, apsw.LockedError):
            connection.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_TRUNCATE)
            connection.execute("BEGIN IMMEDIATE")
            if not log.exists() or log.stat().st_size == 0:
                return
            connection.execute("ROLLBACK")
    raise Unavailable("the database is in use: stop its servers (`mcp-memory stop`) and try again")


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
