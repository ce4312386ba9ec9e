"""The kinds of events in the journal, one frozen value each.

The fields of a value are the event's payload: in the journal, in the event stream and in a memory's
history. A field that has its default is left out of the payload. To add a kind, declare it here and add
it to `EVENTS`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, ClassVar


@dataclass(frozen=True)
class JournalEvent:
    """Base of all events."""

    event: ClassVar[str]
    """The name on the wire."""
    deed: ClassVar[tuple[str, str] | None] = None
    """Verb and noun for summaries such as "deleted 3 memories"."""
    words: ClassVar[frozenset[str]] = frozenset()
    """Fields that hold words of a memory; they are dropped when the event can no longer be undone."""
    entity_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that hold the name of an entity."""
    shows: ClassVar[bool] = True
    """Whether a reader may see something else than before the event."""

    @property
    def subject(self) -> str:
        """The id of what changed; empty when the event is about the whole change."""
        return ""

    @property
    def payload(self) -> dict[str, Any]:
        return self._payload("")

    def _payload(self, without: str) -> dict[str, Any]:
        # A bulk write has hundreds of events: a loop is quicker than a comprehension over a generator.
        kind: Any = type(self)
        payload = {}
        for name, default in _defaults(kind):
            value = getattr(self, name)
            if name != without and value != default:
                payload[name] = list(value) if type(value) is tuple else value
        return payload

    @property
    def kept(self) -> dict[str, Any]:
        """The payload as the journal keeps it; see `told`."""
        return self.payload


@cache
def _defaults(kind: type[JournalEvent]) -> tuple[tuple[str, Any], ...]:
    """The fields of an event with their defaults; a bulk write has hundreds of events."""
    return tuple((field.name, field.default) for field in fields(kind))


@dataclass(frozen=True)
class WithId(JournalEvent):
    id: str

    @property
    def subject(self) -> str:
        return self.id

    @property
    def kept(self) -> dict[str, Any]:
        return self._payload("id")

    @classmethod
    def kept_of(cls, values: Sequence[Any]) -> dict[str, list[Any]]:
        """What `kept` holds for each of these values, which have the event's fields, column by column. Those
        with a default have it.
        """
        kind: Any = cls
        names = [name for name, default in _defaults(kind) if default is MISSING and name != "id"]
        return {name: [getattr(value, name) for value in values] for name in names}


@dataclass(frozen=True)
class MemoryCreated(WithId):
    event = "memory_created"
    deed = ("remembered", "memory")
    words = frozenset({"content"})
    content: str
    type: str


@dataclass(frozen=True)
class MemoryUpdated(WithId):
    event = "memory_updated"
    deed = ("changed", "memory")
    words = frozenset({"changes", "absorbed"})
    changes: Mapping[str, Any]
    absorbed: str | None = None
    """The wording that became part of the memory."""


@dataclass(frozen=True)
class MemoryDeleted(WithId):
    event = "memory_deleted"
    deed = ("deleted", "memory")
    absorbed_by: str | None = None
    pruned_at_confidence: float | None = None


@dataclass(frozen=True)
class MemoryArchived(WithId):
    event = "memory_archived"
    deed = ("archived", "memory")
    confidence: float
    preview: str


@dataclass(frozen=True)
class MemoryConfirmed(WithId):
    event = "memory_confirmed"
    deed = ("confirmed", "memory")
    preview: str


@dataclass(frozen=True)
class MemoryForgotten(WithId):
    event = "memory_forgotten"
    deed = ("forgot", "memory")
    reason: str | None
    preview: str


@dataclass(frozen=True)
class MemoryRestored(WithId):
    event = "memory_restored"
    deed = ("restored", "memory")
    preview: str


@dataclass(frozen=True)
class MemoryPurged(WithId):
    event = "memory_purged"
    deed = ("purged", "memory")


@dataclass(frozen=True)
class MemoryAssociated(WithId):
    event = "memory_associated"
    deed = ("connected", "memory")
    target: str
    type: str
    weight: float


@dataclass(frozen=True)
class MemoryDissociated(WithId):
    event = "memory_dissociated"
    deed = ("disconnected", "memory")
    target: str
    type: str


@dataclass(frozen=True)
class MemoriesMerged(WithId):
    event = "memories_merged"
    deed = ("merged", "group of equal memories")
    absorbed_ids: Sequence[str]
    preview: str


@dataclass(frozen=True)
class _OfEntity(WithId):
    entity_fields = ("name",)
    name: str


@dataclass(frozen=True)
class EntityCreated(_OfEntity):
    event = "entity_created"
    deed = ("created", "entity")
    type: str


@dataclass(frozen=True)
class EntityUpdated(_OfEntity):
    event = "entity_updated"
    deed = ("changed", "entity")
    words = frozenset({"changes"})
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class EntityDeleted(_OfEntity):
    event = "entity_deleted"
    deed = ("deleted", "entity")


@dataclass(frozen=True)
class EntityPurged(WithId):
    event = "entity_purged"
    deed = ("purged", "entity")


@dataclass(frozen=True)
class EntitySplit(_OfEntity):
    event = "entity_split"
    deed = ("split", "entity")
    into: Sequence[str]


@dataclass(frozen=True)
class ObservationsRemoved(_OfEntity):
    event = "observations_removed"
    deed = ("took observations off", "entity")
    count: int


@dataclass(frozen=True)
class _OfRelation(WithId):
    entity_fields = ("source", "target")
    source: str
    target: str
    type: str


@dataclass(frozen=True)
class RelationCreated(_OfRelation):
    event = "relation_created"
    deed = ("created", "relation")


@dataclass(frozen=True)
class RelationUpdated(_OfRelation):
    event = "relation_updated"
    deed = ("changed", "relation")
    words = frozenset({"changes"})
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class RelationDeleted(_OfRelation):
    event = "relation_deleted"
    deed = ("deleted", "relation")


@dataclass(frozen=True)
class RelationEnded(_OfRelation):
    event = "relation_ended"
    deed = ("ended", "relation")


@dataclass(frozen=True)
class ReflectionAdded(WithId):
    event = "reflection_added"
    deed = ("wrote", "reflection")
    target_type: str
    author: str


@dataclass(frozen=True)
class ReflectionDeleted(WithId):
    event = "reflection_deleted"
    deed = ("deleted", "reflection")
    target_type: str


@dataclass(frozen=True)
class ConsolidationComplete(JournalEvent):
    event = "consolidation_complete"
    merged: int
    deleted: int


@dataclass(frozen=True)
class SyncComplete(JournalEvent):
    event = "sync_complete"
    shows = False
    timestamp: str


@dataclass(frozen=True)
class ArchiveImported(JournalEvent):
    event = "archive_imported"
    history: tuple[int, ...] = ()
    """The first and the last number of the events that came with the file."""


@dataclass(frozen=True)
class ChangeUndone(JournalEvent):
    event = "change_undone"
    act: str
    """The change that was undone."""
    did: Sequence[str]
    """The names of the first events of that change."""

    @property
    def subject(self) -> str:
        return self.act


@dataclass(frozen=True)
class RankingTuned(JournalEvent):
    event = "ranking_tuned"
    shows = False
    gamma: float
    beta_sal: float

    @property
    def subject(self) -> str:
        return "ranking_weights"


@dataclass(frozen=True)
class _OfToken(JournalEvent):
    shows = False
    name: str

    @property
    def subject(self) -> str:
        return self.name


@dataclass(frozen=True)
class TokenCreated(_OfToken):
    event = "token_created"
    rights: str


@dataclass(frozen=True)
class TokenRevoked(_OfToken):
    event = "token_revoked"


@dataclass(frozen=True)
class TokensNotNeeded(JournalEvent):
    event = "tokens_not_needed"
    shows = False

    @property
    def subject(self) -> str:
        return "tokens"


EVENTS: Mapping[str, type[JournalEvent]] = {
    kind.event: kind
    for kind in (
        MemoryCreated, MemoryUpdated, MemoryDeleted, MemoryForgotten, MemoryRestored, MemoryPurged,
        MemoryArchived, MemoryConfirmed,
        MemoryAssociated, MemoryDissociated, MemoriesMerged,
        EntityCreated, EntityUpdated, EntityDeleted, EntityPurged, EntitySplit, ObservationsRemoved,
        RelationCreated, RelationUpdated, RelationDeleted, RelationEnded,
        ReflectionAdded, ReflectionDeleted,
        ConsolidationComplete, SyncComplete, ArchiveImported, ChangeUndone, RankingTuned,
        TokenCreated, TokenRevoked, TokensNotNeeded,
    )
}  # fmt: skip


def kind_of(name: str) -> type[JournalEvent]:
    """The kind with this wire name; a journal may also hold kinds of another release."""
    return EVENTS.get(name, JournalEvent)


def told(name: str, subject: str, kept: Mapping[str, Any]) -> Mapping[str, Any]:
    """The payload of a journaled event. An id is not written twice, since it is the subject."""
    has_id = issubclass(kind_of(name), WithId)
    return {"id": subject, **kept} if has_id and "id" not in kept else kept
