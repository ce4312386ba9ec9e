"""The words of the domain: frozen values that every layer shares.

A fact is stored once, as a `Memory`. An entity's observation *is* a memory that
is linked to that entity, so what one assistant writes as an observation another
finds as a memory.

Each value has an `id` (UUIDv7 text, which leaves the program) and a `seq` (a stable
integer, which orders things as they were stored and names relations and entities
to tools whose contract asks for an integer).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, Protocol

from mcp_memory.errors import Invalid
from mcp_memory.fields import Help, Id, OptionalText, Share, given_fields

DEFAULT_SPACE = "default"

EVERY_SPACE = "*"
"""In a token's spaces: all of them."""

SPACE_LENGTH = 100
"""Characters in the name of a space: it is sent with every request, and shown."""

CLIENT_LENGTH = 80
"""Characters of a client's name that are kept with whatever it changes."""

UNKNOWN_TYPE = "unknown"
"""The type of an entity that was only mentioned; creating it with a real type replaces this one."""

GENERIC_TYPE = "Generic"
"""The type of an entity whose creator named none."""

ACTIVE = "active"
"""The status of an entity that nobody has paused, completed or archived."""

GENERIC_KIND = "generic"
"""The kind of an observation that nobody has classified."""

ORDINARY_IMPORTANCE = 0.5

MEMORY_TYPE_IMPORTANCE: Mapping[str, float | None] = {
    "observation": 0.4,
    "decision": 0.8,
    "learning": None,
    "error": None,
    "pattern": None,
    "preference": 0.7,
    "fact": 0.5,
    "procedure": None,
    "identity": 1.0,
    "event": 0.5,
    "goal": 0.7,
    "todo": 0.3,
}
"""The types that tools describe, with the importance of a memory whose writer gives none; None is ordinary.

To add a type, add its line here. The list is open: any other type is kept as it is.
"""

MEMORY_TYPES = tuple(MEMORY_TYPE_IMPORTANCE)

DEFAULT_IMPORTANCE: Mapping[str, float] = {
    type: importance for type, importance in MEMORY_TYPE_IMPORTANCE.items() if importance is not None
}

PINNED_TYPE = "identity"
"""Memories of this type are pinned: they do not fade."""

ASSOCIATION_TYPES = ("related_to", "updates", "contradicts", "caused_by", "result_of", "part_of")


class Progress(Protocol):
    """Progress callback of a long operation: what it does, how much is done, and the total, if known."""

    def __call__(self, doing: str, done: int, total: int | None, /) -> None: ...


def unreported(doing: str, done: int, total: int | None) -> None:
    """A `Progress` that does nothing."""


Origin = Literal["memory", "observation"]
TextMode = Literal["keyword", "semantic", "hybrid"]
SearchMode = Literal["keyword", "semantic", "hybrid", "graph"]
AgentMode = Literal["hybrid", "recent", "important", "typed"]
SortOrder = Literal["recent", "importance", "most_accessed"]
Owner = Literal["memory", "entity", "reflection"]
ReflectionTarget = Literal["entity", "session", "relation", "global"]


Via = Literal["", "assistant", "person", "program", "capture", "import", "maintenance"]


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf something happens, and in which space."""

    space: str = DEFAULT_SPACE
    client: str = ""
    project: str = ""
    """The project that the caller works in: its Git remote, else its folder; empty where there is none."""
    via: Via = ""
    """The kind of caller, as seen by the server."""
    tool: str = ""
    """The tool, route or command that it used."""
    readable: tuple[str, ...] = (EVERY_SPACE,)
    """The spaces that its token opens."""
    remote: bool = False
    """It came in over HTTP, so it may not name files of this machine."""

    @property
    def provenance(self) -> dict[str, str]:
        """The provenance stored with each memory that the caller writes."""
        given = {"client": self.client, "via": self.via, "tool": self.tool}
        return {name: value for name, value in given.items() if value}


def client_name(given: str) -> str:
    """A client's name, shortened and without control characters."""
    return "".join(character for character in given if character.isprintable())[:CLIENT_LENGTH]


def checked_space(name: str) -> str:
    """The name, if it is valid for a space: printable in headers, terminals and lists."""
    if not 1 <= len(name) <= SPACE_LENGTH:
        raise Invalid(f"the name of a space has 1 to {SPACE_LENGTH} characters, not {len(name):,}")
    if not name.isprintable() or name != name.strip():
        raise Invalid(
            f"the name of a space has no control characters, and no blank at either end: not {name!r}"
        )
    if name == EVERY_SPACE:
        raise Invalid(f"{EVERY_SPACE} stands for every space: give one a name of its own")
    return name


Rights = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Token:
    """The rights of its bearer over HTTP; the first space is the default."""

    name: str
    spaces: tuple[str, ...]
    rights: Rights
    created_at: datetime
    expires_at: datetime | None = None

    def valid_at(self, now: datetime) -> bool:
        return self.expires_at is None or now < self.expires_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One fact, with how sure we are of it and how it has been used."""

    seq: int
    id: Id
    content: str
    type: str
    tags: tuple[str, ...]
    confidence: Annotated[Share, Help("Confidence at the last use.")]
    importance: Share
    source: str | None
    context: str | None
    channel: str | None
    metadata: Mapping[str, Any]
    origin: Origin
    kind: str
    pinned_at: datetime | None
    created_at: datetime
    updated_at: datetime
    accessed_at: datetime | None
    access_count: int
    version: int
    flagged_at: datetime | None
    superseded_by: Id | None
    superseded_at: datetime | None
    forgotten_at: datetime | None
    forgotten_reason: str | None
    captured_at: datetime | None = None
    """Set while it is only captured from a conversation: it fades in days unless it recurs or is used."""
    project: Annotated[str | None, Help("The project it belongs to; null: it applies everywhere.")] = None
    archived_at: Annotated[datetime | None, Help("When it was archived because it had faded.")] = None
    """`forgotten_at` is then set too. An archived memory can be restored."""
    confirmed_at: Annotated[datetime | None, Help("When a person said that it is right.")] = None
    """A confirmed memory is not archived for its age."""
    quarantined_at: datetime | None = None
    """Set while it is quarantined because of its origin: found on request, never injected."""
    provenance: Annotated[Mapping[str, Any], Help("Who wrote it and how, as the server saw it.")] = field(
        default_factory=dict
    )
    """`client`, `via` and `tool`."""

    @property
    def last_used_at(self) -> datetime:
        """When decay starts to count."""
        return self.accessed_at or self.created_at

    @property
    def pinned(self) -> bool:
        return self.pinned_at is not None

    @property
    def flagged(self) -> bool:
        """Whether it resembles another one."""
        return self.flagged_at is not None

    @property
    def quarantined(self) -> bool:
        return self.quarantined_at is not None

    @property
    def superseded(self) -> bool:
        return self.superseded_at is not None

    @property
    def captured(self) -> bool:
        return self.captured_at is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryVersion:
    """An earlier state of a memory, or a memory that it absorbed."""

    number: int
    content: str
    reason: Annotated[str, Help("Why there is a later one.")]
    at: datetime
    state: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """Something that memories are about."""

    seq: int
    id: Id
    name: str
    type: str
    description: str | None
    metadata: Mapping[str, Any]
    status: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Node:
    """An entity with the memories that are its observations, in the order they were linked."""

    entity: Entity
    observations: tuple[Memory, ...]

    @property
    def texts(self) -> list[str]:
        return [memory.content for memory in self.observations]


@dataclass(frozen=True, slots=True)
class Outline:
    """As much of an entity as most answers show: its observations as texts alone."""

    seq: int
    name: str
    type: str
    texts: list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation:
    """A directed, typed connection between two entities; one that has ended stays readable."""

    seq: int
    id: Id
    source_seq: int
    source: str
    target_seq: int
    target: str
    type: str
    strength: Share
    confidence: Share
    effective_confidence: Annotated[Share | None, Help("Confidence after decay.")] = None
    """Set where the engine has computed it."""
    context: str | None
    metadata: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and the relations that touch them, both in the order they were stored."""

    nodes: tuple[Node, ...]
    relations: tuple[Relation, ...]
    relation_count: int | None = None
    """All relations that touch the nodes, where only some are read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Association:
    """A directed, typed, weighted connection between two memories."""

    seq: int
    id: Id
    source_id: Id
    target_id: Id
    type: str
    weight: Share
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Reflection:
    """Prose about an entity, a relation, a session or everything."""

    seq: int
    id: Id
    target_type: ReflectionTarget
    target_seq: int | None
    author: str
    content: str
    mood: str | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One entry of the journal: what happened, to what, by whom; `act` groups what happened at once."""

    seq: int
    name: str
    subject: str
    at: datetime
    client: Annotated[str, Help("Who did it.")]
    act: str
    undone_at: datetime | None
    payload: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Filter:
    """Which memories a search may return. A field that is not set does not restrict."""

    types: Annotated[tuple[str, ...], Help("Only these types.")] = ()
    tags: Annotated[tuple[str, ...], Help("Only memories that have all of these tags.")] = ()
    min_confidence: Annotated[
        float | None, Help("Only memories whose confidence, faded by time, is at least this.")
    ] = None
    below_confidence: Annotated[
        float | None, Help("Only memories whose confidence, faded by time, is below this.")
    ] = None
    after: Annotated[datetime | None, Help("Only memories stored after this.")] = None
    before: Annotated[datetime | None, Help("Only memories stored before this.")] = None
    entity_seq: int | None = None
    source: Annotated[str | None, Help("Only memories from this source.")] = None
    channel: Annotated[str | None, Help("Only memories from this conversation.")] = None
    forgotten: Annotated[bool, Help("Only forgotten memories instead of only living ones.")] = False
    pinned: Annotated[bool | None, Help("Only pinned memories, or only others.")] = None
    superseded: Annotated[bool | None, Help("Only superseded memories, or only others.")] = None
    captured: bool | None = None
    archived: Annotated[
        bool | None,
        Help("Of forgotten memories, only those archived because they had faded, or only others."),
    ] = None
    quarantined: bool | None = False
    """None: also quarantined memories."""
    in_project: str | None = None
    """Of this project, or of none."""


EQUAL_FILTERS = tuple(
    one.name for one in given_fields(Filter) if one.name in Memory.__slots__ and one.kind == OptionalText
)
"""Fields of a filter that a memory's field of the same name must equal."""

MARK_FILTERS = {
    name: f"{name}_at"
    for name in Filter.__slots__
    if f"{name}_at" in Memory.__slots__ and name != "forgotten"
}
"""Fields of a filter that ask whether a moment of a memory is set; None does not ask."""


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """The model that made the vectors of a database."""

    id: int
    name: str
    dimensions: int
    fingerprint: str
    state: Literal["active", "building"]


@dataclass(frozen=True, slots=True)
class Pending:
    """Something whose vector is missing or stale; `stamp` changes whenever its text does."""

    owner: Owner
    seq: int
    stamp: int
