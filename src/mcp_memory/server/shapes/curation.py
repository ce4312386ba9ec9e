"""Curation: merges, proposed splits, entities that need attention."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from mcp_memory.fields import Id
from mcp_memory.server.shapes.changes import Done
from mcp_memory.server.shapes.shape import Shape


class Analysis(Shape):
    """The size of an entity, and the topics of its observations."""

    id: Id
    name: str
    type: str = Field(serialization_alias="entity_type")
    observation_count: int
    threshold: int
    needs_split: bool
    split_score: float
    topics: dict[str, list[str]]


class SplitDone(Shape):
    new_entities: list[str]
    moved_observations: int
    relations_created: int
    original_observations_remaining: int


class FlaggedObservation(Shape):
    entity: str
    content: str = Field(serialization_alias="observation")


class StaleEntity(Shape):
    name: str = Field(serialization_alias="entity")
    last_at: datetime = Field(serialization_alias="last_access_at")
    days_since: int
    access_count: int
    observation_count: int


class LargeEntity(Shape):
    name: str = Field(serialization_alias="entity")
    type: str = Field(serialization_alias="entity_type")
    observation_count: int = Field(description="Including superseded ones.")


class Pair(Shape):
    a: str
    b: str
    similarity_score: float = Field(serialization_alias="similarity")
    match_type: Literal["cosine", "containment"]


class Absorbed(Shape):
    id: Id
    content: str
    cosine: float = Field(serialization_alias="similarity")


class MergeCounts(Done):
    clusters_found: int
    merged: int = Field(serialization_alias="memories_merged", description="How many took part in a merge.")
    deleted: int = Field(
        serialization_alias="memories_deleted", description="How many became part of another one."
    )
    compared: int = Field(serialization_alias="memories_compared")
    threshold: float = Field(serialization_alias="similarity_threshold")
    dry_run: bool


class FadedMemory(Shape):
    id: Id
    content: str
    effective_confidence: float
