"""The journal: events, changes, undo."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from mcp_memory import model
from mcp_memory.fields import Id
from mcp_memory.server.shapes.shape import Shape, drawn


@drawn(model.Event, without="seq subject", act="change_id")
class Event(Shape):
    """One entry of the journal."""


class Change(Shape):
    act: str = Field(serialization_alias="change_id")
    summary: str
    at: datetime
    client: str
    undoable: bool
    undone: bool


class Done(Shape):
    """The id of a change, with which it can be undone."""

    act: Id | None = Field(
        serialization_alias="change_id",
        description="`POST /api/changes/{change_id}/undo` takes it back; null when nothing changed.",
    )


class Undone(Shape):
    """Undoing `change_id` is a redo."""

    by_act: Id = Field(
        serialization_alias="change_id", description="`POST /api/changes/{change_id}/undo` takes it back."
    )
    act: str = Field(serialization_alias="undone")
    summary: str
    restored: list[Id]
