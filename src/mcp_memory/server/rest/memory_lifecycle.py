"""What becomes of a memory over HTTP: pinned, forgotten, brought back, connected, remembered as it was."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Response
from pydantic import Field

from mcp_memory import model
from mcp_memory.engine import Engine
from mcp_memory.errors import NotFound
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import ANYWHERE, DONE_BEFORE, Acting, Id, Made, OnlyOnce
from mcp_memory.server.rest.memories import PATH, shown
from mcp_memory.server.rest.shapes import Done, Event, Memory, Shape, Share
from mcp_memory.server.rest.shapes import Id as ShownId

router = APIRouter(prefix=PATH, tags=["memories"], responses={**ANYWHERE, **documented(404)})

AssociationType = Literal["related_to", "updates", "contradicts", "caused_by", "result_of", "part_of"]


class Reason(Shape):
    reason: str | None = None


class Forgotten(Shape):
    id: ShownId
    message: str


class Purged(Shape):
    """What is gone for good."""

    memory_ids: list[ShownId]
    event_count: int = Field(description="How many entries of the journal had told of it.")


class Version(Shape):
    """An earlier state of a memory, or a memory that it absorbed."""

    number: int
    content: str
    reason: str = Field(description="Why there is a later one.")
    at: datetime
    state: dict[str, Any]

    @classmethod
    def of(cls, version: model.MemoryVersion) -> Version:
        state = {name: value for name, value in version.state.items() if name != "seq"}
        return cls(
            number=version.number, content=version.content, reason=version.reason, at=version.at, state=state
        )


class Versions(Shape):
    items: list[Version]


class Events(Shape):
    items: list[Event]


class NewAssociation(Shape):
    target_id: UUID
    association_type: AssociationType = "related_to"
    weight: Share = 0.5


class Association(Shape):
    """A directed connection between two memories."""

    id: ShownId
    source_id: ShownId
    target_id: ShownId
    association_type: str
    weight: Share
    created_at: datetime

    @classmethod
    def of(cls, association: model.Association) -> Association:
        return cls(
            id=association.id,
            source_id=association.source_id,
            target_id=association.target_id,
            association_type=association.type,
            weight=association.weight,
            created_at=association.created_at,
        )


class Associations(Shape):
    items: list[Association]


class GoneAssociations(Done):
    ids: list[ShownId]


@router.put("/{id:uuid}/pin")
def pin_memory(id: Id, engine: Acting, response: Response) -> Memory:
    """Keep a memory from fading."""
    return shown(engine, engine.memories.pin(str(id)), response)


@router.delete("/{id:uuid}/pin")
def unpin_memory(id: Id, engine: Acting, response: Response) -> Memory:
    """Let a memory fade again when it is not used."""
    return shown(engine, engine.memories.unpin(str(id)), response)


@router.post("/{id:uuid}/forget")
def forget_memory(id: Id, reason: Reason, engine: Acting) -> Forgotten:
    """Keep a memory out of everything from now on; it stays stored, and can be restored."""
    done = engine.history.forget(str(id), reason.reason)
    if not done.forgotten:
        raise NotFound(done.message)
    return Forgotten(id=str(id), message=done.message)


@router.post("/{id:uuid}/restore", responses=documented(409))
def restore_memory(id: Id, engine: Acting, response: Response) -> Memory:
    """Bring back a memory that was forgotten, deleted, pruned or merged away."""
    return shown(engine, engine.history.restore(str(id)), response)


@router.delete("/{id:uuid}/for-good")
def purge_memory(id: Id, engine: Acting) -> Purged:
    """Remove a memory at once and for good: from versions and the journal too. Nothing brings it back."""
    purged = engine.history.purge(str(id))
    return Purged(memory_ids=list(purged.memory_ids), event_count=purged.event_count)


@router.get("/{id:uuid}/versions")
def list_versions(id: Id, engine: Acting) -> Versions:
    """Read earlier states of a memory, and memories it absorbed. The oldest first."""
    return Versions(items=[Version.of(one) for one in engine.history.versions(str(id))])


@router.post("/{id:uuid}/versions/{number}/restore", responses=documented(409))
def restore_version(id: Id, number: int, engine: Acting, response: Response) -> Memory:
    """Let a memory say again what it said in an earlier version."""
    return shown(engine, engine.history.restore_version(str(id), number), response)


@router.get("/{id:uuid}/history")
def read_history(id: Id, engine: Acting) -> Events:
    """Read what happened to a memory, also when it is gone. The oldest first."""
    return Events(items=[Event.of(event) for event in engine.history.of(str(id)).events])


@router.get("/{id:uuid}/associations")
def list_associations(id: Id, engine: Acting) -> Associations:
    """List the connections of a memory with others, in both directions."""
    return Associations(items=[Association.of(one) for one in engine.memories.associations_of(str(id))])


@router.post("/{id:uuid}/associations", status_code=201, responses=DONE_BEFORE)
def associate_memory(id: Id, new: NewAssociation, once: OnlyOnce) -> Association:
    """Connect a memory with another; a connection that is there takes the new weight."""

    def create(engine: Engine) -> Made:
        made = engine.memories.associate(str(id), str(new.target_id), new.association_type, new.weight)
        return Made(Association.of(made), f"{PATH}/{id}/associations")

    return once(create, event="memory_associated", place=PATH + "/{id}/associations")  # type: ignore[return-value]


@router.delete("/{id:uuid}/associations/{association_id:uuid}")
def delete_association(id: Id, association_id: Annotated[UUID, Path()], engine: Acting) -> GoneAssociations:
    """Take away one connection of a memory. What it had superseded is current again."""
    gone = engine.memories.dissociate(str(id), str(association_id))
    return GoneAssociations(ids=[one.id for one in gone.associations], change_id=gone.act)
