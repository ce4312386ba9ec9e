"""The digest that a leaving server writes for sessions that begin before the next one runs.

It stands in a file beside an SQLite database, readable by its owner alone, and holds only for the database
as it was then: any later change removes the file, and one made by another program is seen by its size and
time.
"""

from __future__ import annotations

import os

from mcp_memory.thin import wire
from mcp_memory.thin.settings import data_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_memory.thin.settings import Settings

ENDING = ".digests"
"""What the file's name adds to that of the database."""


def kept_digest(settings: Settings, environ: Mapping[str, str], folder: str) -> str:
    """What a session that begins in the folder is told; empty if nothing is kept, or it no longer holds."""
    database = database_file(settings, environ)
    found = read(database) if database else {}
    if not found or found.get("signature") != signature(database):
        return ""
    digests = found["digests"]
    return str(digests.get(key(settings.of("connection"), folder), "")) if isinstance(digests, dict) else ""


def database_file(settings: Settings, environ: Mapping[str, str]) -> str:
    """The path of the SQLite file; empty for another database."""
    url = settings["database_url"]
    if not url:
        return os.path.join(data_folder(environ), "memory.db")
    if not url.startswith("sqlite://"):
        return ""
    named = os.path.expanduser(url.removeprefix("sqlite://").removeprefix("/"))
    return os.path.join(settings.folder, named)


def key(connection: Mapping[str, str], folder: str) -> str:
    """Names a digest: who may read what, and where."""
    return wire.encoded([connection.get("space", ""), connection.get("read_spaces", ""), folder]).decode()


def signature(database: str) -> list[int] | None:
    """Tells one state of the file from another; None while somebody writes to it."""
    try:
        if os.path.exists(f"{database}-wal") and os.path.getsize(f"{database}-wal"):
            return None
        found = os.stat(database)
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def read(database: str) -> dict[str, object]:
    try:
        with open(f"{database}{ENDING}", "rb") as file:
            return wire.decoded(file.read())
    except OSError:
        return {}


def write(database: str, digests: Mapping[str, str]) -> None:
    """Keep digests for the database as it is now. Raises `OSError`."""
    now = signature(database)
    if now is None or not digests:
        return
    draft = f"{database}{ENDING}.{os.getpid()}"
    with open(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(wire.encoded({"signature": now, "digests": dict(digests)}))
    os.replace(draft, f"{database}{ENDING}")
