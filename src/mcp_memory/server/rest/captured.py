"""Captured memories over HTTP: list, explain, accept, drop; and previews of injection."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from mcp_memory.engine.arrivals import Injection, Place
from mcp_memory.engine.captures import Reason
from mcp_memory.engine.memories import MOST_LISTED
from mcp_memory.fields import Id
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.rest.fields import Body, Flag, Text
from mcp_memory.server.shapes.changes import Done
from mcp_memory.server.shapes.memories import Memory
from mcp_memory.server.shapes.shape import Shape, drawn

router = APIRouter(prefix="/api/captured", tags=["captured"], responses=ANYWHERE)
arrivals_router = APIRouter(prefix="/api/arrivals", tags=["captured"], responses=ANYWHERE)


class CapturedPage(Shape):
    items: list[Memory]
    total: int
    paused: bool = Field(description="While paused, nothing is captured or injected.")


class CapturedListing(Body):
    """Captured memories: by id, all of a session, or every one."""

    ids: list[Id] = Field([], max_length=1000)
    session: str | None = Field(None, description="The client's name of the session, a memory's `channel`.")
    all: Flag = False


class Decided(Done):
    ids: list[Id]


@drawn(Reason, without="memory")
class WhyCaptured(Shape):
    pass


class Paused(Body):
    paused: Flag


class PromptPreview(Body):
    prompt: Text
    project: str = Field("", description="The project to recall for; empty: only what holds everywhere.")
    session: str = Field("", description="A session whose injected memories are left out.")


class JudgedMemory(Shape):
    id: Id
    content: str
    certainty: float
    left_out: str = Field(description="Why it is not injected; empty if it is.")


@drawn(Injection, only="text silence")
class InjectionPreview(Shape):
    chosen: list[JudgedMemory]
    left_out: list[JudgedMemory]


@router.get("")
def list_captured(
    engine: Acting,
    session: Annotated[str | None, Query(description="Only of this session.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> CapturedPage:
    """List captured memories on trial, newest first."""
    found = engine.captures.find(session=session, limit=limit, offset=offset)
    items = [Memory.of(one) for one in engine.memories.describe(found.memories)]
    return CapturedPage(items=items, total=found.total, paused=engine.captures.is_paused())


@router.post("/accept", responses=documented(404))
def accept_captured(which: CapturedListing, engine: Acting) -> Decided:
    """Make captured memories ordinary ones."""
    return Decided.of(engine.captures.accept(which.ids, session=which.session, every=which.all))


@router.post("/drop", responses=documented(404))
def drop_captured(which: CapturedListing, engine: Acting) -> Decided:
    """Forget captured memories. They are not captured again."""
    return Decided.of(engine.captures.drop(which.ids, session=which.session, every=which.all))


@router.put("/paused")
def pause_capture(wanted: Paused, engine: Acting) -> Paused:
    """Pause or resume both capture and injection in the space."""
    engine.captures.set_paused(wanted.paused)
    return wanted


@router.get("/{id}/why", responses=documented(404))
def why_captured(id: str, engine: Acting) -> WhyCaptured:
    """Explain which rule captured a memory, and from where."""
    return WhyCaptured.of(engine.captures.why(id))


@arrivals_router.post("/preview")
def preview_injection(wanted: PromptPreview, engine: Acting) -> InjectionPreview:
    """Preview the injection for a prompt, with what is left out and why. Nothing is recorded."""
    place = Place(session=wanted.session, project=wanted.project)
    return InjectionPreview.of(engine.arrivals.for_prompt(wanted.prompt, place, record=False))


@arrivals_router.get("/start")
def preview_start(
    engine: Acting, project: Annotated[str, Query(description="The project to start in.")] = ""
) -> InjectionPreview:
    """Preview the text injected at the start of a session. Nothing is recorded."""
    return InjectionPreview.of(engine.arrivals.at_start(Place(project=project), record=False))
