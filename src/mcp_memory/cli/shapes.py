"""Shapes that `--json` prints, named as on the command line."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mcp_memory.engine.memories import Deleted
from mcp_memory.server.shapes import changes, curation, entities, memories
from mcp_memory.server.shapes.shape import Record, Shape, drawn, omitted


@drawn(memories.Memory, type="type",
       without="effective_confidence entities origin kind flagged superseded_at")  # fmt: skip
class MemoryJson(Shape):
    pass


class NamedMemoryJson(MemoryJson):
    entities: list[str]


class DescribedMemoryJson(NamedMemoryJson):
    effective_confidence: float


class FoundMemoryJson(DescribedMemoryJson):
    score: float
    space: str | None = omitted()
    explanation: Record | None = omitted()
    around: list[str] | None = omitted()


@drawn(memories.SimilarMemory, reason="reason")
class SimilarMemoryJson(Shape):
    pass


class StoredMemoryJson(Shape):
    outcome: Literal["created", "equal", "merged"]
    described: NamedMemoryJson = Field(serialization_alias="memory")
    similar: list[SimilarMemoryJson]
    compared: str
    warnings: list[str]


@drawn(memories.Association, without="created_at", type="type")
class AssociationJson(Shape):
    pass


@drawn(entities.Entity, type="type")
class EntityJson(Shape):
    pass


class NodeJson(EntityJson):
    observations: list[entities.Observation]


class FoundEntityJson(NodeJson):
    limbic_score: float
    distance: float | None
    rrf_score: float | None
    explanation: Record | None = omitted()


class WalkedNodeJson(EntityJson):
    depth: int
    memory_count: int
    memories: list[MemoryJson]


@drawn(entities.Relation, without="metadata updated_at", source="from", target="to", type="type")
class RelationJson(Shape):
    seq: int = Field(serialization_alias="number")


class GraphJson(Shape):
    nodes: list[NodeJson] = Field(serialization_alias="entities")
    relations: list[RelationJson]


class EntityGraphJson(Shape):
    center: str
    nodes: list[WalkedNodeJson]
    edges: list[RelationJson]
    truncated: bool


@drawn(changes.Event, name="event", act="change")
class EventJson(Shape):
    pass


@drawn(memories.Memory, only="id content")
class PrimaryJson(Shape):
    pass


class ClusterJson(Shape):
    primary: PrimaryJson
    absorbed: list[curation.Absorbed]


class KeptApartJson(Shape):
    ids: list[str]
    cosine: float = Field(serialization_alias="similarity")
    reason: str


@drawn(curation.MergeCounts, compared="compared", threshold="threshold", act="change")
class ConsolidatedJson(Shape):
    clusters: list[ClusterJson]
    apart: list[KeptApartJson] = Field(serialization_alias="kept_apart")


class PrunedJson(Shape):
    faded: list[curation.FadedMemory] = Field(serialization_alias="pruned")
    left: int
    act: str | None = Field(serialization_alias="change")
    dry_run: bool


@drawn(Deleted, only="missing kept act dry_run", act="change")
class DeletedJson(Shape):
    ids: list[str] = Field(serialization_alias="deleted")
