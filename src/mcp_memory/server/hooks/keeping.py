"""Keeps digests for sessions that start while no server runs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from mcp_memory.engine import Engine
from mcp_memory.engine.arrivals import Place
from mcp_memory.engine.project import project_of
from mcp_memory.errors import MemoryServerError
from mcp_memory.thin import kept_digest

log = logging.getLogger(__name__)

MOST_KEPT = 50
"""How many folders, those of the most recent sessions."""


def kept_keys(database: Path) -> list[str]:
    """Keys whose digests an earlier server has kept."""
    found = kept_digest.read(str(database)).get("digests", {})
    return list(found) if isinstance(found, dict) else []


def digests(engine_in: Callable[[Mapping[str, str]], Engine], keys: Iterable[str]) -> dict[str, str]:
    """Current digests by key. `engine_in` returns the engine for given settings."""
    found = {}
    for key in list(dict.fromkeys(keys))[-MOST_KEPT:]:
        with suppress(MemoryServerError, ValueError):
            space, read_spaces, folder = json.loads(key)
            engine = engine_in({"space": space, "read_spaces": read_spaces})
            found[key] = _digest(engine, str(folder))
    return {key: text for key, text in found.items() if text}


def leave(database: Path, found: dict[str, str]) -> None:
    """Write them beside the database, which must be closed."""
    try:
        kept_digest.write(str(database), found)
    except OSError as error:
        log.info("no digest is kept for the next start: %s", error)


def _digest(engine: Engine, folder: str) -> str:
    project = project_of(folder)
    return engine.arrivals.at_start(Place(project=project.key), record=False).text if project.recall else ""
