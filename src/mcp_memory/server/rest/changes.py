"""Changes in the space, and undo."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import Field

from mcp_memory.engine import history
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.shapes.changes import Change, Event, Undone
from mcp_memory.server.shapes.shape import Shape, drawn

router = APIRouter(prefix="/api/changes", tags=["changes"], responses=ANYWHERE)

LARGEST = 2**62


class Changes(Shape):
    items: list[Change]
    next: str | None


@drawn(history.RowBefore)
class RowBefore(Shape):
    pass


class DetailedEvent(Shape):
    event: Event
    before: list[RowBefore] = Field(description="Empty once the change can no longer be undone.")


class ChangeDetails(Shape):
    items: list[DetailedEvent]


@router.get("")
def list_changes(
    engine: Acting,
    limit: Annotated[int, Query(ge=1, le=history.MOST_LISTED)] = 20,
    before: Annotated[int | None, Query(ge=0, le=LARGEST, description="From `next`.")] = None,
) -> Changes:
    """List changes, newest first."""
    found = engine.history.recent(limit, before)
    more = f"{router.prefix}?limit={limit}&before={found[-1].cursor}" if len(found) == limit else None
    return Changes.of(items=found, next=more)


@router.get("/{change_id:uuid}", responses=documented(404))
def read_change(change_id: Annotated[UUID, Path()], engine: Acting) -> ChangeDetails:
    """Read the events of a change, with the rows as they were before."""
    return ChangeDetails.of(items=engine.history.details(str(change_id)))


@router.post("/undo", responses=documented(404, 409))
def undo_last_change(engine: Acting) -> Undone:
    """Undo the newest change in the space that is not an undo itself."""
    return Undone.of(engine.history.undo_last())


@router.post("/{change_id:uuid}/undo", responses=documented(404, 409))
def undo_change(change_id: Annotated[UUID, Path()], engine: Acting) -> Undone:
    """Undo a change: all of it, or nothing."""
    return Undone.of(engine.history.undo(str(change_id)))
