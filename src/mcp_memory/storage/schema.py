"""The columns of every table whose changes the journal can take back."""

from collections.abc import Mapping

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "memory": (
        "seq", "space_id", "id", "content", "content_hash", "type", "kind", "tags", "confidence",
        "importance", "source", "context", "channel", "metadata", "origin", "pinned_at", "created_at",
        "updated_at", "accessed_at", "access_count", "version", "flagged_at", "forgotten_at",
        "forgotten_reason", "superseded_at", "superseded_by",
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

JSON_COLUMNS = frozenset({"tags", "metadata", "state", "payload", "before", "value"})

VOLATILE = frozenset({"accessed_at", "access_count", "confidence"})
"""Columns that reading a memory changes. They do not count as an edit that stands in the way of an undo."""

DERIVING: Mapping[str, frozenset[str]] = {
    "memory": frozenset({"content", "tags", "context", "type", "kind", "forgotten_at", "superseded_at"}),
    "entity": frozenset({"name", "type", "description", "status"}),
    "relation": frozenset({"ended_at", "type"}),
    "reflection": frozenset({"content"}),
}
"""Columns whose change makes words, tags, snapshots or vectors out of date."""


def is_time(column: str) -> bool:
    return column.endswith("_at") or column == "at"
