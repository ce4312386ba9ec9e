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


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    subject: str
    payload: Mapping[str, Any]
    images: list[Image]


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

    def write(self) -> None:
        if self._scope.rows.images:
            if not self._entries:
                raise AssertionError("rows were changed, but no event says why")
            self._entries[-1].images.extend(self._scope.rows.images)
        if not self._entries:
            return
        if self._scope.database.journal_lock:
            self._scope.connection.change(self._scope.database.journal_lock)
        self._scope.change_many(
            "add_event",
            (
                {
                    "act": self._act, "name": entry.name, "subject": entry.subject,
                    "payload": dict(entry.payload), "client": self._client, "at": self._scope.at,
                    "before": entry.images,
                }
                for entry in self._entries
            ),
        )  # fmt: skip

    def after(self, seq: int, limit: int) -> list[Event]:
        return _events(self._scope.run("events_after", after=seq, limit=limit))

    def latest(self, limit: int, before: int = 2**62) -> list[Event]:
        """Newest first."""
        return _events(self._scope.run("events_before", before=before, limit=limit))

    def about(self, subject: str) -> list[Event]:
        return _events(self._scope.run("events_about", subject=subject))

    def last_seq(self) -> int:
        [row] = self._scope.run("last_event")
        return int(row["seq"])

    def take_back(self, act: str) -> list[Event]:
        """Make every row of an act what it was before it. All of them, or none."""
        found = self._scope.run("events_of_act", act=act)
        if not found:
            raise NotFound(f"the journal has no act {act} in this space")
        if found[0]["undone_at"] is not None:
            raise Conflict(f"act {act} was undone already")
        images = [image for row in found for image in row["before"]]
        if not images:
            raise Conflict(f"act {act} is too old to be undone: what was there before is no longer kept")
        for image in reversed(images):
            if not self._scope.rows.put_back(image):
                raise Conflict(
                    f"act {act} cannot be undone: {image['table']} {image['key']} has changed since. "
                    "Undo the later change first."
                )
        self._scope.change("mark_act_undone", act=act, at=self._scope.at)
        return _events(found)

    def forget_images(self, before: datetime) -> int:
        return self._scope.change("forget_images", before=before, nothing=[])


def _events(rows: Iterable[Row]) -> list[Event]:
    return [Event(**{name: row[name] for name in Event.__slots__}) for row in rows]
