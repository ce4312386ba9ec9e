"""What was changed in the space, and how to take it back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from mcp_memory.engine import history
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.rest.shapes import Done, Id, Shape

router = APIRouter(prefix="/api/changes", tags=["changes"], responses=ANYWHERE)

LARGEST = 2**62


class Change(Shape):
    change_id: str
    summary: str
    at: datetime
    client: str
    undoable: bool
    undone: bool

    @classmethod
    def of(cls, change: history.Change) -> Change:
        return cls(
            change_id=change.act,
            summary=change.summary,
            at=change.at,
            client=change.client,
            undoable=change.undoable,
            undone=change.undone,
        )


class Changes(Shape):
    items: list[Change]
    next: str | None


class Undone(Done):
    """Undoing `change_id` is a redo."""

    undone: str
    summary: str
    restored: list[Id]


@router.get("")
def list_changes(
    engine: Acting,
    limit: Annotated[int, Query(ge=1, le=history.MOST_LISTED)] = 20,
    before: Annotated[int | None, Query(ge=0, le=LARGEST, description="From `next`.")] = None,
) -> Changes:
    """List what was changed, the newest first."""
    found = engine.history.recent(limit, before)
    more = f"{router.prefix}?limit={limit}&before={found[-1].cursor}" if len(found) == limit else None
    return Changes(items=[Change.of(change) for change in found], next=more)


@router.post("/undo", responses=documented(404, 409))
def undo_last_change(engine: Acting) -> Undone:
    """Take back the newest change in the space that is not an undo itself."""
    return _undone(engine.history.undo_last())


@router.post("/{change_id:uuid}/undo", responses=documented(404, 409))
def undo_change(change_id: Annotated[UUID, Path()], engine: Acting) -> Undone:
    """Make everything that a change touched what it was before it. All of it, or nothing."""
    return _undone(engine.history.undo(str(change_id)))


def _undone(done: history.Undone) -> Undone:
    return Undone(undone=done.act, summary=done.summary, change_id=done.by_act, restored=list(done.restored))
