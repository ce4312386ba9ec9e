"""The digest that a server stores when it ends, for sessions that start before the next one runs.

It is a file beside an SQLite database, readable only by its owner, and valid only for that state of the
database: any later change deletes it, and changes by other programs are detected by size and time.
"""

from __future__ import annotations

import os

from mcp_memory.thin import wire
from mcp_memory.thin.settings import data_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_memory.thin.settings import ThinSettings

ENDING = ".digests"
"""Suffix of the file's name."""


def kept_digest(settings: ThinSettings, environ: Mapping[str, str], folder: str) -> str:
    """The digest for a session that starts in the folder; empty if there is none or it is stale."""
    database = database_file(settings, environ)
    found = read(database) if database else {}
    if not found or found.get("signature") != signature(database):
        return ""
    digests = found["digests"]
    return str(digests.get(key(settings.of("connection"), folder), "")) if isinstance(digests, dict) else ""


def database_file(settings: ThinSettings, environ: Mapping[str, str]) -> str:
    """The path of the SQLite file; empty for another database."""
    url = settings["database_url"]
    if not url:
        return os.path.join(data_folder(environ), "memory.db")
    if not url.startswith("sqlite://"):
        return ""
    named = os.path.expanduser(url.removeprefix("sqlite://").removeprefix("/"))
    return os.path.join(settings.folder, named)


def key(connection: Mapping[str, str], folder: str) -> str:
    """Key of a digest: settings and folder."""
    return wire.encoded([connection.get("space", ""), connection.get("read_spaces", ""), folder]).decode()


def signature(database: str) -> list[int] | None:
    """Identifies the state of the database file; None while it is being written."""
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
    """Store digests for the present state of the database. Raises `OSError`."""
    now = signature(database)
    if now is None or not digests:
        return
    draft = f"{database}{ENDING}.{os.getpid()}"
    with open(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(wire.encoded({"signature": now, "digests": dict(digests)}))
    os.replace(draft, f"{database}{ENDING}")
