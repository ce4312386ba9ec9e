"""A memory's life over HTTP: pin, forget, restore, associate, versions, purge."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Response
from pydantic import Field

from mcp_memory.engine import Engine, history
from mcp_memory.errors import NotFound
from mcp_memory.fields import Id as ShownId
from mcp_memory.fields import Share
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import ANYWHERE, DONE_BEFORE, Acting, Id, Made, OnlyOnce
from mcp_memory.server.rest.fields import Body
from mcp_memory.server.rest.memories import PATH, shown
from mcp_memory.server.shapes.changes import Done, Event
from mcp_memory.server.shapes.memories import Association, Memory, Version
from mcp_memory.server.shapes.shape import Shape, drawn

router = APIRouter(prefix=PATH, tags=["memories"], responses={**ANYWHERE, **documented(404)})

AssociationType = Literal["related_to", "updates", "contradicts", "caused_by", "result_of", "part_of"]


class ForgetReason(Body):
    reason: str | None = None


class Forgotten(Shape):
    id: ShownId
    message: str


@drawn(history.Purged, only="memory_ids event_count")
class Purged(Shape):
    """Memories that were purged."""


class Versions(Shape):
    items: list[Version]


class Events(Shape):
    items: list[Event]


class NewAssociation(Body):
    target_id: UUID
    type: AssociationType = Field("related_to", validation_alias="association_type")
    weight: Share = 0.5


class Merging(Body):
    absorbed_id: UUID = Field(description="The memory that becomes a part of this one.")


class AssociationList(Shape):
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


@router.put("/{id:uuid}/confirmation")
def confirm_memory(id: Id, engine: Acting, response: Response) -> Memory:
    """Confirm a memory: it leaves trial and quarantine, and is never archived for its age."""
    return shown(engine, engine.memories.confirm(str(id)), response)


@router.post("/{id:uuid}/forget")
def forget_memory(id: Id, reason: ForgetReason, engine: Acting) -> Forgotten:
    """Forget a memory: it is hidden everywhere, but stays stored and can be restored."""
    done = engine.memories.forget(str(id), reason.reason)
    if not done.forgotten:
        raise NotFound(done.message)
    return Forgotten.of(done, id=str(id))


@router.post("/{id:uuid}/restore", responses=documented(409))
def restore_memory(id: Id, engine: Acting, response: Response) -> Memory:
    """Restore a memory that was forgotten, deleted, pruned or merged."""
    return shown(engine, engine.history.restore(str(id)), response)


@router.delete("/{id:uuid}/for-good")
def purge_memory(id: Id, engine: Acting) -> Purged:
    """Purge a memory: removed permanently, from versions and the journal too."""
    return Purged.of(engine.history.purge(str(id)))


@router.get("/{id:uuid}/versions")
def list_versions(id: Id, engine: Acting) -> Versions:
    """Read earlier states of a memory, and memories it absorbed. The oldest first."""
    return Versions.of(items=engine.history.versions(str(id)))


@router.post("/{id:uuid}/versions/{number}/restore", responses=documented(409))
def restore_version(id: Id, number: int, engine: Acting, response: Response) -> Memory:
    """Restore an earlier version of a memory."""
    return shown(engine, engine.history.restore_version(str(id), number), response)


@router.get("/{id:uuid}/history")
def read_history(id: Id, engine: Acting) -> Events:
    """Read the history of a memory, even of a deleted one. Oldest first."""
    return Events.of(items=engine.history.of(str(id)).events)


@router.post("/{id:uuid}/merge", responses=documented(404))
def merge_memory(id: Id, wanted: Merging, engine: Acting, response: Response) -> Memory:
    """Merge another memory into this one. Every wording is kept; the change can be undone."""
    return shown(engine, engine.maintenance.merge(str(id), str(wanted.absorbed_id)).memory, response)


@router.get("/{id:uuid}/associations")
def list_associations(id: Id, engine: Acting) -> AssociationList:
    """List the associations of a memory, in both directions."""
    return AssociationList.of(items=engine.memories.associations_of(str(id)))


@router.post("/{id:uuid}/associations", status_code=201, responses=DONE_BEFORE)
def associate_memory(id: Id, new: NewAssociation, once: OnlyOnce) -> Association:
    """Associate two memories; an existing association takes the new weight."""

    def create(engine: Engine) -> Made:
        made = engine.memories.associate(str(id), str(new.target_id), new.type, new.weight)
        return Made(Association.of(made), f"{PATH}/{id}/associations")

    return once(create, event="memory_associated", place=PATH + "/{id}/associations")  # type: ignore[return-value]


@router.delete("/{id:uuid}/associations/{association_id:uuid}")
def delete_association(id: Id, association_id: Annotated[UUID, Path()], engine: Acting) -> GoneAssociations:
    """Remove an association of a memory. A memory that it had superseded is current again."""
    gone = engine.memories.dissociate(str(id), str(association_id))
    return GoneAssociations.of(gone, ids=[one.id for one in gone.associations])
