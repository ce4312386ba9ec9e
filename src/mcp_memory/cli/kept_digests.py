"""Digests that the shared server stores when it ends."""

from __future__ import annotations

from mcp_memory.config import Config
from mcp_memory.server.hooks import keeping
from mcp_memory.server.shared.requests import HOOKS
from mcp_memory.server.shared.service import Service


class KeptDigests:
    """Digests for sessions that start before the next server runs."""

    def __init__(self, config: Config, service: Service) -> None:
        self._file = config.database_file
        self._service = service
        self._found: dict[str, str] = {}
        self._keys = keeping.kept_keys(self._file) if self._file else []

    def prepare(self) -> None:
        """Call while the database is open."""
        if self._file and self._service.engine.ready:
            self._found = keeping.digests(self._service.engine_in, [*self._keys, *HOOKS.starts])

    def leave(self) -> None:
        """Call once it is closed."""
        if self._file:
            keeping.leave(self._file, self._found)
