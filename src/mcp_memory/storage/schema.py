"""The columns of every table whose changes the journal can take back."""

from collections.abc import Mapping
from dataclasses import dataclass

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "memory": (
        "seq", "space_id", "id", "content", "content_hash", "type", "kind", "tags", "confidence",
        "importance", "source", "context", "channel", "metadata", "origin", "pinned_at", "created_at",
        "updated_at", "accessed_at", "access_count", "version", "flagged_at", "forgotten_at",
        "forgotten_reason", "superseded_at", "superseded_by", "captured_at", "project",
    ),
    "memory_version": (
        "seq", "space_id", "memory_seq", "number", "content", "state", "reason", "created_at",
    ),
    "entity": (
        "seq", "space_id", "id", "name", "type", "description", "metadata", "status", "created_at",
        "updated_at",
    ),
    "entity_memory": ("seq", "space_id", "entity_seq", "memory_seq", "relevance", "created_at"),
    "relation": (
        "seq", "space_id", "id", "source_seq", "target_seq", "type", "strength", "confidence",
        "context", "metadata", "created_at", "updated_at", "ended_at",
    ),
    "association": (
        "seq", "space_id", "id", "source_seq", "target_seq", "type", "weight", "created_at",
    ),
    "reflection": (
        "seq", "space_id", "id", "target_type", "target_seq", "author", "content", "mood", "created_at",
    ),
}  # fmt: skip

VOLATILE: Mapping[str, frozenset[str]] = {
    "memory": frozenset({"accessed_at", "access_count", "confidence", "flagged_at", "captured_at"})
}
"""Columns that reading changes. They do not count as an edit that stands in the way of an undo."""

PARENTS: Mapping[str, Mapping[str, str]] = {
    "memory_version": {"memory_seq": "memory"},
    "entity_memory": {"entity_seq": "entity", "memory_seq": "memory"},
    "relation": {"source_seq": "entity", "target_seq": "entity"},
    "association": {"source_seq": "memory", "target_seq": "memory"},
}
"""The rows that a row hangs on, by the column that names them."""


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """No two rows are equal in these columns; where `while_null` is not null, a row does not count."""

    columns: tuple[str, ...]
    while_null: str | None = None


UNIQUE: Mapping[str, Uniqueness] = {
    "memory": Uniqueness(("space_id", "content_hash"), "forgotten_at"),
    "entity": Uniqueness(("space_id", "name", "type")),
    "relation": Uniqueness(("source_seq", "target_seq", "type"), "ended_at"),
    "association": Uniqueness(("source_seq", "target_seq", "type")),
}

DERIVING: Mapping[str, frozenset[str]] = {
    "memory": frozenset({"content", "tags", "context", "type", "kind", "forgotten_at", "superseded_at"}),
    "entity": frozenset({"name", "type", "description", "status"}),
    "entity_memory": frozenset({"entity_seq", "memory_seq"}),
    "relation": frozenset({"ended_at", "type"}),
    "reflection": frozenset({"content"}),
}
"""Columns whose change makes words, tags, snapshots or vectors out of date."""


def is_time(column: str) -> bool:
    return column.endswith("_at") or column == "at"
