"""Entities, their observations, relations and reflections."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from mcp_memory.model import ReflectionTarget
from mcp_memory.server.shapes.memories import Memory
from mcp_memory.server.shapes.shape import Id, Shape, Share, drawn


class Entity(Shape):
    """Something that memories are about."""

    id: Id
    name: str
    type: str = Field(serialization_alias="entity_type")
    description: str | None
    metadata: dict[str, Any]
    status: str
    created_at: datetime
    updated_at: datetime


@drawn(Memory, only="id content kind created_at")
class Observation(Shape):
    """A memory that is linked to an entity."""


@drawn(Memory, only="id content type")
class Mentioned(Shape):
    """A memory in a graph."""


class Relation(Shape):
    """A directed connection between two entities; one that has ended stays readable."""

    id: Id
    source: str
    target: str
    type: str = Field(serialization_alias="relation_type")
    strength: Share
    confidence: Share
    effective_confidence: Share | None = Field(None, description="Confidence after decay.")
    context: str | None
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None


class GraphNode(Entity):
    depth: int = Field(description="How many relations away it is.")
    memory_count: int
    memories: list[Mentioned]


class Reflection(Shape):
    id: Id
    target_type: ReflectionTarget
    target_id: Id | None
    author: str
    content: str
    mood: str | None
    created_at: datetime
