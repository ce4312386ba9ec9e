"""Verifies the file of a backup."""

from pathlib import Path

import apsw

from mcp_memory.errors import Unavailable
from mcp_memory.storage.sqlite.derived_checks import triggers
from mcp_memory.storage.sqlite.diagnostics import examine

_SQLITE = b"SQLite format 3\0"


def refuse_other_files(path: Path) -> None:
    """Raises `Unavailable` for a file that is no database, before it is copied."""
    with path.open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            raise Unavailable(f"the backup {path} is not sound: this file is not a database")


def refuse_triggers(path: Path, *, shown: Path) -> None:
    """Raises `Unavailable` for a database with triggers, which change rows unasked: ours has none."""
    # Immutable, or a log would be made beside it.
    address = f"{path.absolute().as_uri()}?immutable=1"
    connection = apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        found = triggers(connection)
    finally:
        connection.close()
    if found:
        names = ", ".join(map(ascii, found[:5]))
        raise Unavailable(f"the backup {shown} has triggers, so it was not made by mcp-memory: {names}")


def verify_backup(path: Path, *, shown: Path | None = None) -> None:
    """Raises `Unavailable` unless the file is a sound database of this program. `shown`: its name for people.

    The copy was made page by page, so its pages are what can be wrong with it; `doctor` reads every row. That
    takes minutes for 100,000 entities, while a backup is made every day beside people's work.
    """
    checks = ("schema", "integrity", "references", "database")
    found = examine(path, structure_only=True)
    wrong = [one for one in found if not one.is_well and one.subject in checks]
    if wrong or not path.exists():
        told = "; ".join(one.detail.replace(str(path), str(shown or path)) for one in wrong)
        raise Unavailable(f"the backup {shown or path} is not sound: {told}")
