"""Runs maintenance in a background thread, in one process among all that share a database."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_memory.server.free_memory import give_back
from mcp_memory.server.garbage import Collector

if TYPE_CHECKING:
    from mcp_memory.engine import Engine
    from mcp_memory.engine.scheduled_maintenance import MaintenanceRun

log = logging.getLogger(__name__)

NOTICE = 0.5
"""Longest time in seconds until the thread notices that it should stop."""

CALM = 0.15
"""Seconds without a request before vectors are made: the model uses every core, which delays requests."""

LONGEST_DELAY = 2.0
"""Maximum delay of vectors in seconds."""

AFTER_TROUBLE = 10.0
"""Backoff in seconds after a failed step."""


class Background:
    """`start` it once the engine is built; `stop` waits for the running step."""

    def __init__(self, engine: Callable[[], Engine], last_request: Callable[[], float] = lambda: 0.0) -> None:
        """`last_request` returns the time of the last request, by the monotonic clock."""
        self._engine = engine
        self._last_request = last_request
        self._stopping = threading.Event()
        self._collector = Collector()
        self._thread = threading.Thread(target=self._work, name="background", daemon=True)
        self.leads = False
        self.runs: dict[str, MaintenanceRun] = {}
        """The last run of each job, in any space."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                self._watch()
            except Exception:
                # No failure, such as a restarting database or a full disk, may end maintenance.
                log.exception("a maintenance step failed; trying again in %.0f s", AFTER_TROUBLE)
                self._stopping.wait(AFTER_TROUBLE)

    def _watch(self) -> None:
        from mcp_memory.engine.scheduled_maintenance import LOOK_EVERY

        maintenance = self._engine().scheduled_maintenance
        if trouble := maintenance.probe_model():
            log.warning("memories are found by their words only: %s", trouble)
        looked: float | None = None
        with maintenance.signals() as (election, signal):
            while self._going_on():
                self._collector.collect_if_due(calm=time.monotonic() - self._last_request() > CALM)
                self.leads = election.leads()
                if not self.leads:
                    self._stopping.wait(NOTICE)
                    continue
                if maintenance.has_vectors_to_make():
                    self._let_requests_pass()
                made = maintenance.make_vectors()
                if looked is None or time.monotonic() - looked > LOOK_EVERY.total_seconds():
                    if steps := maintenance.migrate_further(self._going_on):
                        log.info("migrated the database in the background, in %d steps", steps)
                    self._note(maintenance.run_due(self._going_on))
                    for step in maintenance.tend_index(self._going_on):
                        log.info("vector index: %s", step)
                    give_back()
                    looked = time.monotonic()
                if not made:
                    signal.wait(NOTICE)

    def _let_requests_pass(self) -> None:
        ends = time.monotonic() + LONGEST_DELAY
        while (now := time.monotonic()) < min(ends, self._last_request() + CALM):
            if self._stopping.wait(min(ends, self._last_request() + CALM) - now):
                return

    def _note(self, runs: list[MaintenanceRun]) -> None:
        for run in runs:
            log.debug("%s (%s): %s", run.job, run.space, run.result)
            self.runs[run.job] = run

    def _going_on(self) -> bool:
        return not self._stopping.is_set()
