"""Values that callers hand in: what to store, and the options of use cases. The engine checks them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from mcp_memory.fields import Help, OptionalText, given_fields
from mcp_memory.model import (
    DEFAULT_IMPORTANCE,
    MEMORY_TYPES,
    ORDINARY_IMPORTANCE,
    PINNED_TYPE,
    Memory,
    SearchMode,
)
from mcp_memory.tuning import Fading

PLAIN_TYPE = "observation"
"""The type of a memory whose writer named none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewMemory:
    """A memory to be stored. The fields with a `Help` can also be changed later, except for its entities."""

    content: Annotated[str, Help("One fact, in a sentence that can be understood without this conversation.")]
    type: Annotated[str, Help(f"One of {', '.join(MEMORY_TYPES)}; or a name of your own.")] = PLAIN_TYPE
    tags: Annotated[tuple[str, ...], Help("Words to filter by later.")] = ()
    confidence: Annotated[float, Help("How sure it is, 0 to 1.")] = 1.0
    importance: Annotated[
        float | None, Help("How much it matters, 0 to 1; follows from the type unless given.")
    ] = None
    source: Annotated[str | None, Help("Where it comes from.")] = None
    context: Annotated[str | None, Help("What was going on when it came up.")] = None
    channel: Annotated[str | None, Help("The conversation that it comes from.")] = None
    metadata: Annotated[Mapping[str, Any], Help("Anything else worth keeping with it.")] = field(
        default_factory=dict
    )
    pinned: Annotated[bool | None, Help("Keep it from fading; follows from the type unless given.")] = None
    entity_names: Annotated[
        tuple[str, ...], Help("Who or what it is about, by name; made if not known yet.")
    ] = ()
    relevance: Annotated[
        float, Help("How much it is about those entities, 0 to 1; graph searches weigh by it.")
    ] = 1.0
    captured: bool = False
    """Captured from a conversation by a rule: on trial, fades in days unless it is used."""
    project: str | None = None
    """None: the caller's."""
    quarantined: bool = False
    """Quarantined because of its origin: found on request only."""

    @property
    def is_pinned(self) -> bool:
        return self.type == PINNED_TYPE if self.pinned is None else self.pinned

    @property
    def weight(self) -> float:
        if self.importance is not None:
            return self.importance
        return DEFAULT_IMPORTANCE.get(self.type, ORDINARY_IMPORTANCE)

    def stored(self) -> dict[str, Any]:
        """The given values, by column of a memory."""
        return {name: getattr(self, name) for name in WRITTEN} | {"importance": self.weight}


WRITTEN = tuple(one.name for one in given_fields(NewMemory) if one.name in Memory.__slots__)
"""Columns of a memory that its writer sets."""

NOTES = tuple(one.name for one in given_fields(NewMemory) if one.kind == OptionalText)
"""Those of them that are text and may be missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewAssociation:
    """An association to be created."""

    target_id: str
    type: str = "related_to"
    weight: float = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class NewEntity:
    """An entity to be created or updated."""

    name: Annotated[str, Help("What it is called; this is how it is found again.")]
    type: Annotated[str | None, Help("What kind of thing it is, e.g. Person, Project, Component.")] = None
    observations: Annotated[
        tuple[str, ...], Help("Short facts about it, one each. Those it already has are skipped.")
    ] = ()
    description: Annotated[str | None, Help("One sentence that says what it is.")] = None
    metadata: Annotated[Mapping[str, Any], Help("Anything else worth keeping with it.")] = field(
        default_factory=dict
    )
    status: Annotated[
        str | None, Help("active, paused, completed or archived; the latter are ranked lower.")
    ] = None
    same_type: bool = False
    """An entity with that name and another type is another entity. Otherwise the name alone identifies it,
    and a type that is given becomes its type."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewRelation:
    """A relation to be created."""

    source: Annotated[str, Help("The entity where it starts, by name or id.")]
    target: Annotated[str, Help("The entity where it leads, by name or id.")]
    type: Annotated[str, Help("In active voice, e.g. uses, depends_on, works_at.")]
    strength: Annotated[float | None, Help("How strong the connection is, 0 to 1; 0.5 unless given.")] = None
    confidence: Annotated[float | None, Help("How sure it is, 0 to 1; 1 unless given.")] = None
    context: Annotated[str | None, Help("Why or where this holds.")] = None
    metadata: Annotated[Mapping[str, Any], Help("Anything else worth keeping with it.")] = field(
        default_factory=dict
    )
    make_ends: bool = False
    """Missing ends are created instead of refused."""
    with_inverse: bool = False
    """`contiene` also creates `parte_de` in the other direction, and the reverse."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallOptions:
    """How memories are searched for a query (`Recall.recall`)."""

    mode: Annotated[
        SearchMode,
        Help(
            "hybrid for most questions; keyword for exact terms; semantic for the same in other words; "
            "graph for what is known around an entity that the query names."
        ),
    ] = "hybrid"
    fading: Annotated[
        Fading | None,
        Help(
            "gentle finds old memories as well as new ones; strict prefers and shows what was stored or used "
            "lately. The server's setting unless set."
        ),
    ] = None
    limit: Annotated[int | None, Help("How many at most, 1 to 100; 20 unless set.")] = None
    offset: Annotated[int, Help("Skip this many, to get the next page.")] = 0
    entity_name: Annotated[
        str | None, Help("Only memories about this entity; in graph mode, the entity to start from.")
    ] = None
    hops: Annotated[int, Help("In graph mode: how many relations to follow, 1 to 5.")] = 1
    explain: Annotated[bool, Help("Also say for each result how its score came about.")] = False
    include_archived: Annotated[bool, Help("Also search archived memories.")] = False
    as_of: Annotated[datetime | None, Help("Read what was known at this earlier time instead of now.")] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsolidationOptions:
    """What a run of consolidation compares and merges (`Maintenance.consolidate`)."""

    threshold: Annotated[
        float | None, Help("Merge whatever is at least this similar, 0 to 1. Unset: only what says the same.")
    ] = None
    force: Annotated[
        bool, Help("Also merge what differs in a number, name, date or negation. Rarely right.")
    ] = False
    dry_run: Annotated[bool, Help("Only show what would be merged.")] = False
    full: Annotated[bool, Help("Look at every memory again, not only at those new since the last run.")] = (
        False
    )
