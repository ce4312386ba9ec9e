"""An engine that is built at its first use, and runs maintenance from then on."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_memory.errors import MemoryServerError, Unavailable
from mcp_memory.server.workers import Background

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

log = logging.getLogger(__name__)

CLOSING = 5.0
"""Seconds for background work to end during shutdown."""


class LazyEngine:
    """Built once, by whichever thread needs it first.

    Failures are not cached: the next call tries again.
    """

    def __init__(self, build: Callable[[], Engine]) -> None:
        self._build = build
        self._engine: Engine | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._close_ended = threading.Event()
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

    def close(self, patience: float = CLOSING) -> bool:
        """Whether background work has ended and the database is closed.

        Work that takes longer than `patience` seconds, such as a backup, is abandoned: the next server
        repeats what was not committed. The process must then end with `end_process`.
        """
        self._closed = True
        threading.Thread(target=self._close, name="close", daemon=True).start()
        if not self._close_ended.wait(patience):
            log.warning("background work does not end, and is left to the next server")
        return self._close_ended.is_set()

    def _close(self) -> None:
        with self._lock:
            if self.background is not None:
                self.background.stop()
                self.background = None
            if self._engine is not None:
                self._engine.close()
                self._engine = None
        self._close_ended.set()

    def end_process(self) -> None:
        """End the process at once if work is still running: a normal exit unloads libraries that it uses."""
        if self._closed and not self._close_ended.is_set():
            logging.shutdown()
            os._exit(0)
