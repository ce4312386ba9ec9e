"""Keeps an import whole, or takes it back, though it is written in many short transactions.

One long transaction would make other writers wait. So each transaction of an import marks the import as
unfinished in the database, and the last one removes the mark. Only one process imports at a time. A mark
without such a process means that the import was killed, ran out of disk or was stopped: its changes are
undone when the database is next opened, or within a minute by a server that is running.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from mcp_memory.engine.context import Context
from mcp_memory.errors import Conflict, MemoryServerError, Unavailable
from mcp_memory.model import Caller
from mcp_memory.storage import Transaction
from mcp_memory.storage.database import LeaderElection

UNFINISHED = "*unfinished import"

TURN_PATIENCE = 30.0
"""Seconds that an import waits for another one."""
ASK_EVERY = 0.05

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _ImportNote:
    space: str
    client: str
    act: str


class ImportUnderWay:
    """The transactions of one import: a single act, that can be undone."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._act = context.new_id()
        self._begun = False

    @contextmanager
    def writing(self, *, last: bool = False) -> Iterator[Transaction]:
        """The next transaction; `last`: the one that makes the import whole."""
        caller = self._context.caller
        with self._context.store.write(caller, self._context.clock(), self._act) as tx:
            if self._begun and unfinished_act(tx) != self._act:
                # Only if this process was taken for dead, such as after a lost connection.
                raise Conflict("the import was interrupted, and taken back: nothing was imported, try again")
            yield tx
            if last and self._begun:
                tx.settings.put(UNFINISHED, None)
            elif not last and not self._begun:
                note = {"space": caller.space, "client": caller.client, "act": self._act}
                tx.settings.put(UNFINISHED, note)
        self._begun = True

    def finish(self) -> None:
        """Remove the mark: the import is complete."""
        if self._begun:
            with self.writing(last=True):
                pass


@contextmanager
def whole_import(context: Context) -> Iterator[ImportUnderWay]:
    """The turn to import; if it fails, its changes are undone."""
    with context.store.database.leader_election("import") as turn:
        _await(turn)
        _take_back(context)
        try:
            yield ImportUnderWay(context)
        except BaseException:
            _take_back_or_leave(context)
            raise


def take_back_unfinished(context: Context) -> None:
    """Remove what an import has left whose process is gone."""
    with context.reading() as tx:
        if unfinished_act(tx) is None:
            return
    with context.store.database.leader_election("import") as turn:
        if turn.leads():
            _take_back_or_leave(context)


def unfinished_act(tx: Transaction) -> str | None:
    """The act of the import that is under way, or was interrupted."""
    note = tx.settings.get(UNFINISHED)
    return note and str(note["act"])


def _await(turn: LeaderElection) -> None:
    deadline = time.monotonic() + TURN_PATIENCE
    while not turn.leads():
        if time.monotonic() > deadline:
            raise Unavailable("another import is under way: try again when it is done")
        time.sleep(ASK_EVERY)


def _take_back_or_leave(context: Context) -> None:
    try:
        _take_back(context)
    except MemoryServerError as error:
        _log.warning("an interrupted import is taken back later, because now: %s", error)


def _take_back(context: Context) -> None:
    with context.reading() as tx:
        noted = tx.settings.get(UNFINISHED)
    if noted is None:
        return
    note, act = _ImportNote(**noted), context.new_id()
    there = replace(context, caller=Caller(note.space, note.client), claim=None, call=None)
    while True:
        with there.writing(act) as tx:
            if not tx.undo.withdraw(note.act):
                tx.settings.put(UNFINISHED, None)
                break
    _log.warning("an import into the space %r was interrupted, and has been taken back", note.space)
