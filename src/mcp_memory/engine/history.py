"""History: undo, forgetting and restoring, versions, deletion, purging."""

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from mcp_memory.engine.context import Context, Topic, checked_limit
from mcp_memory.engine.drafts import WRITTEN
from mcp_memory.engine.memory_changes import refuse_twin, remember_again
from mcp_memory.engine.whole_import import unfinished_act
from mcp_memory.errors import Conflict, NotFound
from mcp_memory.events import ChangeUndone, MemoryUpdated, kind_of
from mcp_memory.fields import Help, Id
from mcp_memory.model import Event, Memory, MemoryVersion
from mcp_memory.storage import Transaction
from mcp_memory.storage.database import ChangeSignal
from mcp_memory.storage.journal import Act
from mcp_memory.storage.purging import Doomed
from mcp_memory.text.change_words import change_in_words

_log = logging.getLogger(__name__)

UNSCRUBBED = "*unscrubbed"
"""Setting key: traces of a purge may still be in the files."""

MOST_LISTED = 100
MOST_EVENTS = 1000

_INTERNAL = frozenset({"seq", "space_id", "content_hash", "hash"})

_RESTORED = ("kind", *(name for name in WRITTEN if name != "confidence"))
"""Fields that restoring a version sets. Confidence stays: it reflects use, not content."""


KEPT_VERSIONS = 20
"""Versions of a memory that are kept regardless of age; older ones expire with the journal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One change as people see it."""

    act: str
    """Undo takes this."""
    summary: str
    at: datetime
    client: str
    undoable: bool
    undone: bool
    cursor: int
    """Older changes come before this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Undone:
    """An undone change, and the change that undid it: undoing that one is a redo."""

    act: str
    summary: str
    by_act: str
    restored: tuple[str, ...]
    """Ids of the restored memories."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Past:
    """A memory, living, forgotten or deleted, with its versions and events, in order."""

    memory: Memory | None
    versions: tuple[MemoryVersion, ...]
    events: tuple[Event, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Purged:
    """Memories that were purged, or would be in a dry run."""

    entity: str | None
    memory_ids: tuple[Id, ...]
    event_count: Annotated[int, Help("How many journal entries mentioned it.")]
    """They were redacted."""
    dry_run: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Touched:
    seq: int
    """The number of the last event."""
    anything: bool
    """Whether anything visible has changed."""
    entities: tuple[str, ...]
    """Names of entities that may have changed."""


@dataclass(frozen=True, slots=True)
class RowBefore:
    """A row as it was before a change."""

    table: Annotated[str, Help("What kind of thing it is: `memory`, `entity`, `relation`, …")]
    row: Annotated[Mapping[str, Any] | None, Help("The row before the change; null: it did not exist.")]


@dataclass(frozen=True, slots=True)
class EventWithRows:
    event: Event
    before: tuple[RowBefore, ...]
    """Empty once it can no longer be undone."""


class History(Topic):
    def recent(self, limit: int = 20, before: int | None = None) -> list[Change]:
        """Changes in this space, the newest first; `before` is the cursor of the last one seen."""
        checked_limit(limit, MOST_LISTED)
        with self._context.reading() as tx:
            acts = tx.journal.acts(limit, 2**62 if before is None else before)
        return [_change(act) for act in acts]

    def details(self, act: str) -> list[EventWithRows]:
        """The events of one change, with the rows as they were before."""
        with self._context.reading() as tx:
            found = tx.journal.images_of(act)
        if not found:
            raise NotFound(f"the journal has no change {act} in this space: list the changes to see them")
        return [EventWithRows(event, tuple(map(_row_before, images))) for event, images in found]

    def events_after(self, seq: int, limit: int = MOST_EVENTS) -> list[Event]:
        """Events since a position, in order."""
        checked_limit(limit, MOST_EVENTS)
        with self._context.reading() as tx:
            return tx.journal.after(seq, limit)

    def events_of(self, act: str) -> list[Event]:
        """The events of one change, in order."""
        with self._context.reading() as tx:
            return tx.journal.of_act(act)

    def touched(self, after: int) -> Touched:
        """Summary of the events after this one, for views that refresh themselves."""
        last, names, memories, told = after, dict[str, None](), dict[str, None](), False
        with self._context.reading() as tx:
            while events := tx.journal.after(last, MOST_EVENTS):
                last = events[-1].seq
                for event in events:
                    told = told or kind_of(event.name).shows
                    names |= dict.fromkeys(_entities_named(event))
                    memories |= dict.fromkeys([event.subject] if event.name.startswith("memory_") else [])
            found = tx.memories.fetch_ids(memories)
            about = tx.entities.of_memories(memory.seq for memory in found.values())
        names |= dict.fromkeys(str(entity["name"]) for entities in about.values() for entity in entities)
        return Touched(seq=last, anything=told, entities=tuple(names))

    def last_seq(self) -> int:
        """The number of the newest event."""
        with self._context.reading() as tx:
            return tx.journal.last_seq()

    def change_signal(self) -> AbstractContextManager[ChangeSignal]:
        """A signal for writes in any space, by any process: a hint to look for events."""
        return self._context.store.database.change_signal()

    def undo(self, act: str) -> Undone:
        """Revert everything that a change touched, all or nothing."""
        with self._context.writing() as tx:
            return self._take_back(tx, act)

    def undo_last(self, *, by: str | None = None) -> Undone:
        """Undo the newest change that is not an undo itself; with `by`, the newest of that client."""
        with self._context.writing() as tx:
            return self._take_back(tx, self._last_undoable(tx, by))

    def restore(self, memory_id: str) -> Memory:
        """Restore a memory that was forgotten, deleted, pruned or merged, with its links."""
        with self._context.writing() as tx:
            memory = tx.memories.fetch_ids([memory_id]).get(memory_id)
            if memory is None:
                self._undelete(tx, memory_id)
            elif memory.forgotten_at is not None:
                remember_again(tx, memory)
            return tx.memories.get(memory_id)

    def versions(self, memory_id: str) -> list[MemoryVersion]:
        """Earlier states of a memory, and memories it absorbed; the oldest first."""
        with self._context.reading() as tx:
            return tx.memories.versions(tx.memories.get(memory_id))

    def of(self, memory_id: str) -> Past:
        """The versions and events of a memory, also of a deleted one."""
        with self._context.reading() as tx:
            memory = tx.memories.fetch_ids([memory_id]).get(memory_id)
            events = tx.journal.about(memory_id)
            if memory is None and not events:
                raise NotFound(f"no memory has the id {memory_id}, and the journal knows none")
            versions = tx.memories.versions(memory) if memory else []
        return Past(memory=memory, versions=tuple(versions), events=tuple(events))

    def restore_version(self, memory_id: str, number: int) -> Memory:
        """Restore an earlier version of a memory; its present state becomes a version."""
        with self._context.writing() as tx:
            memory = tx.memories.get(memory_id)
            if memory.forgotten_at is not None:
                raise Conflict(f"memory {memory_id} is forgotten: restore it first")
            found = {version.number: version for version in tx.memories.versions(memory)}
            if number not in found:
                there = ", ".join(map(str, found)) or "none"
                raise NotFound(f"memory {memory_id} has no version {number}; there are: {there}")
            changes = _restoring(memory, found[number])
            if not changes:
                return memory
            refuse_twin(tx, memory, changes.get("content", memory.content))
            revised = tx.memories.revise(memory, f"restored version {number}", **changes)
            tx.journal.record(MemoryUpdated(memory.id, {"restored_version": number}))
            return revised

    def purge(self, which: str, *, dry_run: bool = False) -> Purged:
        """Remove a memory by id, or an entity by name with every memory about it, for good and at once.

        Versions and the journal lose it too; nothing brings it back.
        """
        with self._context.reading() as tx:
            doomed = tx.purging.find(which)
            if dry_run:
                return _purged(doomed, dry_run=True)
            known = tx.purging.mentions(doomed)
        with self._context.writing() as tx:
            # Anew: others may have written since.
            doomed = tx.purging.find(which)
            done = _purged(doomed, event_count=tx.purging.erase(doomed, known))
            tx.settings.put(UNSCRUBBED, tx.act)
        scrub(self._context)
        return done

    def age_journal(self) -> int:
        """Drop undo data older than `TRASH_DAYS`, and events older than `JOURNAL_DAYS`.

        In short transactions: after a busy day there is much of it, and others wait to write.
        """
        tuning, aged = self._context.tuning, [0]
        while aged_now := self._age_some(aged[-1]):
            aged += aged_now
        while self._drop_some():
            pass
        with self._context.noting() as tx:
            tx.purging.sweep(tx.at - tuning.trash)
            tx.memories.age_versions(tx.at - max(tuning.journal, tuning.trash), KEPT_VERSIONS)
        return len(aged) - 1

    def _age_some(self, after: int) -> list[int]:
        with self._context.noting() as tx:
            # An unfinished import keeps whatever is needed to take it back.
            return tx.journal.age(tx.at - self._context.tuning.trash, after, unfinished_act(tx))

    def _drop_some(self) -> int:
        tuning = self._context.tuning
        with self._context.noting() as tx:
            return tx.journal.drop(tx.at - max(tuning.journal, tuning.trash), unfinished_act(tx))

    def _take_back(self, tx: Transaction, act: str, only: int | None = None) -> Undone:
        taken = tx.undo.revert(act, only)
        counts: dict[str, int] = {}
        for event in taken.events:
            counts[event.name] = counts.get(event.name, 0) + 1
        first = taken.events[0]
        # Reinforced, so that the next pruning does not remove them again.
        tx.memories.reinforce(taken.memories)
        restored = tx.memories.fetch(taken.memories)
        return Undone(
            act=act,
            summary=change_in_words(counts, first.name, first.payload),
            by_act=tx.act,
            restored=tuple(memory.id for memory in restored.values()),
        )

    def _last_undoable(self, tx: Transaction, by: str | None) -> str:
        before = 2**62
        while acts := tx.journal.acts(MOST_LISTED, before):
            for act in acts:
                if (
                    act.kept
                    and not act.undone
                    and ChangeUndone.event not in act.counts
                    and by in (None, act.client)
                ):
                    return act.act
            before = acts[-1].last_seq
        raise NotFound("there is no change left that can be undone")

    def _undelete(self, tx: Transaction, memory_id: str) -> None:
        removal = tx.undo.find_removal(memory_id)
        if removal is None:
            days = self._context.tuning.trash.days
            raise NotFound(
                f"no memory has the id {memory_id}, and none with it was deleted in the last {days} days"
            )
        self._take_back(tx, removal.act, removal.seq)


def _purged(doomed: Doomed, *, event_count: int = 0, dry_run: bool = False) -> Purged:
    return Purged(
        entity=doomed.entity.name if doomed.entity else None,
        memory_ids=tuple(memory.id for memory in doomed.memories),
        event_count=event_count,
        dry_run=dry_run,
    )


def _change(act: Act) -> Change:
    return Change(
        act=act.act,
        summary=change_in_words(act.counts, act.sample.name, act.sample.payload),
        at=act.at,
        client=act.client,
        undoable=act.kept and not act.undone,
        undone=act.undone,
        cursor=act.last_seq,
    )


def _row_before(image: Mapping[str, Any]) -> RowBefore:
    """Without the numbers and digests that only the storage needs."""
    row: Mapping[str, Any] | None = image["before"]
    if row is None:
        return RowBefore(image["table"], None)
    shown = {name: row[name] for name in row if name not in _INTERNAL and not name.endswith("_seq")}
    return RowBefore(image["table"], shown)


def _entities_named(event: Event) -> list[str]:
    named = kind_of(event.name).entity_fields
    return [str(event.payload[field]) for field in named if field in event.payload]


def _restoring(memory: Memory, version: MemoryVersion) -> dict[str, Any]:
    wanted: dict[str, Any] = {name: version.state[name] for name in _RESTORED if name in version.state}
    wanted |= {"content": version.content, "tags": tuple(version.state.get("tags", memory.tags))}
    return {name: value for name, value in wanted.items() if value != getattr(memory, name)}


def scrub(context: Context) -> None:
    """Remove traces of purged data from the files. If that fails, or the process dies, it is done again."""
    with context.reading() as tx:
        purge = tx.settings.get(UNSCRUBBED, False)
    if not context.store.database.scrub():
        _log.warning("traces of a purge stay until nobody reads the database for long; trying again later")
        return
    with context.noting() as tx:
        # Another purge meanwhile has traces of its own.
        if tx.settings.get(UNSCRUBBED, False) == purge:
            tx.settings.put(UNSCRUBBED, False)
