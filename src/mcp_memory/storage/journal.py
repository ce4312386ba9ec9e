"""The journal: what changed, by which client, and an image of each changed row."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from typing import Any, NamedTuple

from mcp_memory.events import JournalEvent, WithId, kind_of, told
from mcp_memory.model import Event
from mcp_memory.storage.database import Row
from mcp_memory.storage.json_text import JsonText, object_texts
from mcp_memory.storage.rows import Image, packed_text, unpacked
from mcp_memory.storage.scope import Scope

_PAGE = 500


class _Entry(NamedTuple):
    """A tuple: a bulk write has hundreds."""

    name: str
    subject: str
    payload: dict[str, Any] | JsonText
    images: list[Image]


@dataclass(frozen=True, kw_only=True, slots=True)
class Act:
    """Summary of one act: event counts by name, and whether it can be undone."""

    act: str
    last_seq: int
    at: datetime
    client: str
    counts: Mapping[str, int]
    sample: Event
    """The first of its events."""
    undone: bool
    kept: bool
    """The images needed for an undo have not expired."""


class Journal:
    """Collects events during a transaction and writes them right before the commit."""

    def __init__(self, scope: Scope, act: str, client: str) -> None:
        self._scope = scope
        self._act = act
        self._client = client
        self._entries: list[_Entry] = []

    def acts_like(self, part: str) -> list[str]:
        """A few acts whose id has this prefix or suffix; `part` is hex digits and hyphens, not a pattern."""
        digits = part.replace("-", "")
        found = self._scope.run("acts_like", beginning=f"{digits}%", ending=f"%{digits}")
        return [row["act"] for row in found]

    def subjects_like(self, part: str) -> list[str]:
        digits = part.replace("-", "")
        found = self._scope.run("subjects_like", beginning=f"{digits}%", ending=f"%{digits}")
        return [row["subject"] for row in found]

    def record(self, event: JournalEvent) -> None:
        """Add an event that covers all rows written since the previous one."""
        images, self._scope.rows.images = self._scope.rows.images, []
        self._entries.append(_Entry(event.event, event.subject, event.kept, images))

    @property
    def has_events(self) -> bool:
        return bool(self._entries)

    def record_rows(self, kind: type[WithId], values: Sequence[Any]) -> None:
        """Add one event of a kind per row, for the rows written last, in order. `values` are what was
        written, with the fields of the event: a bulk write has hundreds, for which no events are made.
        """
        if not values:
            return
        images, self._scope.rows.images = self._scope.rows.images, []
        first = len(images) - len(values)
        own = [images[: first + 1], *([image] for image in images[first + 1 :])]
        subjects = [value.id for value in values]
        payloads = object_texts(kind.kept_of(values)) or [JsonText("{}")] * len(values)
        self._entries += map(_Entry, repeat(kind.event), subjects, payloads, own)

    def write(self) -> None:
        if self._scope.rows.images:
            if not self._entries:
                raise AssertionError("rows were changed, but no event says why")
            self._entries[-1].images.extend(self._scope.rows.images)
        if not self._entries:
            return
        names, subjects, payloads, images = zip(*self._entries, strict=True)
        self._scope.connection.insert_all(
            "event",
            {
                "name": names, "subject": [subject or self._act for subject in subjects],
                "payload": payloads, "before": list(map(packed_text, images)),
            },
            {
                "space_id": self._scope.space_id, "act": self._act, "client": self._client,
                "at": self._scope.at,
            },
        )  # fmt: skip

    def after(self, seq: int, limit: int) -> list[Event]:
        return events_of(self._scope.run("events_after", after=seq, limit=limit))

    def latest(self, limit: int, before: int = 2**62) -> list[Event]:
        """Newest first."""
        return events_of(self._scope.run("events_before", before=before, limit=limit))

    def about(self, subject: str) -> list[Event]:
        return events_of(self._scope.run("events_about", subject=subject))

    def of_act(self, act: str) -> list[Event]:
        return events_of(self._scope.run("events_of_act", act=act))

    def images_of(self, act: str) -> list[tuple[Event, list[Image]]]:
        """The events of an act in order, each with its rows as they were before."""
        rows = self._scope.run("events_of_act", act=act)
        return list(zip(events_of(rows), (unpacked(row["before"]) for row in rows), strict=True))

    def clients(self, limit: int) -> list[tuple[str, int, datetime]]:
        """Recently active clients, with their number of changes and last time; most recent first."""
        found = self._scope.run("active_clients", limit=limit)
        return [(row["client"], row["change_count"], row["last_at"]) for row in found]

    def last_seq(self) -> int:
        [row] = self._scope.run("last_event")
        return int(row["seq"])

    def acts(self, limit: int, before: int = 2**62) -> list[Act]:
        """Newest first; `before` is the cursor: the `last_seq` of the previous page's last act."""
        length, most = _PAGE, min(before, self.last_seq())
        newest = self._scope.run("acts_before", before=before, limit=length)
        while len(newest) < limit and length < most:
            length *= 8
            newest = self._scope.run("acts_before", before=before, limit=length)
        found = [act for act in self._summed_up(row["act"] for row in newest) if act.last_seq < before]
        return sorted(found, key=lambda act: -act.last_seq)[:limit]

    def record_for_good(self, event: JournalEvent) -> None:
        """Add an event without images: what it describes cannot be undone."""
        self._scope.rows.images = []
        self.record(event)

    def age(self, before: datetime, after: int, unless: str | None) -> list[int]:
        """Drop images and quoted content of some older events. Returns the numbers of those that had any.

        Begins after a number, so that the next call can go on; events of the act `unless` are kept.
        """
        page = self._scope.run(
            "events_with_images", before=before, after=after, unless=unless or "", limit=_PAGE
        )
        self._scope.change_many(
            "rewrite_event",
            ({"seq": row["seq"], "payload": _without_words(row), "before": []} for row in page),
        )
        return [row["seq"] for row in page]

    def drop(self, before: datetime, unless: str | None) -> int:
        """Delete some older events. Returns how many; zero: there are no more."""
        return self._scope.change("remove_events", before=before, unless=unless or "", limit=_PAGE)

    def _summed_up(self, acts: Iterable[str]) -> list[Act]:
        parts: dict[str, list[Row]] = {}
        for row in self._scope.fetch("acts_summed_up", acts):
            parts.setdefault(row["act"], []).append(row)
        firsts = [min(row["first_seq"] for row in rows) for rows in parts.values()]
        samples = {row["act"]: row for row in self._scope.fetch("events_by_seq", firsts)}
        kept = self._with_images(samples)
        return [_act(rows, events_of([samples[act]])[0], act in kept) for act, rows in parts.items()]

    def _with_images(self, samples: Mapping[str, Row]) -> set[str]:
        """Acts with an event that can be undone. Nearly always that is the first, which is at hand."""
        kept = {act for act, row in samples.items() if row["kept"]}
        others = samples.keys() - kept
        return kept | {row["act"] for row in self._scope.fetch("acts_with_images", others)}


def events_of(rows: Iterable[Row]) -> list[Event]:
    return [
        Event(
            **{name: row[name] for name in Event.__slots__ if name != "payload"},
            payload=told(row["name"], row["subject"], row["payload"]),
        )
        for row in rows
    ]


def _act(rows: list[Row], sample: Event, kept: bool) -> Act:
    return Act(
        act=sample.act,
        last_seq=max(row["last_seq"] for row in rows),
        at=sample.at,
        client=sample.client,
        counts={row["name"]: row["count"] for row in sorted(rows, key=lambda row: int(row["first_seq"]))},
        sample=sample,
        undone=all(row["undone"] == row["count"] for row in rows),
        kept=kept,
    )


def _without_words(row: Row) -> dict[str, Any]:
    words = kind_of(row["name"]).words
    return {key: value for key, value in row["payload"].items() if key not in words}
