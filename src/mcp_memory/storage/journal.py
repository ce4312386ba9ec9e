"""The journal: what happened, to what, by whom, and what was there before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mcp_memory.errors import Conflict, NotFound
from mcp_memory.model import Event
from mcp_memory.storage.database import Row
from mcp_memory.storage.rows import Image
from mcp_memory.storage.scope import Scope

UNDONE = "change_undone"
"""The event of an undo; its subject is the act that was taken back."""

_CONTENTS = ("content", "changes", "absorbed")
"""What in an event tells the words of a memory."""

_PAGE = 500
_NAMED_AT_MOST = 20
_TOLD: Mapping[str, tuple[str, ...]] = {
    "memory": ("content", "type"),
    "entity": ("name", "type"),
    "relation": ("type",),
}
"""What an event about something that is there again tells of it."""


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    subject: str
    payload: Mapping[str, Any]
    images: list[Image]


@dataclass(frozen=True, kw_only=True, slots=True)
class Act:
    """One change as a whole: how many events of each name, and whether it can be taken back."""

    act: str
    last_seq: int
    at: datetime
    client: str
    counts: Mapping[str, int]
    sample: Event
    """The first of its events."""
    undone: bool
    kept: bool
    """What was there before is still known."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What was undone, and the numbers of the memories that are there again by it."""

    events: tuple[Event, ...]
    memories: tuple[int, ...]


class Journal:
    """Events are gathered while the transaction runs and written as its last act."""

    def __init__(self, scope: Scope, act: str, client: str) -> None:
        self._scope = scope
        self._act = act
        self._client = client
        self._entries: list[_Entry] = []

    def record(self, name: str, subject: str, /, **payload: Any) -> None:
        """Say what the rows written since the last event amount to."""
        images, self._scope.rows.images = self._scope.rows.images, []
        self._entries.append(_Entry(name, subject, payload, images))

    @property
    def has_events(self) -> bool:
        return bool(self._entries)

    def record_rows(self, name: str, told: Mapping[str, Mapping[str, Any]]) -> None:
        """Say the same of each of the rows written last, in order: by subject, what is told of it."""
        images = self._scope.rows.images
        first = len(images) - len(told)
        self._scope.rows.images, own = images[:first], images[first:]
        for image, (subject, payload) in zip(own, told.items(), strict=True):
            self._scope.rows.images.append(image)
            self.record(name, subject, **payload)

    def write(self) -> None:
        if self._scope.rows.images:
            if not self._entries:
                raise AssertionError("rows were changed, but no event says why")
            self._entries[-1].images.extend(self._scope.rows.images)
        if not self._entries:
            return
        rows = [
            {
                "space_id": self._scope.space_id, "act": self._act, "name": entry.name,
                "subject": entry.subject, "payload": dict(entry.payload), "client": self._client,
                "at": self._scope.at, "before": entry.images,
            }
            for entry in self._entries
        ]  # fmt: skip
        self._scope.connection.insert_all("event", tuple(rows[0]), rows)

    def after(self, seq: int, limit: int) -> list[Event]:
        return _events(self._scope.run("events_after", after=seq, limit=limit))

    def latest(self, limit: int, before: int = 2**62) -> list[Event]:
        """Newest first."""
        return _events(self._scope.run("events_before", before=before, limit=limit))

    def about(self, subject: str) -> list[Event]:
        return _events(self._scope.run("events_about", subject=subject))

    def of_act(self, act: str) -> list[Event]:
        return _events(self._scope.run("events_of_act", act=act))

    def last_seq(self) -> int:
        [row] = self._scope.run("last_event")
        return int(row["seq"])

    def acts(self, limit: int, before: int = 2**62) -> list[Act]:
        """The newest first; `before` is the `last_seq` of the last one of the page before."""
        newest: dict[str, None] = {}
        seq = before
        while len(newest) < limit and (page := self._scope.run("acts_before", before=seq, limit=_PAGE)):
            newest |= dict.fromkeys(row["act"] for row in page)
            seq = page[-1]["seq"]
        found = [act for act in self._summed_up(newest) if act.last_seq < before]
        return sorted(found, key=lambda act: -act.last_seq)[:limit]

    def take_back(self, act: str, only: int | None = None) -> TakenBack:
        """Make every row of an act, or of one event of it, what it was before. All of them, or none."""
        found = self._undoable(act, only)
        images = [image for row in found for image in row["before"]]
        for image in reversed(images):
            obstacle = self._scope.rows.put_back(image)
            if obstacle:
                raise Conflict(f"change {act} cannot be undone: {obstacle}. Undo the later change first.")
        touched = self._scope.rows.images
        self._scope.change_each("mark_events_undone", [row["seq"] for row in found], at=self._scope.at)
        for row in found:
            if row["name"] == UNDONE:
                self._scope.change("mark_act_redone", act=row["subject"], at=row["at"])
        self.record(UNDONE, act, act=act, did=[row["name"] for row in found[:_NAMED_AT_MOST]])
        return TakenBack(tuple(_events(found)), self._say_what_became(touched))

    def find_removal(self, memory_id: str) -> Event | None:
        """The event whose taking back brings a memory back, if it was removed and that is still kept."""
        acts = [event.act for event in reversed(self.about(memory_id)) if event.name == "memory_deleted"]
        for act in dict.fromkeys(acts):
            for row in reversed(self._scope.run("events_of_act", act=act)):
                if row["undone_at"] is None and any(_removes(image, memory_id) for image in row["before"]):
                    return _events([row])[0]
        return None

    def record_for_good(self, name: str, subject: str, /, **payload: Any) -> None:
        """Say what happened, without keeping what was there before: it cannot be taken back."""
        self._scope.rows.images = []
        self.record(name, subject, **payload)

    def age(self, before: datetime) -> int:
        """Let go of what older events hold for undo, and of the contents they tell. How many there were."""
        aged = 0
        while page := self._scope.run("events_with_images", before=before, limit=_PAGE):
            self._scope.change_many(
                "rewrite_event",
                (
                    {"seq": row["seq"], "payload": _without_contents(row["payload"]), "before": []}
                    for row in page
                ),
            )
            aged += len(page)
        return aged

    def drop(self, before: datetime) -> int:
        """Remove older events altogether. How many there were."""
        return self._scope.change("remove_events", before=before)

    def _undoable(self, act: str, only: int | None) -> list[Row]:
        events = self._scope.run("events_of_act", act=act)
        if not events:
            raise NotFound(f"the journal has no change {act} in this space: list the changes to see them")
        found = [row for row in events if row["undone_at"] is None and only in (None, row["seq"])]
        if not found:
            raise Conflict(f"change {act} was undone already")
        if not any(row["before"] for row in found):
            raise Conflict(
                f"change {act} cannot be undone: it changed nothing, or what was before is no longer kept"
            )
        return found

    def _summed_up(self, acts: Iterable[str]) -> list[Act]:
        parts: dict[str, list[Row]] = {}
        for row in self._scope.fetch("acts_summed_up", acts):
            parts.setdefault(row["act"], []).append(row)
        firsts = [min(row["first_seq"] for row in rows) for rows in parts.values()]
        samples = {row["act"]: row for row in self._scope.fetch("events_by_seq", firsts)}
        return [_act(rows, _events([samples[act]])[0]) for act, rows in parts.items()]

    def _say_what_became(self, touched: Iterable[Image]) -> tuple[int, ...]:
        """Tell those who follow the journal what an undo brought and took. The memories it brought back."""
        first: dict[tuple[str, int], Image] = {}
        for image in touched:
            first.setdefault((image["table"], image["key"]), image)
        brought = []
        for (table, seq), image in first.items():
            if table not in _TOLD:
                continue
            before, now = _there(image["before"]), _there(self._scope.rows.find(table, seq))
            if before is None and now is not None:
                told = {name: now[name] for name in _TOLD[table]}
                self.record(f"{table}_created", now["id"], id=now["id"], **told)
                if table == "memory":
                    brought.append(seq)
            elif before is not None and now is None:
                self.record(f"{table}_deleted", before["id"], id=before["id"], **_called(table, before))
            elif now is not None:
                changed = {"changes": {"undone": True}, **_called(table, now)}
                self.record(f"{table}_updated", now["id"], id=now["id"], **changed)
        return tuple(brought)


def _events(rows: Iterable[Row]) -> list[Event]:
    return [Event(**{name: row[name] for name in Event.__slots__}) for row in rows]


def _act(rows: list[Row], sample: Event) -> Act:
    return Act(
        act=sample.act,
        last_seq=max(row["last_seq"] for row in rows),
        at=sample.at,
        client=sample.client,
        counts={row["name"]: row["count"] for row in sorted(rows, key=lambda row: int(row["first_seq"]))},
        sample=sample,
        undone=all(row["undone"] == row["count"] for row in rows),
        kept=any(row["kept"] for row in rows),
    )


def _called(table: str, row: Row) -> dict[str, Any]:
    return {"name": row["name"]} if table == "entity" else {}


def _there(row: Row | None) -> Row | None:
    return None if row is None or row.get("forgotten_at") is not None else row


def _removes(image: Image, memory_id: str) -> bool:
    return bool(image["table"] == "memory" and image["after"] is None and image["before"]["id"] == memory_id)


def _without_contents(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if key not in _CONTENTS}
