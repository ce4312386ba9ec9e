"""Results of the graph tools, in both spellings."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, PlainSerializer

from mcp_memory.errors import EntityNotFound
from mcp_memory.server.shapes.entities import Entity, Reflection, Relation
from mcp_memory.server.shapes.memories import Memory
from mcp_memory.server.shapes.shape import Rounded, Shape, drawn, omitted

if TYPE_CHECKING:
    from mcp_memory.engine.relating import RelationOutcome
    from mcp_memory.server.mcp.graph_inputs import RelationItem

Minute = Annotated[datetime, PlainSerializer(lambda at: f"{at:%Y-%m-%d %H:%M:%S}", return_type=str)]


@drawn(Entity, only="name type", type="entityType")
class PlainEntity(Shape):
    texts: list[str] = Field(serialization_alias="observations")


@drawn(Entity, only="id name type description metadata created_at")
class FullEntity(Shape):
    pass


@drawn(Relation, only="source target type", source="from", target="to", type="relationType")
class PlainRelation(Shape):
    error: str | None = omitted()


class NumberedRelation(PlainRelation):
    seq: int = Field(serialization_alias="relation_id")
    context: str | None = omitted()
    ended_at: datetime | None = omitted()


@drawn(Relation, only="source target type")
class NamedRelation(Shape):
    pass


@drawn(Relation, only="id source target type strength confidence context")
class FullRelation(Shape):
    effective_confidence: Rounded | None = omitted()


class FailedRelation(Shape):
    error: str


@drawn(Memory, only="id content kind created_at")
class ObservationOut(Shape):
    flagged: int = Field(serialization_alias="similarity_flag")
    superseded_at: datetime | None = omitted()
    superseded_by: str | None = omitted()


@drawn(Reflection, only="target_type author content mood")
class ReflectionOut(Shape):
    seq: int = Field(serialization_alias="id")
    target_seq: int | None = Field(serialization_alias="target_id")
    created_at: Minute


class ScoredReflection(ReflectionOut):
    score: Rounded


class EntitiesMade(Shape):
    entities: list[PlainEntity | FullEntity]


class RelationsMade(Shape):
    relations: list[PlainRelation | FullRelation | FailedRelation]
    errors: list[str] | None = omitted()


class AddedTo(Shape):
    entityName: str
    addedObservations: list[str]


class ObservationsAdded(Shape):
    entity: PlainEntity | None = omitted()
    results: list[AddedTo] | None = Field(None, exclude_if=lambda results: results is None)


class EntitiesDeleted(Shape):
    deleted: list[str]
    errors: list[str] | None = omitted()
    remaining: list[str] | None = omitted()


class ObservationsDeleted(Shape):
    entity: PlainEntity | None = omitted()
    success: bool | None = omitted()
    message: str | None = omitted()


class RelationsDeleted(Shape):
    deleted: list[PlainRelation | NamedRelation]
    errors: list[str] | None = omitted()


class NodesFound(Shape):
    nodes: list[PlainEntity] = Field(serialization_alias="entities")
    total: int
    cursor: int | None = omitted("next_cursor")


class GraphPage(NodesFound):
    relations: list[NumberedRelation]


class OpenedEntity(PlainEntity):
    reflections: list[ReflectionOut] | None = Field(None, exclude_if=lambda about: about is None)


class DetailedEntity(OpenedEntity):
    seq: int = Field(serialization_alias="entity_id")
    status: str
    observations: list[ObservationOut] = Field(serialization_alias="details")


class NodesOpened(Shape):
    entities: list[OpenedEntity | DetailedEntity]
    relations: list[NumberedRelation] | None = Field(None, exclude_if=lambda relations: relations is None)
    relation_count: int | None = Field(
        None, description="How many there are; the oldest are shown.", exclude_if=lambda count: count is None
    )


class RelationEnd(Shape):
    result: str
    inverse_id: int | None = omitted()


class FileImported(Shape):
    entities_imported: int
    relations_imported: int
    errors: int
    skipped: int


def outcome_of(item: RelationItem, outcome: RelationOutcome) -> Shape:
    if outcome.relation is None:
        return FailedRelation(error=str(EntityNotFound(str(outcome.missing))))
    if not item.is_plain:
        return FullRelation.of(outcome.relation)
    return PlainRelation.of(item.triple(), error="Relation already exists" if outcome.existed else None)


def spelled(item: RelationItem) -> Shape:
    """The relation in the spelling of its request."""
    return (PlainRelation if item.is_plain else NamedRelation).of(item.triple())
