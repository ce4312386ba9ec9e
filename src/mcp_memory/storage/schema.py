"""The one description of every table: columns, keys, references, and what each column means.

Row images, undo checks, derived data, archives, imports and copies between databases all read it.
The columns of a domain value come from its dataclass: a new field of `Memory` needs a migration and
nothing here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp_memory.model import Entity, Memory, Reflection


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """No two rows are equal in these columns; rows whose `while_null` is set do not count."""

    columns: tuple[str, ...]
    while_null: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ("seq",)
    journaled: bool = False
    """Changes keep an image of the row, so that they can be undone."""
    references: Mapping[str, str] = field(default_factory=dict)
    """By column: the table whose row it refers to."""
    unique: Uniqueness | None = None
    volatile: frozenset[str] = frozenset()
    """Columns that reading changes. A change of them does not block an undo."""
    indexed: frozenset[str] = frozenset()
    """Columns whose change makes words, tags, snapshots or vectors stale."""
    record: str | None = None
    """The kind of its records in an archive; None: not archived row by row."""
    local: frozenset[str] = frozenset()
    """Columns that are meaningless in another database, or can be recomputed."""

    @property
    def portable(self) -> tuple[str, ...]:
        """Columns that an archive holds as they are; references become ids."""
        numbers = {"seq", "space_id", *self.references, *self.local}
        return tuple(column for column in self.columns if column not in numbers)


def _columns(value: type, *others: str) -> tuple[str, ...]:
    """The fields of a value, and the columns that only the database knows. The number comes first."""
    fields = tuple(name for name in value.__slots__ if name != "seq")  # type: ignore[attr-defined]
    return "seq", "space_id", *fields, *others


TABLES = (
    Table(name="space", columns=("seq", "name", "created_at")),
    Table(
        name="memory",
        columns=_columns(Memory, "content_hash"),
        journaled=True,
        unique=Uniqueness(("space_id", "content_hash"), "forgotten_at"),
        volatile=frozenset({"accessed_at", "access_count", "confidence", "flagged_at", "captured_at"}),
        indexed=frozenset({"content", "tags", "context", "type", "kind", "forgotten_at", "superseded_at"}),
        record="memory",
        local=frozenset({"content_hash"}),
    ),
    Table(
        name="memory_version",
        columns=("seq", "space_id", "memory_seq", "number", "content", "state", "reason", "created_at"),
        journaled=True,
        references={"memory_seq": "memory"},
        record="version",
    ),
    Table(
        name="entity",
        columns=_columns(Entity),
        journaled=True,
        unique=Uniqueness(("space_id", "name", "type")),
        indexed=frozenset({"name", "type", "description", "status"}),
        record="entity",
    ),
    Table(
        name="entity_memory",
        columns=("seq", "space_id", "entity_seq", "memory_seq", "relevance", "created_at"),
        journaled=True,
        references={"entity_seq": "entity", "memory_seq": "memory"},
        indexed=frozenset({"entity_seq", "memory_seq"}),
        record="observation",
    ),
    Table(
        name="relation",
        columns=(
            "seq", "space_id", "id", "source_seq", "target_seq", "type", "strength", "confidence",
            "context", "metadata", "created_at", "updated_at", "ended_at",
        ),
        journaled=True,
        references={"source_seq": "entity", "target_seq": "entity"},
        unique=Uniqueness(("source_seq", "target_seq", "type"), "ended_at"),
        indexed=frozenset({"ended_at", "type"}),
        record="relation",
    ),
    Table(
        name="association",
        columns=("seq", "space_id", "id", "source_seq", "target_seq", "type", "weight", "created_at"),
        journaled=True,
        references={"source_seq": "memory", "target_seq": "memory"},
        unique=Uniqueness(("source_seq", "target_seq", "type")),
        record="association",
    ),
    Table(
        # Its target is an entity or a relation, by number and without a foreign key.
        name="reflection",
        columns=_columns(Reflection),
        journaled=True,
        indexed=frozenset({"content"}),
        record="reflection",
        local=frozenset({"target_seq"}),
    ),
    Table(
        name="memory_tag",
        columns=("space_id", "tag", "memory_seq"),
        key=("space_id", "tag", "memory_seq"),
    ),
    Table(
        name="event",
        columns=(
            "seq", "space_id", "act", "name", "subject", "payload", "client", "at", "before", "undone_at",
        ),
        record="event",
        # Images name rows by numbers, which differ in another database.
        local=frozenset({"before"}),
    ),
    Table(
        name="embedding_model",
        columns=("seq", "name", "dimensions", "fingerprint", "state", "created_at"),
    ),
    Table(
        name="vector",
        columns=("model_id", "owner", "seq", "space_id", "embedding"),
        key=("model_id", "owner", "seq"),
    ),
    Table(name="pending", columns=("owner", "seq", "space_id", "stamp"), key=("owner", "seq")),
    Table(
        name="entity_access",
        columns=("entity_seq", "access_count", "last_at"),
        key=("entity_seq",),
        references={"entity_seq": "entity"},
    ),
    Table(
        name="entity_access_day",
        columns=("entity_seq", "day", "access_count"),
        key=("entity_seq", "day"),
        references={"entity_seq": "entity"},
    ),
    Table(
        name="co_occurrence",
        columns=("a_seq", "b_seq", "count", "last_at"),
        key=("a_seq", "b_seq"),
        references={"a_seq": "entity", "b_seq": "entity"},
    ),
    Table(
        name="search_event",
        columns=(
            "seq", "space_id", "query", "client", "strategy", "mode", "k_limit", "result_count",
            "duration_ms", "at",
        ),
    ),
    Table(
        name="search_result",
        columns=(
            "event_seq", "entity_seq", "rank", "baseline_rank", "base", "limbic_score", "cosine",
            "importance", "temporal", "cooc",
        ),
        key=("event_seq", "entity_seq"),
    ),
    Table(
        name="feedback",
        columns=("event_seq", "entity_seq", "sign", "at"),
        key=("event_seq", "entity_seq", "sign"),
    ),
    Table(name="setting", columns=("key", "value"), key=("key",)),
    Table(name="token", columns=("seq", "name", "digest", "spaces", "rights", "created_at", "expires_at")),
    Table(
        name="session",
        columns=("space_id", "id", "client", "project", "state", "started_at", "seen_at"),
        key=("space_id", "id"),
    ),
    Table(
        name="answered",
        columns=("space_id", "key", "request", "status", "body", "at"),
        key=("space_id", "key"),
    ),
)  # fmt: skip
"""Every table that a copy of the database includes, each after those it refers to."""

TABLE: Mapping[str, Table] = {table.name: table for table in TABLES}

COLUMNS: Mapping[str, tuple[str, ...]] = {table.name: table.columns for table in TABLES if table.journaled}
"""The columns of the journaled tables."""


def is_binary(column: str) -> bool:
    return column == "content_hash"


def is_time(column: str) -> bool:
    return column.endswith("_at") or column == "at"
