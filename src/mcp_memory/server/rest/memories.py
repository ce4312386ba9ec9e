"""Memories over HTTP: create, find, change, delete, restore."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import Field
from starlette.requests import Request

from mcp_memory import model
from mcp_memory.engine import Engine
from mcp_memory.engine.memories import Stored
from mcp_memory.errors import NotFound
from mcp_memory.fields import Id as ShownId
from mcp_memory.fields import Share
from mcp_memory.inputs import NewMemory, RecallOptions
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import (
    ANYWHERE,
    DONE_BEFORE,
    Acting,
    CursorPaging,
    Id,
    IfMatch,
    Made,
    Names,
    OnlyOnce,
    Paging,
)
from mcp_memory.server.rest.dependencies import expected_version as version_in
from mcp_memory.server.rest.fields import IN_BODY, AsOf, Body, Flag, MemoryPage, Moment, Page, Text
from mcp_memory.server.shapes.changes import Done
from mcp_memory.server.shapes.inputs import Kinds, takes
from mcp_memory.server.shapes.memories import FoundMemory, KeptMemory, Memory

PATH = "/api/memories"
router = APIRouter(prefix=PATH, tags=["memories"], responses=ANYWHERE)

IN_QUERY: Kinds = {float: Share, tuple[str, ...]: Names, datetime: Moment}

Order = Literal["oldest", "recent", "importance", "most_accessed", "weakest"]


@takes(NewMemory, IN_BODY, without="pinned entity_names relevance")
class MemoryChanges(Body):
    """Changes to a memory. Fields that are not given stay as they are."""

    content: Text = ""
    type: Text = Field("", validation_alias="memory_type")
    importance: Share = 0.5


@takes(NewMemory, IN_BODY, type="memory_type")
class MemoryToKeep(Body):
    """A memory to be stored."""


class FoundMemories(Page):
    mode: str = Field(description="How it was searched; says so when meaning could not be used.")
    hits: list[FoundMemory] = Field(serialization_alias="items")


class MemoryFilters(Paging):
    """Filters over memories, besides those that are taken from `Filter`."""

    as_of: AsOf = None
    memory_types: Names = Field([], description="The same as `types`.")
    after_date: Moment | None = Field(None, description="The same as `after`.")
    before_date: Moment | None = Field(None, description="The same as `before`.")
    entity_id: str | None = Field(None, description="About this entity, by its id or name.")
    include_quarantined: bool = Field(False, description="Also quarantined memories.")

    @property
    def about(self) -> str | None:
        return self.entity_id or None

    def filter(self) -> model.Filter:
        given = self.fill(model.Filter)
        return replace(
            given,
            types=(*self.memory_types, *given.types),
            after=self.after_date or given.after,
            before=self.before_date or given.before,
            forgotten=given.forgotten or bool(given.archived),
            quarantined=None if self.include_quarantined else False,
        )


class ListFilters(MemoryFilters, CursorPaging):
    """The same for a list, whose pages have cursors."""


@takes(model.Filter, IN_QUERY)
class Listing(ListFilters):
    order: Order = "recent"


@takes(RecallOptions, IN_QUERY, entity_name="entity")
@takes(model.Filter, IN_QUERY, without="forgotten archived")
class Search(MemoryFilters):
    q: str = Field(min_length=1, description="What to look for, in plain language.")
    hops: int = Field(1, ge=1, le=5, description="In graph mode: how far to go.")
    limit: int | None = Field(  # type: ignore[assignment]
        None, ge=1, le=100, description="How many at most; `SEARCH_DEFAULT_LIMIT` unless given."
    )
    max_tokens: int | None = Field(
        None,
        ge=1,
        description="Token budget: as many results as fit, at least one, with the surroundings of the best.",
    )


@takes(model.Filter, IN_BODY, only="types before below_confidence")
class MemoriesToDelete(Body):
    """Which memories to delete: those that meet every condition given."""

    memory_ids: list[UUID] = Field([], validation_alias="ids")
    dry_run: Flag = False


class Deleted(Done):
    ids: list[ShownId] = Field(description="Deleted memories, or those that would be in a dry run.")
    missing: list[ShownId] = Field(description="Ids that no memory has.")
    kept: list[ShownId] = Field(description="Ids of memories that the other conditions spared.")


class Gone(Done):
    id: ShownId


@router.post(
    "",
    status_code=201,
    responses={
        200: {"model": KeptMemory, "description": "It was there already"},
        **DONE_BEFORE,
        **documented(409),
    },
)
def create_memory(new: MemoryToKeep, once: OnlyOnce) -> KeptMemory:
    """Store a memory. One that says the same as another becomes part of it."""

    def create(engine: Engine) -> Made:
        return _made(engine.memories.remember(new.fill(NewMemory)))

    return once(create, event="memory_", place=PATH + "/{id}")  # type: ignore[return-value]


@router.get("", responses=documented(404))
def list_memories(which: Annotated[Listing, Query()], request: Request, engine: Acting) -> MemoryPage:
    """List memories that pass the filters."""
    found = engine.memories.find(
        which.filter(), about=which.about, order=which.order, limit=which.limit, offset=which.offset,
        cursor=which.cursor, as_of=which.as_of,
    )  # fmt: skip
    items = engine.memories.describe(found.memories, as_of=which.as_of)
    return MemoryPage.of(found, items=items, next=which.page_at(request, found.cursor))


@router.get("/search", responses=documented(404))
def search_memories(search: Annotated[Search, Query()], request: Request, engine: Acting) -> FoundMemories:
    """Find memories by words, by meaning, by both, or along the graph. Best first."""
    wanted = search.values(RecallOptions)
    wanted["entity_name"] = wanted["entity_name"] or search.about
    answer = engine.recall.recall(search.q, filter=search.filter(), max_tokens=search.max_tokens, **wanted)
    return FoundMemories.of(answer, next=search.page_after(request, len(answer.hits), answer.total))


@router.post("/delete")
def delete_memories(doomed: MemoriesToDelete, engine: Acting) -> Deleted:
    """Delete the memories that meet every condition given; at least one must be."""
    wanted = doomed.values() | {"memory_ids": [str(id) for id in doomed.memory_ids]}
    return Deleted.of(engine.memories.delete(**wanted))


@router.get("/{id:uuid}", responses=documented(404))
def get_memory(id: Id, engine: Acting, response: Response, as_of: Annotated[AsOf, Query()] = None) -> Memory:
    """Read one memory, which reinforces it; or as it was at an earlier moment."""
    return shown(engine, engine.memories.get(str(id), as_of=as_of), response, as_of)


@router.put("/{id:uuid}", responses=documented(404, 409, 412))
def update_memory(
    id: Id, changes: MemoryChanges, engine: Acting, response: Response, if_match: IfMatch = None
) -> Memory:
    """Change the given fields. The previous state becomes a version."""
    expected = version_in(if_match)
    return shown(
        engine, engine.memories.update(str(id), changes.given(), expected_version=expected), response
    )


@router.delete("/{id:uuid}", responses=documented(404))
def delete_memory(id: Id, engine: Acting) -> Gone:
    """Delete a memory. It can be restored for some weeks."""
    gone = engine.memories.delete([str(id)])
    if gone.missing:
        raise NotFound(f"no memory has the id {id}")
    return Gone.of(gone, id=str(id))


def shown(engine: Engine, memory: model.Memory, response: Response, as_of: datetime | None = None) -> Memory:
    """The memory's present state, with its version as the ETag."""
    response.headers["ETag"] = _etag(memory)
    [described] = engine.memories.describe([memory], as_of=as_of)
    return Memory.of(described)


def _made(stored: Stored) -> Made:
    new = stored.outcome == "created"
    shape = KeptMemory.of(stored.described, stored)
    return Made(shape, f"{PATH}/{stored.memory.id}", new, _etag(stored.memory))


def _etag(memory: model.Memory) -> str:
    return f'"{memory.version}"'
