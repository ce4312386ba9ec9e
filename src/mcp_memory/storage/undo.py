"""Reverts acts from the images that the journal keeps of each row."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_memory.errors import Conflict, NotFound
from mcp_memory.events import (
    ChangeUndone,
    EntityCreated,
    EntityDeleted,
    EntityUpdated,
    JournalEvent,
    MemoryCreated,
    MemoryDeleted,
    MemoryUpdated,
    RelationCreated,
    RelationDeleted,
    RelationUpdated,
)
from mcp_memory.model import Event
from mcp_memory.storage.database import Row
from mcp_memory.storage.journal import Journal, events_of
from mcp_memory.storage.rows import Image, unpacked
from mcp_memory.storage.scope import Scope

WITHDRAWN_EVENTS = 100
WITHDRAWN_ROWS = 100
"""An interrupted act is taken back in steps of about so many, so that others can write in between."""

_MOST_NAMES = 20
"""Event names listed in the payload of an undo."""

_UNDONE: Mapping[str, Any] = {"undone": True}

_Recorded = Callable[[Row], JournalEvent]
_OUTCOMES: Mapping[str, tuple[_Recorded, _Recorded, _Recorded]] = {
    "memory": (
        lambda row: MemoryCreated(row["id"], row["content"], row["type"]),
        lambda row: MemoryUpdated(row["id"], _UNDONE),
        lambda row: MemoryDeleted(row["id"]),
    ),
    "entity": (
        lambda row: EntityCreated(row["id"], row["name"], row["type"]),
        lambda row: EntityUpdated(row["id"], row["name"], _UNDONE),
        lambda row: EntityDeleted(row["id"], row["name"]),
    ),
    "relation": (
        lambda row: RelationCreated(row["id"], row["source"], row["target"], row["type"]),
        lambda row: RelationUpdated(row["id"], row["source"], row["target"], row["type"], _UNDONE),
        lambda row: RelationDeleted(row["id"], row["source"], row["target"], row["type"]),
    ),
}
"""By table: the events of an undo that restores a row, changes it, removes it."""


@dataclass(frozen=True, slots=True)
class Reverted:
    """The events that were undone, and the numbers of the memories this restored."""

    events: tuple[Event, ...]
    memories: tuple[int, ...]


class Undo:
    def __init__(self, scope: Scope, journal: Journal) -> None:
        self._scope = scope
        self._journal = journal

    def revert(self, act: str, only: int | None = None) -> Reverted:
        """Restore every row of an act, or of one of its events, to its earlier state: all of them or none."""
        found = self._undoable(act, only)
        images = [image for row in found for image in unpacked(row["before"])]
        for image in reversed(images):
            obstacle = self._scope.rows.restore(image)
            if obstacle:
                raise Conflict(f"change {act} cannot be undone: {obstacle}. Undo the later change first.")
        touched = self._scope.rows.images
        self._scope.change_each("mark_events_undone", [row["seq"] for row in found], at=self._scope.at)
        for row in found:
            if row["name"] == ChangeUndone.event:
                self._scope.change("mark_act_redone", act=row["subject"], at=row["at"])
        self._journal.record(ChangeUndone(act, [row["name"] for row in found[:_MOST_NAMES]]))
        return Reverted(tuple(events_of(found)), self._record_outcome(touched))

    def withdraw(self, act: str) -> bool:
        """Take back some more of an act that was interrupted, the newest first. False: there is no more.

        Rows that others have changed or built upon since stay as they are.
        """
        found, images = [], 0
        for row in self._scope.run("newest_events_of_act", act=act, limit=WITHDRAWN_EVENTS):
            found.append(row)
            images += len(unpacked(row["before"]))
            if images >= WITHDRAWN_ROWS:
                break
        for row in found:
            for image in reversed(unpacked(row["before"])):
                self._scope.rows.restore(image)
            first, last = row["payload"].get("history", (0, 0))
            self._scope.change("remove_archived_events", first=first, last=last)
        if found:
            touched = self._scope.rows.images
            self._scope.change_each("mark_events_undone", [row["seq"] for row in found], at=self._scope.at)
            self._journal.record(ChangeUndone(act, [row["name"] for row in found[:_MOST_NAMES]]))
            self._record_outcome(touched)
        return bool(found)

    def find_removal(self, memory_id: str) -> Event | None:
        """The event to revert in order to restore a deleted memory, while its image is kept."""
        history = self._journal.about(memory_id)
        acts = [event.act for event in reversed(history) if event.name == MemoryDeleted.event]
        for act in dict.fromkeys(acts):
            for row in reversed(self._scope.run("events_of_act", act=act)):
                images = unpacked(row["before"])
                if row["undone_at"] is None and any(_removes(image, memory_id) for image in images):
                    return events_of([row])[0]
        return None

    def _undoable(self, act: str, only: int | None) -> list[Row]:
        events = self._scope.run("events_of_act", act=act)
        if not events:
            raise NotFound(f"the journal has no change {act} in this space: list the changes to see them")
        found = [row for row in events if row["undone_at"] is None and only in (None, row["seq"])]
        if not found:
            raise Conflict(f"change {act} was undone already")
        if not any(row["before"] for row in found):
            raise Conflict(
                f"change {act} cannot be undone: it changed nothing, or the time to undo it is over"
            )
        return found

    def _record_outcome(self, touched: Iterable[Image]) -> tuple[int, ...]:
        """Record what the undo created, updated and deleted. Returns the numbers of restored memories."""
        first: dict[tuple[str, int], Image] = {}
        for image in touched:
            first.setdefault((image["table"], image["key"]), image)
        restored = []
        for (table, seq), image in first.items():
            if table not in _OUTCOMES:
                continue
            created, updated, deleted = _OUTCOMES[table]
            before, now = _visible(image["before"]), _visible(self._scope.rows.find(table, seq))
            if before is None and now is not None:
                self._journal.record(created(self._with_ends(table, now)))
                restored += [seq] if table == "memory" else []
            elif before is not None and now is None:
                self._journal.record(deleted(self._with_ends(table, before)))
            elif now is not None:
                self._journal.record(updated(self._with_ends(table, now)))
        return tuple(restored)

    def _with_ends(self, table: str, row: Row) -> Row:
        """The row; a relation's with the names of its ends."""
        if table != "relation":
            return row
        ends = [self._scope.rows.find("entity", row[end]) or {} for end in ("source_seq", "target_seq")]
        return {**row, "source": ends[0].get("name", ""), "target": ends[1].get("name", "")}


def _visible(row: Row | None) -> Row | None:
    return None if row is None or row.get("forgotten_at") is not None else row


def _removes(image: Image, memory_id: str) -> bool:
    return bool(image["table"] == "memory" and image["after"] is None and image["before"]["id"] == memory_id)
