"""Reflections over HTTP: prose about an entity, a relation, a session or everything."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request

from mcp_memory.engine import Engine
from mcp_memory.fields import Id as ShownId
from mcp_memory.model import ReflectionTarget
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import ANYWHERE, DONE_BEFORE, Acting, Id, Made, OnlyOnce, Paging
from mcp_memory.server.rest.fields import Body, Page, Text
from mcp_memory.server.shapes.entities import Reflection
from mcp_memory.server.shapes.shape import Shape

PATH = "/api/reflections"
router = APIRouter(prefix=PATH, tags=["reflections"], responses=ANYWHERE)


class NewReflection(Body):
    target_type: ReflectionTarget
    target_id: UUID | None = Field(None, description="Of the entity or relation that it is about.")
    content: Text
    author: Text | None = None
    mood: Text | None = None


class ReflectionPage(Page):
    reflections: list[Reflection] = Field(serialization_alias="items")


class WhichReflections(Paging):
    author: str | None = None
    mood: str | None = None
    target_type: ReflectionTarget | None = None
    target: UUID | None = Field(
        None, validation_alias="target_id", description="With `target_type`: of the entity or relation."
    )


class FoundReflection(Reflection):
    score: float


class FoundReflections(Shape):
    mode: str = Field(description="How it was searched; says so when meaning could not be used.")
    items: list[FoundReflection]


class GoneReflection(Shape):
    id: ShownId


@router.post("", status_code=201, responses={**DONE_BEFORE, **documented(404)})
def add_reflection(new: NewReflection, once: OnlyOnce) -> Reflection:
    """Store a reflection."""

    def create(engine: Engine) -> Made:
        made = engine.reflections.add(
            new.target_type,
            new.content,
            target=str(new.target_id) if new.target_id else None,
            author=new.author,
            mood=new.mood,
        )
        [targeted] = engine.reflections.targeted([made])
        return Made(Reflection.of(targeted), f"{PATH}/{made.id}")

    return once(create, event="reflection_", place=PATH + "/{id}")  # type: ignore[return-value]


@router.get("", responses=documented(404))
def list_reflections(
    which: Annotated[WhichReflections, Query()], request: Request, engine: Acting
) -> ReflectionPage:
    """List reflections, newest first."""
    target = str(which.target) if which.target else None
    found = engine.reflections.find(**which.values() | {"target": target})
    return ReflectionPage.of(found, next=which.next(request, found.total))


@router.get("/search")
def search_reflections(
    engine: Acting,
    q: Annotated[str, Query(min_length=1)],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
    author: str | None = None,
    mood: str | None = None,
    target_type: ReflectionTarget | None = None,
) -> FoundReflections:
    """Find reflections by meaning and words, recent ones first."""
    answer = engine.reflections.search(q, limit=limit, author=author, mood=mood, target_type=target_type)
    targeted = engine.reflections.targeted([hit.reflection for hit in answer.hits])
    items = [FoundReflection.of(one, hit) for one, hit in zip(targeted, answer.hits, strict=True)]
    return FoundReflections.of(answer, items=items)


@router.get("/{id:uuid}", responses=documented(404))
def get_reflection(id: Id, engine: Acting) -> Reflection:
    """Read one reflection."""
    return Reflection.of(engine.reflections.get(str(id)))


@router.delete("/{id:uuid}", responses=documented(404))
def delete_reflection(id: Id, engine: Acting) -> GoneReflection:
    """Delete a reflection. The change can be undone."""
    engine.reflections.delete(str(id))
    return GoneReflection(id=str(id))
