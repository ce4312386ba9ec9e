"""Rows on their way to another database, named by ids that mean the same everywhere."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mcp_memory.storage.database import Row
from mcp_memory.storage.rows import plain, restored
from mcp_memory.storage.schema import COLUMNS
from mcp_memory.storage.scope import Scope
from mcp_memory.text.fingerprint import exact_fingerprint, fingerprint, spelling_fingerprint

PAGE = 500

_RANDOM_BITS = (0xFFF << 64) | ((1 << 62) - 1)

_NUMBERS = ("seq", "space_id", "content_hash", "source_seq", "target_seq", "entity_seq", "memory_seq")
_OWN_COLUMNS = {table: [name for name in names if name not in _NUMBERS] for table, names in COLUMNS.items()}
_SLOTS = {
    "memory": {"columns": ", ".join(f"o.{name}" for name in ("seq", *_OWN_COLUMNS["memory"]))},
    "entity": {"columns": ", ".join(f"o.{name}" for name in ("seq", *_OWN_COLUMNS["entity"]))},
}
# What is named comes before what names it.
_QUERIES = {
    "memory": "archived_memories",
    "version": "archived_versions",
    "entity": "archived_entities",
    "observation": "archived_observations",
    "relation": "archived_relations",
    "association": "archived_associations",
    "reflection": "archived_reflections",
    "access": "archived_accesses",
    "event": "archived_events",
}


@dataclass(frozen=True, slots=True)
class Living:
    seq: int
    id: str
    content: str


class Archive:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    @property
    def has_changes(self) -> bool:
        return bool(self._scope.rows.images)

    def records(self) -> Iterator[tuple[str, Row]]:
        """Everything of the space that cannot be made again: its kind, and what JSON can hold of it."""
        for kind, query in _QUERIES.items():
            after = 0
            while page := self._scope.run(query, slots=_SLOTS.get(kind), after=after, limit=PAGE):
                after = page[-1]["seq"]
                yield from self._completed(kind, page)

    def seqs(self, table: str, ids: Iterable[str]) -> dict[str, int]:
        """The numbers that rows with these ids have here."""
        return {row["id"]: row["seq"] for row in self._scope.fetch(f"{table}_keys", ids)}

    def taken(self, table: str, ids: Iterable[str]) -> set[str]:
        """Those of the ids that rows of other spaces have: an id is one thing's in the whole database."""
        return {row["id"] for row in self._scope.fetch(f"{table}_ids_elsewhere", ids)}

    def living(self, hashes: Iterable[str]) -> dict[str, Living]:
        """By its hash: a memory that is not forgotten."""
        return {
            row["content_hash"]: Living(row["seq"], row["id"], row["content"])
            for row in self._scope.fetch("living_memory_keys", hashes)
        }

    def counted(self, query: str, keys: Iterable[Any], columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
        """How often each combination of these columns is there."""
        return Counter(tuple(row[name] for name in columns) for row in self._scope.fetch(query, keys))

    def add(self, table: str, record: Mapping[str, Any], **numbers: Any) -> int:
        """Keep a row as it was elsewhere, under a number of its own."""
        own = restored({name: record.get(name) for name in _OWN_COLUMNS[table]}) or {}
        return self._scope.rows.insert(table, {**own, **numbers})

    def change(self, table: str, seq: int, **changes: Any) -> None:
        self._scope.rows.update(table, seq, changes)

    def add_events(self, records: Iterable[Mapping[str, Any]]) -> None:
        names = ("act", "name", "subject", "payload", "client", "at", "undone_at")
        rows = (restored({name: record[name] for name in names}) or {} for record in records)
        self._scope.change_many("put_archived_event", ({**row, "before": []} for row in rows))

    def put_access(self, entity_seq: int, record: Mapping[str, Any]) -> None:
        """Where more use is known already, that stays."""
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

    def _completed(self, kind: str, page: list[Row]) -> Iterator[tuple[str, Row]]:
        if kind != "access":
            yield from ((kind, _portable(row)) for row in page)
            return
        seqs = [row["seq"] for row in page]
        days: dict[int, dict[str, int]] = {}
        for row in self._scope.fetch("archived_access_days", seqs):
            days.setdefault(row["entity_seq"], {})[row["day"]] = row["access_count"]
        yield from ((kind, {**_portable(row), "days": days.get(row["seq"], {})}) for row in page)
        for row in self._scope.fetch("archived_co_occurrences", seqs):
            yield "co_occurrence", _portable(row)


def content_hashes(record: Mapping[str, Any]) -> tuple[str, ...]:
    """What a memory may be known by; an observation by the second where another has the first."""
    content = record["content"]
    if record["origin"] == "observation":
        return exact_fingerprint(content), spelling_fingerprint(content)
    return (fingerprint(content),)


def other_id(id: str, here: str, there: str) -> str:
    """The id that a copy of a thing has in another space of the same database, and that of its copy back.

    Always the same one, so that a second import finds what the first brought; as old as the first, since
    ids sort by their age. A UUID differs in its random bits only (RFC 9562).
    """
    digest = hashlib.sha256("\n".join(sorted((here, there))).encode()).digest()
    try:
        return str(UUID(int=UUID(id).int ^ (int.from_bytes(digest[:16]) & _RANDOM_BITS)))
    except ValueError:
        return exact_fingerprint(f"{here}\n{there}\n{id}")


def _portable(row: Row) -> Row:
    given = plain(row) or {}
    return {name: value for name, value in given.items() if name not in ("seq", "a_seq")}
