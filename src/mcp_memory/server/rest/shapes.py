"""What is remembered, as it looks over HTTP. Ids are UUIDs, times are UTC."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from mcp_memory import model
from mcp_memory.engine.memories import Described

Share = Annotated[float, Field(ge=0, le=1)]
"""From 0 to 1."""

Text = Annotated[str, Field(json_schema_extra={"minLength": 1, "pattern": r"\S"})]
"""Some text. The engine refuses what is none, in better words than a pattern could."""

Flag = Annotated[bool, Field(strict=True)]
"""In a body: true or false, and nothing that could be taken for it."""


def _dated(value: Any) -> Any:
    if isinstance(value, int | float) or (isinstance(value, str) and _NUMBER.fullmatch(value.strip())):
        raise ValueError("a number is no time: write it as in 2026-01-31T12:00:00Z")
    return value


_NUMBER = re.compile(r"[-+]?[\d.]+")
Moment = Annotated[datetime, BeforeValidator(_dated)]
"""Without a time zone it is UTC."""

Id = Annotated[str, Field(json_schema_extra={"format": "uuid"})]


class Shape(BaseModel):
    """Anything that goes in or out; what it does not know is refused, so that a misspelt field is noticed."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


class Page(Shape):
    """Part of a list."""

    total: int = Field(description="How many there are in all.")
    next: str | None = Field(description="Where the part after this one is; null at the end.")


class Memory(Shape):
    """One fact, how sure we are of it, and how it has been used."""

    id: Id
    content: str
    memory_type: str
    tags: list[str]
    confidence: Share = Field(description="As it was when the memory was last used.")
    effective_confidence: Share = Field(description="What is left of it by now.")
    importance: Share
    source: str | None
    context: str | None
    channel: str | None
    metadata: dict[str, Any]
    entities: list[str] = Field(description="The names of what it is about.")
    origin: Literal["memory", "observation"]
    kind: str
    pinned: bool = Field(description="Does not fade, and is never pruned.")
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime | None
    access_count: int
    version: int
    flagged: bool = Field(description="Looks like another one; the report shows which want attention.")
    superseded_by: Id | None
    superseded_at: datetime | None
    forgotten_at: datetime | None
    forgotten_reason: str | None

    @classmethod
    def of(cls, described: Described, **more: Any) -> Self:
        memory = described.memory
        return cls(
            id=memory.id,
            content=memory.content,
            memory_type=memory.type,
            tags=list(memory.tags),
            confidence=memory.confidence,
            effective_confidence=described.effective_confidence,
            importance=memory.importance,
            source=memory.source,
            context=memory.context,
            channel=memory.channel,
            metadata=dict(memory.metadata),
            entities=list(described.entities),
            origin=memory.origin,
            kind=memory.kind,
            pinned=memory.pinned_at is not None,
            created_at=memory.created_at,
            updated_at=memory.updated_at,
            last_accessed_at=memory.accessed_at,
            access_count=memory.access_count,
            version=memory.version,
            flagged=memory.flagged_at is not None,
            superseded_by=memory.superseded_by,
            superseded_at=memory.superseded_at,
            forgotten_at=memory.forgotten_at,
            forgotten_reason=memory.forgotten_reason,
            **more,
        )


class MemoryPage(Page):
    items: list[Memory]


class Entity(Shape):
    """Something that memories are about."""

    id: Id
    name: str
    entity_type: str
    description: str | None
    metadata: dict[str, Any]
    status: str
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, entity: model.Entity, **more: Any) -> Self:
        return cls(
            id=entity.id,
            name=entity.name,
            entity_type=entity.type,
            description=entity.description,
            metadata=dict(entity.metadata),
            status=entity.status,
            created_at=entity.created_at,
            updated_at=entity.updated_at,
            **more,
        )


class Relation(Shape):
    """A directed connection between two entities; one that has ended stays readable."""

    id: Id
    source: str
    target: str
    relation_type: str
    strength: Share
    confidence: Share
    context: str | None
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, relation: model.Relation) -> Self:
        return cls(
            id=relation.id,
            source=relation.source,
            target=relation.target,
            relation_type=relation.type,
            strength=relation.strength,
            confidence=relation.confidence,
            context=relation.context,
            metadata=dict(relation.metadata),
            created_at=relation.created_at,
            updated_at=relation.updated_at,
            ended_at=relation.ended_at,
        )


class RelationPage(Page):
    items: list[Relation]


class Event(Shape):
    """One entry of the journal."""

    name: str
    at: datetime
    client: str = Field(description="Who did it.")
    change_id: str
    undone_at: datetime | None
    payload: dict[str, Any]

    @classmethod
    def of(cls, event: model.Event) -> Self:
        return cls(
            name=event.name,
            at=event.at,
            client=event.client,
            change_id=event.act,
            undone_at=event.undone_at,
            payload=dict(event.payload),
        )


class Done(Shape):
    """What was done, and how to take it back."""

    change_id: Id | None = Field(
        description="`POST /api/changes/{change_id}/undo` takes it back; null when nothing changed."
    )
