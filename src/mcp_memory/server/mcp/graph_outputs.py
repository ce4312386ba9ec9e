"""What the graph tools answer: its declared shape, and how it is made of what the engine knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NotRequired, cast

from typing_extensions import TypedDict

from mcp_memory.server.mcp.graph_curation import ReflectionOut
from mcp_memory.server.mcp.graph_inputs import RelationItem

if TYPE_CHECKING:
    from mcp_memory.engine.relating import RelationOutcome
    from mcp_memory.model import Entity, Memory, Node, Relation


class EntityOut(TypedDict):
    name: str
    entityType: NotRequired[str]
    observations: NotRequired[list[str]]
    id: NotRequired[str]
    entity_type: NotRequired[str]
    description: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any]]
    status: NotRequired[str]
    created_at: NotRequired[str]


RelationOut = TypedDict(
    "RelationOut",
    {
        "from": NotRequired[str],
        "to": NotRequired[str],
        "relationType": NotRequired[str],
        "relation_id": NotRequired[int],
        "id": NotRequired[str],
        "source": NotRequired[str],
        "target": NotRequired[str],
        "relation_type": NotRequired[str],
        "strength": NotRequired[float],
        "confidence": NotRequired[float],
        "context": NotRequired[str | None],
        "ended_at": NotRequired[str],
        "error": NotRequired[str],
    },
)


class FullRelation(TypedDict):
    id: str
    source: str
    target: str
    relation_type: str
    strength: float
    confidence: float
    context: str | None


class ObservationOut(TypedDict):
    id: str
    content: str
    kind: str
    created_at: str
    similarity_flag: int
    superseded_at: NotRequired[str]
    superseded_by: NotRequired[str]


class Entities(TypedDict):
    entities: list[EntityOut]


class RelationsMade(TypedDict):
    relations: list[RelationOut]
    errors: NotRequired[list[str]]


class AddedTo(TypedDict):
    entityName: str
    addedObservations: list[str]


class ObservationsAdded(TypedDict):
    entity: NotRequired[EntityOut]
    results: NotRequired[list[AddedTo]]


class EntitiesDeleted(TypedDict):
    deleted: list[str]
    errors: NotRequired[list[str]]


class ObservationsDeleted(TypedDict):
    entity: NotRequired[EntityOut]
    success: NotRequired[bool]
    message: NotRequired[str]


class RelationsDeleted(TypedDict):
    deleted: list[RelationOut]
    errors: NotRequired[list[str]]


class NodesFound(TypedDict):
    entities: list[EntityOut]
    total: int
    next_cursor: NotRequired[int]


class OpenedEntity(TypedDict):
    name: str
    entityType: str
    observations: list[str]
    entity_id: NotRequired[int]
    status: NotRequired[str]
    details: NotRequired[list[ObservationOut]]
    reflections: NotRequired[list[ReflectionOut]]


class NodesOpened(TypedDict):
    entities: list[OpenedEntity]
    relations: NotRequired[list[RelationOut]]


class GraphPage(TypedDict):
    entities: list[EntityOut]
    relations: list[RelationOut]
    total: int
    next_cursor: NotRequired[int]


class Ended(TypedDict):
    result: str
    inverse_id: NotRequired[int]


class Migrated(TypedDict):
    entities_imported: int
    relations_imported: int
    errors: int
    skipped: int


def plain_entity(node: Node) -> EntityOut:
    return {"name": node.entity.name, "entityType": node.entity.type, "observations": node.texts}


def full_entity(entity: Entity) -> EntityOut:
    return {
        "id": entity.id,
        "name": entity.name,
        "entity_type": entity.type,
        "description": entity.description,
        "metadata": dict(entity.metadata),
        "created_at": entity.created_at.isoformat(),
    }


def numbered_relation(relation: Relation) -> RelationOut:
    shown: RelationOut = {
        "relation_id": relation.seq,
        "from": relation.source,
        "to": relation.target,
        "relationType": relation.type,
    }
    if relation.context:
        shown["context"] = relation.context
    if relation.ended_at:
        shown["ended_at"] = relation.ended_at.isoformat()
    return shown


def opened(node: Node) -> OpenedEntity:
    return {"name": node.entity.name, "entityType": node.entity.type, "observations": node.texts}


def detailed(node: Node) -> OpenedEntity:
    return {
        **opened(node),
        "entity_id": node.entity.seq,
        "status": node.entity.status,
        "details": [_observation(memory) for memory in node.observations],
    }


def _observation(memory: Memory) -> ObservationOut:
    shown: ObservationOut = {
        "id": memory.id,
        "content": memory.content,
        "kind": memory.kind,
        "created_at": memory.created_at.isoformat(),
        "similarity_flag": int(memory.flagged_at is not None),
    }
    if memory.superseded_at and memory.superseded_by:
        shown["superseded_at"] = memory.superseded_at.isoformat()
        shown["superseded_by"] = memory.superseded_by
    return shown


def outcome_of(item: RelationItem, outcome: RelationOutcome) -> RelationOut:
    if outcome.relation is None:
        return {"error": f"Entity not found: {outcome.missing}"}
    if not item.is_plain:
        return cast("RelationOut", full_relation(outcome.relation))
    if outcome.existed:
        return {**spelled(item), "error": "Relation already exists"}
    return spelled(item)


def full_relation(relation: Relation) -> FullRelation:
    return {
        "id": relation.id,
        "source": relation.source,
        "target": relation.target,
        "relation_type": relation.type,
        "strength": relation.strength,
        "confidence": relation.confidence,
        "context": relation.context,
    }


def spelled(item: RelationItem) -> RelationOut:
    """The relation in the words it was asked in."""
    source, target, type = item.ends
    if item.is_plain:
        return {"from": source, "to": target, "relationType": type}
    return {"source": source, "target": target, "relation_type": type}
