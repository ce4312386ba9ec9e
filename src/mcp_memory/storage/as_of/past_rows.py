"""Rows of a space as they were at a moment."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcp_memory.storage.database import Row
from mcp_memory.storage.rows import restored, unpacked
from mcp_memory.storage.schema import COLUMNS, is_time
from mcp_memory.storage.scope import Scope

_PAGE = 500

_CLEARED_WITH: Mapping[str, str] = {
    "forgotten_at": "forgotten_reason",
    "superseded_at": "superseded_by",
}
"""By a marker column: the column with its details."""

_KEPT = frozenset({"created_at", "updated_at"})
"""Times that are not markers."""


@dataclass(frozen=True, slots=True)
class _Image:
    at: object
    row: Row | None


class PastRows:
    """Rows as they were at the moment of the transaction, from current rows, images and versions."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._at = scope.at

    @cached_property
    def _first(self) -> Mapping[str, Mapping[int, _Image]]:
        """By table and number: the first image after the moment."""
        first: dict[str, dict[int, _Image]] = defaultdict(dict)
        after = 0
        while page := self._scope.run("images_after", at=self._at, after=after, limit=_PAGE):
            after = page[-1]["seq"]
            for event in page:
                for image in unpacked(event["before"]):
                    first[image["table"]].setdefault(
                        image["key"], _Image(event["at"], restored(image["before"]))
                    )
        return first

    def touched(self, table: str) -> Mapping[int, _Image]:
        """Rows that have changed since, by number."""
        return self._first.get(table, {})

    def seen(self, table: str, current: Iterable[Row], wanted: Callable[[Row], bool]) -> list[Row]:
        """Past rows for which `wanted` holds; `current` has at least the unchanged ones among them."""
        touched = self.touched(table)
        unchanged = [row for row in current if row["seq"] not in touched and row["created_at"] <= self._at]
        before = [image.row for image in touched.values() if image.row is not None]
        rows = [self._without_later_marks(row) for row in (*unchanged, *before) if wanted(row)]
        if table == "memory":
            rows = self._by_versions(rows)
        return sorted(rows, key=lambda row: int(row["seq"]))

    def _without_later_marks(self, row: Row) -> Row:
        """Clear markers that were set after the moment: forgotten, superseded, ended.

        The last use before the moment is unknown for a memory that was used since: it counts as in use.
        """
        if row.get("accessed_at") is not None:
            row = {**row, "accessed_at": min(row["accessed_at"], self._at)}
        later = [
            column
            for column, value in row.items()
            if is_time(column) and column not in _KEPT and value is not None and value > self._at
        ]
        cleared = {*later, *(_CLEARED_WITH[column] for column in later if column in _CLEARED_WITH)}
        return {**row, **dict.fromkeys(cleared)} if cleared else row

    def _by_versions(self, rows: Iterable[Row]) -> list[Row]:
        """Memories whose later changes have no image any more, from the versions that those changes kept."""
        found = {row["seq"]: row for row in rows}
        versions: dict[int, Row] = {}
        for version in self._scope.fetch("first_version_after", found, at=self._at):
            seq = version["memory_seq"]
            if version["state"].get("id") == found[seq]["id"]:
                versions.setdefault(seq, version)
        for seq, version in versions.items():
            image = self.touched("memory").get(seq)
            if image is None or version["created_at"] < image.at:
                state = restored(version["state"]) or {}
                found[seq] = self._without_later_marks({**found[seq], **state, "seq": seq})
        return list(found.values())


def columns_of(table: str) -> dict[str, str]:
    """The slot for the columns of a table in a query."""
    return {"columns": ", ".join(f"o.{column}" for column in COLUMNS[table])}


def among(column: str, values: Iterable[Any]) -> Callable[[Row], bool]:
    """A condition on past rows."""
    wanted = frozenset(values)
    return lambda row: row[column] in wanted
