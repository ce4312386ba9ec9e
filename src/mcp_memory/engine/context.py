"""The context of every use case: store, model, clock and caller."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mcp_memory.embedding import Embedder, NoModel
from mcp_memory.engine import feedback
from mcp_memory.engine.memory_file import MemoryFile
from mcp_memory.engine.write_behind import WriteBehind
from mcp_memory.errors import Conflict, Invalid, Unavailable
from mcp_memory.model import EVERY_SPACE, Caller, Relation
from mcp_memory.ranking.decay import effective_confidence
from mcp_memory.storage import Store, Transaction
from mcp_memory.storage.access import Claim
from mcp_memory.tuning import BackupPlan, Limits, Tuning

NOTE_PATIENCE = 0.25
"""Seconds that a read waits for other writers to record usage."""

MOST_TOLD = 1_000
"""Clients of which a process remembers that they were given a hint; beyond them it may be given again."""

_log = logging.getLogger(__name__)


class CallKey:
    """A request with an idempotency key: it takes effect once, however often it is received."""

    def __init__(self, key: str, id: str) -> None:
        self.key = key
        self._id = id
        self._acts: list[str] = []

    def note(self, tx: Transaction) -> None:
        """Record the act under the key, in its own transaction. `Conflict` if that was done before."""
        acts = [*self._acts, *([] if tx.act in self._acts else [tx.act])]
        if not self._acts:
            tx.access.add_done(self.key, self._id, acts)
        elif acts != self._acts:
            tx.access.put_done(self.key, self._id, acts)
        self._acts = acts


@dataclass(frozen=True, kw_only=True)
class Context:
    store: Store
    embedder: Embedder | NoModel
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    limits: Limits = field(default_factory=Limits)
    tuning: Tuning = field(default_factory=Tuning)
    caller: Caller = field(default_factory=Caller)
    memory_file: MemoryFile | None = None
    """Shared with Anthropic's memory server, if configured."""
    write_behind: WriteBehind | None = None
    """Writes that file shortly after a change; None: within the change."""
    import_dir: Path | None = None
    """The folder whose files remote callers may import; None: none."""
    backups: BackupPlan | None = None
    """The schedule of automatic backups, if any."""
    claim: Claim | None = None
    """The idempotency claim under which this request runs."""
    call: CallKey | None = None
    """The current request, which another server may receive again."""
    read_spaces: tuple[str, ...] = ()
    """Further spaces that searches look into, where the caller may."""
    recording: bool = True
    """Whether reads count as use: being read makes a memory stronger, and teaches the ranking."""
    records_use: bool = True
    """Whether being found counts as use; not while search is measured."""
    later: Callable[[Callable[[], None]], None] | None = None
    """Takes the noting of use, to do it after the answer; None: it is done before."""
    told: set[tuple[str, str, str]] = field(default_factory=set, compare=False)
    """Hints that were given, each with the space and the client. Shared by all contexts of a process."""
    turn: threading.Lock = field(default_factory=threading.Lock, compare=False)
    """Held by the thread that computes embeddings."""

    def having(self, **changed: Any) -> "Context":
        """The same with other values. Every call needs a few, and `replace` takes seven times as long."""
        if unknown := changed.keys() - self.__dict__.keys():
            raise TypeError(f"a context has no {', '.join(sorted(unknown))}")
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **changed)
        return made

    @property
    def further(self) -> list["Context"]:
        """A context for each further space. Reads from another space do not count as use."""
        caller = self.caller
        allowed = [
            space
            for space in dict.fromkeys(self.read_spaces)
            if space != caller.space and (EVERY_SPACE in caller.readable or space in caller.readable)
        ]
        return [
            replace(self, caller=replace(caller, space=space), read_spaces=(), recording=False)
            for space in allowed
        ]

    @property
    def author(self) -> str:
        """The author of a text that names none."""
        return self.tuning.author or self.caller.client or "unknown"

    def tell_once(self, hint: str) -> bool:
        """Whether this client has not been given the hint in this space, since the process began."""
        once = (hint, self.caller.space, self.caller.client)
        if once in self.told:
            return False
        if len(self.told) >= MOST_TOLD:  # clients choose their names
            self.told.clear()
        self.told.add(once)
        return True

    def record_use(self, entities: Sequence[int]) -> None:
        """Record that entities were opened."""

        def note(tx: Transaction) -> None:
            tx.usage.record(entities)
            feedback.opened(tx, entities)

        if entities:
            self.note_in_passing(note)

    def reinforce(self, memories: Sequence[int]) -> None:
        """Reinforce memories that were read."""
        if memories:
            self.note_in_passing(lambda tx: tx.memories.reinforce(memories))

    def note_in_passing(self, note: Callable[[Transaction], None]) -> None:
        """Record usage, if that is possible without waiting.

        Usage is approximate: a read neither fails nor waits because it could not be recorded.
        """
        if not self.recording or not self.records_use:
            return
        if self.later is not None:
            self.later(lambda: self._note_now(note))
        else:
            self._note_now(note)

    def _note_now(self, note: Callable[[Transaction], None]) -> None:
        try:
            with self.noting(patience=NOTE_PATIENCE) as tx:
                note(tx)
        # Conflict: the rows read were deleted since.
        except (Unavailable, Conflict) as error:
            _log.debug("use was not noted: %s", error)

    def reading(
        self, *, urgent: bool = False, whole: bool = False, as_of: datetime | None = None
    ) -> AbstractContextManager[Transaction]:
        """A read transaction, now or as of an earlier moment; for `urgent` and `whole` see `Database`."""
        if as_of is None:
            caller = self.caller
            return self.store.read(
                caller.space, self.clock(), client=caller.client, urgent=urgent, whole=whole
            )
        return self.store.read_as_of(
            self.caller.space, checked_moment(as_of, self.clock()), self._embedded_passages
        )

    def faded(self, relations: Iterable[Relation], at: datetime) -> tuple[Relation, ...]:
        """Relations with their effective confidence; writing a relation again confirms it."""

        def left(relation: Relation) -> float:
            return effective_confidence(relation.confidence, relation.updated_at, at, self.tuning.half_life)

        return tuple(replace(one, effective_confidence=left(one)) for one in relations)

    def _embedded_passages(self, texts: Sequence[str]) -> list[bytes]:
        if isinstance(self.embedder, NoModel) or not texts:
            return []
        try:
            return [vector.tobytes() for vector in self.embedder.embed(texts, "passage")]
        except Unavailable:
            return []

    @contextmanager
    def writing(self, act: str | None = None, *, patience: float | None = None) -> Iterator[Transaction]:
        """A write transaction. Several transactions with the same `act` are one change.

        `patience`: seconds to wait for other writers, if fewer than usual.
        """
        with self.store.write(self.caller, self.clock(), act or self.new_id(), patience=patience) as tx:
            yield tx
            if self.claim is not None and tx.journal.has_events:
                tx.access.carry_out(self.claim, tx.act)
            if self.call is not None and tx.journal.has_events:
                self.call.note(tx)

    def noting(self, *, patience: float | None = None) -> AbstractContextManager[Transaction]:
        """A write of derived data or usage: committed, but not synced to disk immediately."""
        return self.store.write(self.caller, self.clock(), "", durable=False, patience=patience)


def checked_moment(as_of: datetime, now: datetime) -> datetime:
    """An earlier moment, in UTC; one without a time zone is UTC."""
    moment = in_utc(as_of)
    if moment > now:
        raise Invalid(f"as_of {moment.isoformat()} lies in the future: give an earlier one, or none")
    return moment


def in_utc(at: datetime) -> datetime:
    if at.tzinfo is None:
        return at.replace(tzinfo=UTC)
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise Invalid(f"{at} is beyond the calendar: give a date between the years 1 and 9999") from None


class Topic:
    """A group of use cases."""

    def __init__(self, context: Context) -> None:
        self._context = context


def checked_text(text: str, what: str, *, most: int) -> str:
    """The text, validated; `most` is in characters."""
    if not text.strip():
        raise Invalid(f"{what} is empty: give it some text")
    if len(text) > most:
        raise Invalid(f"{what} has {len(text):,} characters, {most:,} are allowed: shorten it or split it up")
    return storable(text, what)


def checked_note(text: str, what: str, *, most: int) -> str:
    """Text that may be empty."""
    return checked_text(text, what, most=most) if text.strip() else storable(text, what)


def storable(text: str, what: str) -> str:
    """Text that both databases and every client can hold."""
    if "\0" in text:
        raise Invalid(f"{what} holds a NUL character, which cannot be stored: remove it")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Invalid(f"{what} holds half of a surrogate pair, which is not text: remove it") from None
    return text


def at_most(count: int, most: int, what: str) -> None:
    if count > most:
        raise Invalid(f"{count} {what} in one call, {most} are allowed: send them in several calls")


def checked_share(value: float, what: str) -> float:
    """A number from 0 to 1."""
    if not 0 <= value <= 1:
        raise Invalid(f"{what} must be between 0 and 1, not {value}")
    return value


def checked_query(query: str, most: int) -> str:
    if len(query) > most:
        raise Invalid(f"the query has {len(query):,} characters, {most:,} are allowed: shorten it")
    return storable(query, "the query")


def checked_limit(limit: int, most: int) -> int:
    if not 1 <= limit <= most:
        raise Invalid(f"limit must be between 1 and {most}, not {limit}")
    return limit


def checked_offset(offset: int) -> int:
    if not 0 <= offset < 2**31:
        raise Invalid(f"offset must be 0 or more, not {offset}")
    return offset
