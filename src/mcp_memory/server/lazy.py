"""An engine that is built at its first use, and runs maintenance from then on."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_memory.errors import MemoryServerError, Unavailable
from mcp_memory.server.workers import Background

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

log = logging.getLogger(__name__)


class LazyEngine:
    """Built once, by whichever thread needs it first.

    Failures are not cached: the next call tries again.
    """

    def __init__(self, build: Callable[[], Engine]) -> None:
        self._build = build
        self._engine: Engine | None = None
        self._lock = threading.Lock()
        self._closed = False
        self.background: Background | None = None
        self._last_request = 0.0

    def __call__(self) -> Engine:
        self._last_request = time.monotonic()
        return self.unasked()

    def unasked(self) -> Engine:
        """The engine, for background work."""
        with self._lock:
            if self._closed:
                raise Unavailable("the server is stopping: try again when it runs")
            if self._engine is None:
                engine = self._build()
                self.background = Background(lambda: engine, lambda: self._last_request)
                self.background.start()
                self._engine = engine
            return self._engine

    def begin(self) -> threading.Thread:
        """Build it in the background; failures are logged."""
        beginning = threading.Thread(target=self._try_once, name="begin", daemon=True)
        beginning.start()
        return beginning

    def _try_once(self) -> None:
        try:
            self()
        except MemoryServerError as error:
            if not self._closed:
                log.warning("not ready yet, the next request tries again: %s", error)

    @property
    def ready(self) -> Engine | None:
        """The engine, if it is built already."""
        return self._engine

    def close(self) -> None:
        """Waits for the running maintenance step."""
        with self._lock:
            self._closed = True
            if self.background is not None:
                self.background.stop()
                self.background = None
            if self._engine is not None:
                self._engine.close()
                self._engine = None
