"""Entities, their observations, relations and reflections."""

from __future__ import annotations

from pydantic import Field

from mcp_memory import model
from mcp_memory.fields import Id
from mcp_memory.server.shapes.memories import Memory
from mcp_memory.server.shapes.shape import Shape, drawn


@drawn(model.Entity, without="seq", type="entity_type")
class Entity(Shape):
    """Something that memories are about."""


@drawn(Memory, only="id content kind created_at")
class Observation(Shape):
    """A memory that is linked to an entity."""


@drawn(Memory, only="id content type")
class Mentioned(Shape):
    """A memory in a graph."""


@drawn(model.Relation, without="seq source_seq target_seq", type="relation_type")
class Relation(Shape):
    """A directed connection between two entities; one that has ended stays readable."""


class GraphNode(Entity):
    depth: int = Field(description="How many relations away it is.")
    memory_count: int
    memories: list[Mentioned]


@drawn(model.Reflection, without="seq target_seq")
class Reflection(Shape):
    target_id: Id | None
