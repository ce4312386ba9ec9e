"""Relations over HTTP: create, read, end, delete."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request

from mcp_memory.engine import Engine
from mcp_memory.engine.relating import NewRelation
from mcp_memory.errors import EntityNotFound
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import ANYWHERE, DONE_BEFORE, Acting, Id, Made, OnlyOnce, Paging
from mcp_memory.server.rest.fields import Body, Page, Text
from mcp_memory.server.shapes.entities import Relation
from mcp_memory.server.shapes.shape import Shape, Share

PATH = "/api/relations"
router = APIRouter(prefix=PATH, tags=["relations"], responses=ANYWHERE)


class RelationToBegin(Body):
    source: Text = Field(description="The name or id of an entity; a new name makes one.")
    target: Text = Field(description="The name or id of an entity; a new name makes one.")
    type: Text = Field(validation_alias="relation_type")
    strength: Share | None = Field(None, description="0.5 unless given.")
    confidence: Share | None = Field(None, description="1 unless given.")
    context: str | None = None
    metadata: dict[str, Any] = {}


class RelationChanges(Body):
    type: Text | None = Field(None, validation_alias="relation_type")
    strength: Share | None = None
    confidence: Share | None = None
    context: str | None = None


class WhichRelations(Paging):
    entity_id: str | None = Field(None, description="Touching this entity, by its id or name.")
    relation_type: str | None = None
    ended: bool = Field(False, description="Also those that have ended.")


class RelationPage(Page):
    relations: list[Relation] = Field(serialization_alias="items")


class Ended(Shape):
    relation: Relation
    inverse: Relation | None = Field(description="The one that said the same from the other end.")
    already: bool = Field(description="It had ended before.")


@router.post(
    "",
    status_code=201,
    responses={200: {"model": Relation, "description": "It was there already"}, **DONE_BEFORE},
)
def create_relation(new: RelationToBegin, once: OnlyOnce) -> Relation:
    """Connect two entities; one that is only mentioned is made with type `unknown`."""

    def create(engine: Engine) -> Made:
        [outcome] = engine.graph.create_relations([new.fill(NewRelation, make_ends=True)])
        if outcome.relation is None:
            raise EntityNotFound(str(outcome.missing))
        return Made(Relation.of(outcome.relation), f"{PATH}/{outcome.relation.id}", new=not outcome.existed)

    return once(create, event="relation_", place=PATH + "/{id}")  # type: ignore[return-value]


@router.get("", responses=documented(404))
def list_relations(
    which: Annotated[WhichRelations, Query()], request: Request, engine: Acting
) -> RelationPage:
    """List relations in the order they were stored."""
    if which.entity_id is None:
        found = engine.inventory.relations(
            type=which.relation_type, ended=which.ended, limit=which.limit, offset=which.offset
        )
    else:
        found = engine.inventory.relations_of(
            which.entity_id,
            type=which.relation_type,
            ended=which.ended,
            limit=which.limit,
            offset=which.offset,
        )
    return RelationPage.of(found, next=which.next(request, found.total))


@router.get("/{id:uuid}", responses=documented(404))
def get_relation(id: Id, engine: Acting) -> Relation:
    """Read one relation, active or ended."""
    return Relation.of(engine.graph.get_relation(str(id)))


@router.put("/{id:uuid}", responses=documented(404))
def update_relation(id: Id, changes: RelationChanges, engine: Acting) -> Relation:
    """Change what is given, leave the rest. Another type replaces the relation, under a new id."""
    return Relation.of(engine.graph.update_relation(str(id), **changes.given()))


@router.post("/{id:uuid}/end", responses=documented(404))
def end_relation(id: Id, engine: Acting) -> Ended:
    """Let a relation end: it stays readable as history, and may begin again later."""
    return Ended.of(engine.graph.end_relation(str(id)))


@router.delete("/{id:uuid}", responses=documented(404))
def delete_relation(id: Id, engine: Acting) -> Relation:
    """Take a relation away, and the one that says the same from the other end."""
    return Relation.of(engine.graph.delete_relation(str(id)))
