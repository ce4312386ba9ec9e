"""Background work: missing vectors, indexes, and due jobs of each space."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from mcp_memory.embedding import NoModel, RemoteModel
from mcp_memory.engine.backups import Backups
from mcp_memory.engine.context import Context, Topic
from mcp_memory.engine.history import UNSCRUBBED, scrub
from mcp_memory.engine.indexing import Indexing
from mcp_memory.engine.maintenance import Maintenance
from mcp_memory.engine.schedule import expiry_time
from mcp_memory.engine.whole_import import take_back_unfinished
from mcp_memory.errors import MemoryServerError, Unavailable
from mcp_memory.events import SyncComplete
from mcp_memory.model import Caller
from mcp_memory.storage import Transaction
from mcp_memory.storage.database import ChangeSignal, LeaderElection

_log = logging.getLogger(__name__)

CLIENT = "maintenance"
"""Client name in the journal for automatic changes."""

LOOK_EVERY = timedelta(minutes=1)
"""Interval between checks for due jobs, which run daily or after many insertions."""

ANSWERS_STEP = timedelta(minutes=30)
"""How far the clock for stored answers advances in one check: they live for a day, and a clock that is wrong
for some minutes must not end them.
"""

_ANSWERS_EXPIRED_UP_TO = "*answers expired up to"


@dataclass(frozen=True, slots=True)
class MaintenanceRun:
    """One run of a maintenance job, and its result."""

    job: str
    space: str
    at: datetime
    result: str


class ScheduledMaintenance(Topic):
    @contextmanager
    def signals(self) -> Iterator[tuple[LeaderElection, ChangeSignal]]:
        """The leader election and the signal for changes, for a background thread."""
        database = self._context.store.database
        with database.leader_election() as election, database.change_signal() as signal:
            yield election, signal

    def probe_model(self) -> str:
        """Embed one text with a remote model to learn its state. Returns why that failed, or nothing."""
        embedder = self._context.embedder
        if isinstance(embedder, NoModel) or not isinstance(embedder, RemoteModel):
            return ""
        try:
            embedder.embed(["probe"], "query")
        except Unavailable as error:
            return str(error)
        return ""

    def has_vectors_to_make(self) -> bool:
        with self._context.reading() as tx:
            return bool(tx.indexes.pending_anywhere(1))

    def make_vectors(self) -> int:
        """Compute one batch of missing vectors, in any space. Returns their number."""
        return Indexing(self._context).catch_up_anywhere()

    def migrate_further(self, going_on: Callable[[], bool]) -> int:
        """Resume a migration until it is done or may not continue. Returns the number of steps."""
        count = 0
        try:
            for step in self._context.store.database.migrate_further():
                count += 1
                _log.debug("migration: %s", step)
                if not going_on():
                    break
        except Exception:
            # The database serves as it is, and the other work goes on.
            _log.exception("the migration of the database could not go on; trying again later")
        return count

    def tend_index(self, going_on: Callable[[], bool]) -> list[str]:
        """Maintain the keyword and vector indexes until told to stop. Yields the steps that were done."""
        done = []
        for step in self._tending():
            done.append(step)
            if not going_on():
                break
        return done

    def _tending(self) -> Iterator[str]:
        database = self._context.store.database
        yield from database.words.maintain(database)
        model = Indexing(self._context).model()
        if model is not None:
            yield from database.vectors.maintain(database, model.id, model.dimensions)

    def run_due(self, going_on: Callable[[], bool]) -> list[MaintenanceRun]:
        """Run the due jobs of every space until told to stop."""
        runs = []
        take_back_unfinished(self._context)
        for space in self._context.store.spaces():
            if not going_on():
                break
            there = replace(self._context, caller=Caller(space, CLIENT, via="maintenance"))
            try:
                done: Mapping[Any, str] = Maintenance(there).run_due()
                if done:
                    _tell(there)
            except Exception as error:
                # An error in one space, such as an unreadable row, must not stop the others.
                _log.exception("maintenance of the space %r failed", space)
                done = {"maintenance": f"failed: {error}"}
            runs += [MaintenanceRun(job, space, self._context.clock(), what) for job, what in done.items()]
        with self._context.noting() as tx:
            tx.access.forget_answered(_answers_expire_at(tx) - self._context.tuning.answers)
            unscrubbed = tx.settings.get(UNSCRUBBED, False)
        if unscrubbed:  # a process died while it removed the traces of a purge
            scrub(self._context)
        return [*runs, *self._back_up()]

    def _back_up(self) -> Iterator[MaintenanceRun]:
        plan = self._context.backups
        if plan is None:
            return
        try:
            made = Backups(self._context).make_if_due(plan)
        except MemoryServerError as error:
            _log.error("no backup was made: %s", error)
            yield MaintenanceRun("backup", "", self._context.clock(), f"failed: {error}")
        else:
            if made is not None:
                yield MaintenanceRun("backup", "", made.made_at, f"wrote {made.path.name}")


def _answers_expire_at(tx: Transaction) -> datetime:
    """The clock for answers: without the stored one, a retry would be carried out a second time."""
    stored = tx.settings.get(_ANSWERS_EXPIRED_UP_TO)
    last = stored and datetime.fromisoformat(stored)
    moment = expiry_time(last, tx.at, ANSWERS_STEP)
    if last is None or abs(moment - last) >= ANSWERS_STEP:  # else an idle server would write each minute
        tx.settings.put(_ANSWERS_EXPIRED_UP_TO, moment.isoformat())
    return moment


def _tell(context: Context) -> None:
    """Tells followers of the journal that due maintenance in the space is done."""
    with context.writing() as tx:
        tx.journal.record(SyncComplete(tx.at.isoformat()))
