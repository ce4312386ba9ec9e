"""Relations over HTTP: create, read, end, delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request

from mcp_memory.engine import Engine
from mcp_memory.errors import EntityNotFound
from mcp_memory.inputs import NewRelation
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import (
    ANYWHERE,
    DONE_BEFORE,
    Acting,
    CursorPaging,
    Id,
    Made,
    OnlyOnce,
)
from mcp_memory.server.rest.fields import IN_BODY, Body, Page
from mcp_memory.server.shapes.entities import Relation
from mcp_memory.server.shapes.inputs import takes
from mcp_memory.server.shapes.shape import Shape

PATH = "/api/relations"
router = APIRouter(prefix=PATH, tags=["relations"], responses=ANYWHERE)


@takes(NewRelation, IN_BODY, type="relation_type")
class RelationToBegin(Body):
    """A relation to be created. An end with a new name becomes an entity."""


@takes(NewRelation, IN_BODY, optional=True, without="source target metadata", type="relation_type")
class RelationChanges(Body):
    """Changes to a relation. Fields that are not given stay as they are."""


class WhichRelations(CursorPaging):
    entity_id: str | None = Field(None, description="From or to this entity, by its id or name.")
    type: str | None = Field(None, validation_alias="relation_type")
    ended: bool = Field(False, description="Also those that have ended.")


class RelationPage(Page):
    relations: list[Relation] = Field(serialization_alias="items")


class Ended(Shape):
    relation: Relation
    inverse: Relation | None = Field(description="The inverse relation, which ends with it.")
    already: bool = Field(description="Whether it had ended before.")


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
    wanted = which.values()
    entity = wanted.pop("entity_id")
    inventory = engine.inventory
    found = inventory.relations(**wanted) if entity is None else inventory.relations_of(entity, **wanted)
    return RelationPage.of(found, next=which.page_at(request, found.cursor))


@router.get("/{id:uuid}", responses=documented(404))
def get_relation(id: Id, engine: Acting) -> Relation:
    """Read one relation, active or ended."""
    return Relation.of(engine.graph.get_relation(str(id)))


@router.put("/{id:uuid}", responses=documented(404))
def update_relation(id: Id, changes: RelationChanges, engine: Acting) -> Relation:
    """Change the given fields. Another type replaces the relation, under a new id."""
    return Relation.of(engine.graph.update_relation(str(id), **changes.given()))


@router.post("/{id:uuid}/end", responses=documented(404))
def end_relation(id: Id, engine: Acting) -> Ended:
    """End a relation: it stays readable as history, and may begin again later."""
    return Ended.of(engine.graph.end_relation(str(id)))


@router.delete("/{id:uuid}", responses=documented(404))
def delete_relation(id: Id, engine: Acting) -> Relation:
    """Delete a relation and its inverse."""
    return Relation.of(engine.graph.delete_relation(str(id)))
