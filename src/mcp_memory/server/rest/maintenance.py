"""Maintenance over HTTP: consolidation and pruning."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import AliasPath, Field

from mcp_memory.fields import Id
from mcp_memory.inputs import ConsolidationOptions
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.rest.fields import IN_BODY, Body, Flag
from mcp_memory.server.rest.memories import PATH
from mcp_memory.server.shapes.changes import Done
from mcp_memory.server.shapes.curation import Absorbed, FadedMemory, MergeCounts
from mcp_memory.server.shapes.inputs import takes
from mcp_memory.server.shapes.shape import Shape

router = APIRouter(prefix=PATH, tags=["maintenance"], responses=ANYWHERE)


@takes(ConsolidationOptions, IN_BODY, threshold="similarity_threshold")
class ConsolidationRequest(Body):
    pass


_AS_USUAL = ConsolidationRequest.model_validate({})
"""Default of a request without a body."""


class MergedMemories(Shape):
    """Memories that say the same: the one that stays, and those that it absorbs."""

    primary_id: Id = Field(validation_alias=AliasPath("primary", "id"))
    primary_content: str = Field(validation_alias=AliasPath("primary", "content"))
    absorbed: list[Absorbed]


class CloseMemories(Shape):
    """Two close memories, and why they are not merged."""

    a_id: Id = Field(validation_alias=AliasPath("a", "id"))
    a_content: str = Field(validation_alias=AliasPath("a", "content"))
    b_id: Id = Field(validation_alias=AliasPath("b", "id"))
    b_content: str = Field(validation_alias=AliasPath("b", "content"))
    cosine: float = Field(serialization_alias="similarity")
    reason: str


class Consolidated(MergeCounts):
    clusters: list[MergedMemories]
    apart: list[CloseMemories] = Field(serialization_alias="kept_apart")


class Pruning(Body):
    dry_run: Flag = Field(False, description="Only show what would be archived.")


_PRUNE_NOW = Pruning.model_validate({})


class Pruned(Done):
    faded: list[FadedMemory] = Field(
        serialization_alias="items",
        description="Archived or deleted memories, or those that would be in a dry run.",
    )
    left: int = Field(description="How many more wait for the next run.")
    dry_run: bool


@router.post("/consolidate", responses=documented(409))
def consolidate_memories(engine: Acting, wanted: ConsolidationRequest = _AS_USUAL) -> Consolidated:
    """Merge memories that say the same. The whole run can be undone.

    It needs a model: without one, the answer is 409 with the code `unequipped`, and says what to set.
    """
    return Consolidated.of(engine.maintenance.consolidate(**wanted.values()))


@router.post("/prune")
def prune_memories(engine: Acting, wanted: Pruning = _PRUNE_NOW) -> Pruned:
    """Archive faded memories, weakest first. The run can be undone."""
    return Pruned.of(engine.maintenance.prune(dry_run=wanted.dry_run))
