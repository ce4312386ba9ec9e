"""Reads and writes the rows of an archive, in which ids replace the numbers of one database."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mcp_memory.storage.database import Row
from mcp_memory.storage.rows import plain, restored
from mcp_memory.storage.schema import TABLE, Table
from mcp_memory.storage.scope import Scope
from mcp_memory.text.fingerprint import exact_fingerprint, fingerprint, spelling_fingerprint

PAGE = 500

_RANDOM_BITS = (0xFFF << 64) | ((1 << 62) - 1)

_ARCHIVED = ("memory", "memory_version", "entity", "entity_memory", "relation", "association", "reflection")
"""Tables whose rows are archived one by one, each after those it refers to."""

_ADDED_LATER: Mapping[str, Mapping[str, Any]] = {"memory": {"provenance": {}}}
"""Columns that are missing in exports of older releases, and cannot be null."""


@dataclass(frozen=True, slots=True)
class Living:
    seq: int
    id: str
    content: str


class Archive:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.history: tuple[int, ...] = ()
        """The first and the last number of the events added in this transaction."""

    @property
    def has_changes(self) -> bool:
        return bool(self._scope.rows.images or self.history)

    def records(self) -> Iterator[tuple[str, Row]]:
        """Everything of the space that is not derived, as JSON values, with the kind of each record."""
        for name in _ARCHIVED:
            yield from self._rows(TABLE[name])
        yield from self._usage()
        yield from self._rows(TABLE["event"])

    def seqs(self, table: str, ids: Iterable[str]) -> dict[str, int]:
        """The numbers that rows with these ids have here."""
        return {row["id"]: row["seq"] for row in self._scope.fetch("row_keys", ids, slots={"table": table})}

    def taken(self, table: str, ids: Iterable[str]) -> set[str]:
        """Ids that rows of other spaces have: an id is unique in the whole database."""
        return {row["id"] for row in self._scope.fetch("ids_elsewhere", ids, slots={"table": table})}

    def living(self, hashes: Iterable[bytes]) -> dict[bytes, Living]:
        """Memories that are not forgotten, by content hash."""
        return {
            row["content_hash"]: Living(row["seq"], row["id"], row["content"])
            for row in self._scope.fetch("living_memory_keys", hashes)
        }

    def present(
        self, table: str, column: str, keys: Iterable[Any], columns: Sequence[str], *, active: bool = False
    ) -> Counter[tuple[Any, ...]]:
        """How often each combination of `columns` exists, among rows whose `column` is one of the keys."""
        unique = TABLE[table].unique
        unless = f"AND {unique.while_null} IS NULL" if active and unique else ""
        slots = {"table": table, "column": column, "columns": ", ".join(columns), "active": unless}
        rows = self._scope.fetch("present_rows", keys, slots=slots)
        return Counter(tuple(row[name] for name in columns) for row in rows)

    def add(self, table: str, record: Mapping[str, Any], **numbers: Any) -> int:
        """Insert an archived row under a new number. Columns that an older release lacks get a default."""
        known = {**_ADDED_LATER.get(table, {}), **record}
        own = restored({name: known.get(name) for name in TABLE[table].portable}) or {}
        return self._scope.rows.insert(table, {**own, **numbers})

    def change(self, table: str, seq: int, **changes: Any) -> None:
        self._scope.rows.update(table, seq, changes)

    def add_events(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Without row images: an undo needs row numbers, which differ here."""
        rows = (
            restored({name: record.get(name) for name in TABLE["event"].portable}) or {} for record in records
        )
        before = self._last_event()
        self._scope.change_many("put_archived_event", ({**row, "before": []} for row in rows))
        last = self._last_event()
        # A space has one writer at a time: what lies between is of this transaction.
        if last > before:
            self.history = (self.history[0] if self.history else before + 1, last)

    def _last_event(self) -> int:
        [row] = self._scope.run("last_event")
        return int(row["seq"])

    def put_access(self, entity_seq: int, record: Mapping[str, Any]) -> None:
        """Keeps the higher count."""
        row = restored({name: record[name] for name in ("access_count", "last_at")}) or {}
        self._scope.change("put_archived_access", entity_seq=entity_seq, **row)
        self._scope.change_many(
            "put_archived_access_day",
            (
                {"entity_seq": entity_seq, "day": day, "access_count": count}
                for day, count in record["days"].items()
            ),
        )

    def put_co_occurrence(self, a_seq: int, b_seq: int, record: Mapping[str, Any]) -> None:
        row = restored({name: record[name] for name in ("count", "last_at")}) or {}
        low, high = sorted((a_seq, b_seq))
        self._scope.change("put_archived_co_occurrence", a_seq=low, b_seq=high, **row)

    def _rows(self, table: Table) -> Iterator[tuple[str, Row]]:
        query = "archived_reflections" if table.name == "reflection" else "archived_rows"
        slots, after = _slots(table), 0
        while page := self._scope.run(query, slots=slots, after=after, limit=PAGE):
            after = page[-1]["seq"]
            yield from ((str(table.record), _portable(row)) for row in page)

    def _usage(self) -> Iterator[tuple[str, Row]]:
        """How entities were used: days belong to an access, pairs follow the page of their first entity."""
        after = 0
        while page := self._scope.run("archived_accesses", after=after, limit=PAGE):
            seqs = [row["seq"] for row in page]
            after = seqs[-1]
            days: dict[int, dict[str, int]] = {}
            for row in self._scope.fetch("archived_access_days", seqs):
                days.setdefault(row["entity_seq"], {})[row["day"]] = row["access_count"]
            yield from (("access", {**_portable(row), "days": days.get(row["seq"], {})}) for row in page)
            for row in self._scope.fetch("archived_co_occurrences", seqs):
                yield "co_occurrence", _portable(row)


def _slots(table: Table) -> dict[str, str]:
    """References as ids: a column `memory_seq` becomes the id of that memory, under the name `memory`."""
    own = [f"o.{column}" for column in table.portable]
    ids = [f"{_alias(column)}.id AS {_alias(column)}" for column in table.references]
    joins = [
        f"JOIN {parent} {_alias(column)} ON {_alias(column)}.seq = o.{column}"
        for column, parent in table.references.items()
    ]
    return {"table": table.name, "columns": ", ".join([*ids, *own]), "joins": " ".join(joins)}


def _alias(column: str) -> str:
    return column.removesuffix("_seq")


def content_hashes(record: Mapping[str, Any]) -> tuple[bytes, ...]:
    """Possible content hashes; an observation takes the second where another memory has the first."""
    content = record["content"]
    if record["origin"] == "observation":
        return exact_fingerprint(content), spelling_fingerprint(content)
    return (fingerprint(content),)


def other_id(id: str, here: str, there: str) -> str:
    """The id of a copy in another space of the same database; its own inverse.

    Deterministic, so that a second import finds the rows of the first. Only the random bits of a UUID
    change (RFC 9562): ids sort by age.
    """
    digest = hashlib.sha256("\n".join(sorted((here, there))).encode()).digest()
    try:
        return str(UUID(int=UUID(id).int ^ (int.from_bytes(digest[:16]) & _RANDOM_BITS)))
    except ValueError:
        return hashlib.sha256(f"{here}\n{there}\n{id}".encode("utf-8", "surrogatepass")).hexdigest()


def _portable(row: Row) -> Row:
    given = plain(row) or {}
    return {name: value for name, value in given.items() if name not in ("seq", "a_seq")}
