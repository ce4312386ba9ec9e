"""Statistics of a space, as every surface shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """Living memories, entities and active relations; confidence is effective, at this moment."""

    total_memories: int
    total_entities: int
    total_relations: int
    memories_by_type: Mapping[str, int]
    average_confidence: float
    oldest_memory: datetime | None
    newest_memory: datetime | None
    low_confidence_count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Overview(Stats):
    """The statistics, with further counts."""

    pinned_memories: int
    superseded_memories: int
    forgotten_memories: int
    total_tags: int
    total_associations: int
    total_reflections: int
    pending_vectors: int
    search_hint: str | None = None
    """How search could be improved, such as by a model for the memories' language."""
