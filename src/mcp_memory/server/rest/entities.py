"""Entities over HTTP: create, find, change, delete, and their surroundings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field
from starlette.requests import Request

from mcp_memory import model
from mcp_memory.engine import Engine
from mcp_memory.engine.graph_walk import MOST_DEPTH
from mcp_memory.errors import Stale
from mcp_memory.fields import Id as ShownId
from mcp_memory.fields import Share
from mcp_memory.inputs import NewEntity
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import (
    ANYWHERE,
    DONE_BEFORE,
    Acting,
    CursorPaging,
    IfMatch,
    Made,
    OnlyOnce,
    Which,
    expected_version,
)
from mcp_memory.server.rest.fields import IN_BODY, AsOf, Body, MemoryPage, Page, Text
from mcp_memory.server.rest.memories import Order
from mcp_memory.server.shapes.entities import Entity, GraphNode, Observation, Relation
from mcp_memory.server.shapes.inputs import takes
from mcp_memory.server.shapes.shape import Record, Shape

PATH = "/api/entities"
router = APIRouter(prefix=PATH, tags=["entities"], responses=ANYWHERE)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@takes(NewEntity, IN_BODY)
class EntityToHave(Body):
    """An entity to be created. One of this name and type is updated with what is given."""

    type: Text = Field(validation_alias="entity_type")


@takes(NewEntity, IN_BODY, without="observations")
class EntityChanges(Body):
    """Changes to an entity. Fields that are not given stay as they are."""

    name: Text = ""
    type: Text = Field("", validation_alias="entity_type")
    status: Text = ""


class EntityInFull(Entity):
    observations: list[Observation]
    relations: list[Relation]


class ListedEntity(Entity):
    observation_count: int


class EntityPage(Page):
    entities: list[ListedEntity] = Field(serialization_alias="items")


class WhichEntities(CursorPaging):
    name: str | None = Field(None, description="Of exactly this name.")
    type: str | None = Field(None, validation_alias="entity_type")
    status: str | None = None
    as_of: AsOf = None


class FoundEntity(Entity):
    observations: list[Observation]
    limbic_score: float = Field(serialization_alias="score")
    explanation: Record | None


class FoundEntities(Shape):
    mode: str = Field(description="How it was searched; says so when meaning could not be used.")
    routing_strategy: str
    hits: list[FoundEntity] = Field(serialization_alias="items")


class EntityGraph(Shape):
    center: ShownId
    nodes: list[GraphNode]
    edges: list[Relation]
    truncated: bool = Field(description="Limits were reached; not everything within reach is shown.")


class GoneEntity(Shape):
    id: ShownId


@router.post(
    "",
    status_code=201,
    responses={200: {"model": EntityInFull, "description": "It was there already"}, **DONE_BEFORE},
)
def create_entity(new: EntityToHave, once: OnlyOnce) -> EntityInFull:
    """Create an entity, or update the existing one."""

    def create(engine: Engine) -> Made:
        made = engine.graph.create_entity(new.fill(NewEntity, same_type=True))
        graph = engine.graph.get(made.node.entity.id, record=False)
        entity = made.node.entity
        return Made(_in_full(graph), f"{PATH}/{entity.id}", made.new, _etag(entity))

    return once(create, event="entity_", place=PATH + "/{id}")  # type: ignore[return-value]


@router.get("")
def list_entities(which: Annotated[WhichEntities, Query()], request: Request, engine: Acting) -> EntityPage:
    """List entities in the order they were stored."""
    found = engine.entities.find(**which.values())
    return EntityPage.of(found, next=which.page_at(request, found.cursor))


@router.get("/search")
def search_entities(
    engine: Acting,
    q: Annotated[str, Query(min_length=1, description="What to look for, in plain language.")],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
    explain: bool = False,
) -> FoundEntities:
    """Find entities by meaning, words and usage. Best first."""
    answer = engine.entities.search(q, limit, explain=explain)
    return FoundEntities.of(answer)


@router.get("/{which}", responses=documented(404))
def get_entity(
    which: Which,
    engine: Acting,
    response: Response,
    ended: Annotated[bool, Query(description="Also relations that have ended.")] = False,
    as_of: Annotated[AsOf, Query()] = None,
) -> EntityInFull:
    """Read an entity with its observations and relations."""
    graph = engine.graph.get(which, ended=ended, as_of=as_of)
    response.headers["ETag"] = _etag(graph.nodes[0].entity)
    return _in_full(graph)


@router.put("/{which}", responses=documented(404, 409, 412))
def update_entity(
    which: Which, changes: EntityChanges, engine: Acting, response: Response, if_match: IfMatch = None
) -> Entity:
    """Change the given fields of an entity."""
    expected = expected_version(if_match)
    entity = engine.graph.update(
        which, changes.given(), expected_update=None if expected is None else _moment(expected)
    )
    response.headers["ETag"] = _etag(entity)
    return Entity.of(entity)


@router.delete("/{which}", responses=documented(404))
def delete_entity(
    which: Which,
    engine: Acting,
    cascade_memories: Annotated[bool, Query(description="Also the memories about it.")] = False,
) -> GoneEntity:
    """Delete an entity with its relations and observations. Memories stored on their own stay."""
    entity = engine.graph.delete_entity(which, cascade_memories=cascade_memories)
    return GoneEntity(id=entity.id)


@router.get("/{which}/graph", responses=documented(404))
def get_entity_graph(
    which: Which,
    engine: Acting,
    depth: Annotated[int, Query(ge=0, le=MOST_DEPTH, description="How many relations away to look.")] = 1,
    min_strength: Annotated[Share, Query(description="Follow only relations at least this strong.")] = 0.0,
    include_memories: bool = True,
    as_of: Annotated[AsOf, Query()] = None,
) -> EntityGraph:
    """Read the part of the graph around an entity."""
    found = engine.walk.entity_graph(
        which, depth=depth, min_strength=min_strength, include_memories=include_memories, as_of=as_of
    )
    return EntityGraph.of(found, center=found.center.id)


class MemoriesOfEntity(CursorPaging):
    order: Order = "recent"
    as_of: AsOf = None


@router.get("/{which}/memories", responses=documented(404))
def list_entity_memories(
    which: Which, page: Annotated[MemoriesOfEntity, Query()], request: Request, engine: Acting
) -> MemoryPage:
    """List the memories about an entity."""
    found = engine.memories.find(model.Filter(), about=which, **page.values())
    items = engine.memories.describe(found.memories, as_of=page.as_of)
    return MemoryPage.of(found, items=items, next=page.page_at(request, found.cursor))


def _in_full(graph: model.Graph) -> EntityInFull:
    [node] = graph.nodes
    return EntityInFull.of(node, relations=graph.relations)


def _etag(entity: model.Entity) -> str:
    """The time of its last change, in microseconds."""
    return f'"{(entity.updated_at - _EPOCH) // timedelta(microseconds=1)}"'


def _moment(version: int) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=version)
    except OverflowError:
        raise Stale("If-Match holds no moment at which an entity was changed: read it again first") from None
