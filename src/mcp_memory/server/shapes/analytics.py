"""Statistics."""

from __future__ import annotations

from datetime import datetime

from mcp_memory.server.shapes.shape import Shape


class Overview(Shape):
    """Living memories, entities and active relations; confidence is effective, at this moment."""

    total_memories: int
    total_entities: int
    total_relations: int
    memories_by_type: dict[str, int]
    average_confidence: float
    oldest_memory: datetime | None
    newest_memory: datetime | None
    low_confidence_count: int
    pinned_memories: int
    superseded_memories: int
    forgotten_memories: int
    total_tags: int
    total_associations: int
    total_reflections: int
    pending_vectors: int
    search_hint: str | None
