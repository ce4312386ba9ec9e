"""Memories over HTTP: kept, found, changed, let go, and brought back."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import Field
from starlette.requests import Request

from mcp_memory import model
from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.memories import Described, Stored
from mcp_memory.errors import NotFound
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import (
    ANYWHERE,
    DONE_BEFORE,
    Acting,
    Id,
    IfMatch,
    Made,
    Names,
    OnlyOnce,
    Paging,
)
from mcp_memory.server.rest.dependencies import expected_version as version_in
from mcp_memory.server.rest.shapes import Done, Flag, Memory, MemoryPage, Moment, Page, Shape, Share, Text
from mcp_memory.server.rest.shapes import Id as ShownId

PATH = "/api/memories"
router = APIRouter(prefix=PATH, tags=["memories"], responses=ANYWHERE)

Consolidation = Literal["oldest", "recent", "importance", "most_accessed", "weakest"]


class MemoryToKeep(Shape):
    """Something to be remembered."""

    content: Text
    memory_type: Text = "observation"
    tags: list[Text] = []
    confidence: Share = 1.0
    importance: Share | None = Field(None, description="What is not given follows from the type.")
    source: str | None = None
    context: str | None = None
    channel: str | None = None
    metadata: dict[str, Any] = {}
    entity_names: list[Text] = Field([], description="What it is about; entities that are new are made.")

    def draft(self) -> NewMemory:
        return NewMemory(
            content=self.content,
            type=self.memory_type,
            tags=tuple(self.tags),
            confidence=self.confidence,
            importance=self.importance,
            source=self.source,
            context=self.context,
            channel=self.channel,
            metadata=self.metadata,
            entity_names=tuple(self.entity_names),
        )


class MemoryChanges(Shape):
    """What a memory is to say instead. What is not given stays as it is."""

    content: Text = ""
    memory_type: Text = ""
    tags: list[Text] = []
    confidence: Share = 1.0
    importance: Share = 0.5
    source: str | None = None
    context: str | None = None
    channel: str | None = None
    metadata: dict[str, Any] = {}

    def given(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in self.model_fields_set}
        if "memory_type" in given:
            given["type"] = given.pop("memory_type")
        if "tags" in given:
            given["tags"] = tuple(given["tags"])
        return given


class Alike(Shape):
    """A memory that is close to a new one without being the same; they have been linked."""

    id: ShownId
    content: str
    similarity: float
    difference: str


class KeptMemory(Memory):
    """The memory as it is kept now."""

    outcome: Literal["created", "equal", "merged"] = Field(
        description="`equal`: there was one with this content; `merged`: one that says the same took it in."
    )
    compared: str = Field(description="How it was compared with the others.")
    similar: list[Alike]


class FoundMemory(Memory):
    score: Share
    explanation: dict[str, Any] | None = Field(description="Where it came from, when asked for.")


class FoundMemories(Page):
    mode: str = Field(description="How it was searched; says so when meaning could not be used.")
    items: list[FoundMemory]


class Which(Paging):
    """Filters over memories. What is not given does not restrict."""

    types: Names = Field([], description="Any of these types.")
    tags: Names = Field([], description="All of these tags.")
    min_confidence: Share | None = Field(None, description="Of the effective confidence.")
    below_confidence: Share | None = None
    after: Moment | None = Field(None, description="Created after this.")
    before: Moment | None = Field(None, description="Created before this.")
    entity_id: UUID | None = Field(None, description="About this entity.")
    source: str | None = None
    channel: str | None = None
    pinned: bool | None = None
    superseded: bool | None = None

    @property
    def about(self) -> str | None:
        return str(self.entity_id) if self.entity_id else None

    def filter(self, **more: Any) -> model.Filter:
        return model.Filter(
            types=tuple(self.types),
            tags=tuple(self.tags),
            min_confidence=self.min_confidence,
            below_confidence=self.below_confidence,
            after=self.after,
            before=self.before,
            source=self.source,
            channel=self.channel,
            pinned=self.pinned,
            superseded=self.superseded,
            **more,
        )


class Listing(Which):
    order: Consolidation = "recent"
    forgotten: bool = Field(False, description="Only forgotten memories instead of only living ones.")


class Search(Which):
    q: str = Field(min_length=1, description="What to look for, in plain language.")
    mode: Literal["keyword", "semantic", "hybrid", "graph"] = "hybrid"
    entity: str | None = Field(None, description="The name of an entity; in graph mode, where to start.")
    hops: int = Field(1, ge=1, le=5, description="In graph mode: how far to go.")
    limit: int = Field(20, ge=1, le=100)
    explain: bool = False


class Doomed(Shape):
    """Which memories to delete: those that meet every condition given."""

    ids: list[UUID] = []
    types: list[str] = []
    before: Moment | None = None
    below_confidence: Share | None = None
    dry_run: Flag = False


class Deleted(Done):
    ids: list[ShownId] = Field(description="What is gone, or would be in a dry run.")
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
    """Keep a memory. One that says the same as another becomes part of it."""

    def create(engine: Engine) -> Made:
        return _made(engine, engine.memories.remember(new.draft()))

    return once(create, event="memory_", place=PATH + "/{id}")  # type: ignore[return-value]


@router.get("", responses=documented(404))
def list_memories(which: Annotated[Listing, Query()], request: Request, engine: Acting) -> MemoryPage:
    """List memories that filters let through."""
    found = engine.memories.find(
        which.filter(forgotten=which.forgotten),
        about=which.about,
        order=which.order,
        limit=which.limit,
        offset=which.offset,
    )
    items = [Memory.of(one) for one in engine.memories.describe(found.memories)]
    return MemoryPage(items=items, total=found.total, next=which.next(request, found.total))


@router.get("/search", responses=documented(404))
def search_memories(search: Annotated[Search, Query()], request: Request, engine: Acting) -> FoundMemories:
    """Find memories by words, by meaning, by both, or along the graph. Best first."""
    answer = engine.recall.recall(
        search.q,
        mode=search.mode,
        filter=search.filter(),
        entity_name=search.entity or search.about,
        hops=search.hops,
        limit=search.limit,
        offset=search.offset,
        explain=search.explain,
    )
    items = [
        FoundMemory.of(
            Described(hit.memory, hit.effective_confidence, hit.entities),
            score=hit.score,
            explanation=dict(hit.explanation) if hit.explanation is not None else None,
        )
        for hit in answer.hits
    ]
    next_part = search.next(request, answer.total)
    return FoundMemories(items=items, total=answer.total, next=next_part, mode=answer.mode)


@router.post("/delete")
def delete_memories(doomed: Doomed, engine: Acting) -> Deleted:
    """Delete the memories that meet every condition given; at least one must be."""
    gone = engine.history.delete(
        [str(id) for id in doomed.ids],
        before=doomed.before,
        below_confidence=doomed.below_confidence,
        types=doomed.types,
        dry_run=doomed.dry_run,
    )
    ids = [memory.id for memory in gone.memories]
    return Deleted(ids=ids, missing=list(gone.missing), kept=list(gone.kept), change_id=gone.act)


@router.get("/{id:uuid}", responses=documented(404))
def get_memory(id: Id, engine: Acting, response: Response) -> Memory:
    """Read one memory, which makes it stronger."""
    return shown(engine, engine.memories.get(str(id)), response)


@router.put("/{id:uuid}", responses=documented(404, 409, 412))
def update_memory(
    id: Id, changes: MemoryChanges, engine: Acting, response: Response, if_match: IfMatch = None
) -> Memory:
    """Change what is given, leave the rest, keep what was as a version."""
    expected = version_in(if_match)
    return shown(
        engine, engine.memories.update(str(id), changes.given(), expected_version=expected), response
    )


@router.delete("/{id:uuid}", responses=documented(404))
def delete_memory(id: Id, engine: Acting) -> Gone:
    """Delete a memory. It can be restored for some weeks."""
    gone = engine.history.delete([str(id)])
    if gone.missing:
        raise NotFound(f"no memory has the id {id}")
    return Gone(id=str(id), change_id=gone.act)


def shown(engine: Engine, memory: model.Memory, response: Response) -> Memory:
    """The memory as it stands, with its version for a later If-Match."""
    response.headers["ETag"] = _etag(memory)
    [described] = engine.memories.describe([memory])
    return Memory.of(described)


def _made(engine: Engine, stored: Stored) -> Made:
    [described] = engine.memories.describe([stored.memory])
    similar = [
        Alike(id=one.memory.id, content=one.memory.content, similarity=one.cosine, difference=one.reason)
        for one in stored.similar
    ]
    shape = KeptMemory.of(described, outcome=stored.outcome, compared=stored.compared, similar=similar)
    new = stored.outcome == "created"
    return Made(shape, f"{PATH}/{stored.memory.id}", new, _etag(stored.memory))


def _etag(memory: model.Memory) -> str:
    return f'"{memory.version}"'
