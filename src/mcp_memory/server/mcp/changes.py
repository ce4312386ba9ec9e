"""Memory tools for changes: undo, the list of changes, restoring, and a memory's history."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field

from mcp_memory.server.mcp.memory_maintenance import MemoryId, RestoredShown
from mcp_memory.server.mcp.tools import (
    CHANGES,
    READS,
    TAKES_BACK,
    Arguments,
    Sized,
    tool,
)
from mcp_memory.server.shapes.changes import Change, Undone
from mcp_memory.server.shapes.shape import Record, Shape, drawn, omitted

if TYPE_CHECKING:
    from mcp_memory.engine import Engine


class UndoChange(Arguments):
    change_id: str | None = Field(
        None, description="Your own latest change unless given. list_changes shows all."
    )


class ListChanges(Arguments):
    limit: int = Field(20, description="1 to 100.")
    cursor: int | None = Field(None, description="next_cursor of the page before.")


class RestoreMemory(Arguments):
    memory_id: MemoryId
    version: int | None = Field(None, description="Restore this earlier version, from memory_history.")


class MemoryHistory(Sized):
    memory_id: MemoryId


@drawn(Undone, summary="undone", act="change_id", by_act="redo_id", restored="restored_ids")
class UndoneShown(Shape):
    pass


class ChangesShown(Shape):
    changes: list[Change]
    next_cursor: int | None = omitted()


def _from_state(name: str, otherwise: object = None) -> BeforeValidator:
    return BeforeValidator(lambda state: state.get(name, otherwise))


class VersionShown(Shape):
    number: int = Field(serialization_alias="version")
    content: str
    type: Annotated[str | None, _from_state("type")] = Field(
        validation_alias="state", serialization_alias="memory_type"
    )
    tags: Annotated[list[str], _from_state("tags", ())] = Field(validation_alias="state")
    confidence: Annotated[float | None, _from_state("confidence")] = Field(validation_alias="state")
    metadata: Annotated[Record, _from_state("metadata", {})] = Field(validation_alias="state")
    reason: str
    at: datetime = Field(serialization_alias="until")


class HistoryShown(Shape):
    memory_id: str
    versions: list[VersionShown]


@tool(title="Undo a Change", annotations=TAKES_BACK)
def undo_change(engine: Engine, arguments: UndoChange) -> UndoneShown:
    """Undo your own latest change, whatever it was: a deletion, an edit, a merge.

    Nothing is undone if something it touched has changed since. Undoing the returned redo_id does the change
    again. list_changes shows the change_id of earlier changes.
    """
    history = engine.history
    if arguments.change_id is None:
        undone = history.undo_last(by=engine.caller.client)
    else:
        undone = history.undo(arguments.change_id)
    return UndoneShown.of(undone)


@tool(title="List Changes", annotations=READS)
def list_changes(engine: Engine, arguments: ListChanges) -> ChangesShown:
    """List what was changed lately, by whom, and whether it can be undone; the newest first.

    Use it to find the change_id for undo_change, or to tell the user what has happened.
    """
    found = engine.history.recent(arguments.limit, arguments.cursor)
    more = found[-1].cursor if len(found) == arguments.limit else None
    return ChangesShown.of(changes=found, next_cursor=more)


@tool(title="Restore a Memory", annotations=CHANGES)
def restore_memory(engine: Engine, arguments: RestoreMemory) -> RestoredShown:
    """Bring back a memory that was forgotten, deleted, pruned or merged away; or an earlier version of one.

    A memory that was merged away takes its merge back with it. Versions are listed by memory_history.
    """
    if arguments.version is None:
        memory = engine.history.restore(arguments.memory_id)
    else:
        memory = engine.history.restore_version(arguments.memory_id, arguments.version)
    return RestoredShown.of(memory=memory)


@tool(title="Read a Memory's History", annotations=READS)
def memory_history(engine: Engine, arguments: MemoryHistory) -> HistoryShown:
    """List what a memory said before, and the memories it absorbed; the oldest first.

    Use it when something remembered looks wrong or was different before.
    """
    versions = engine.history.versions(arguments.memory_id)
    return HistoryShown.of(memory_id=arguments.memory_id, versions=versions)


TOOLS = (undo_change, list_changes, restore_memory, memory_history)
