"""Keeping memories in order over HTTP: merging what says the same, removing what has faded."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from mcp_memory.engine.consolidation import Cluster, KeptApart
from mcp_memory.server.problems import documented
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.rest.memories import PATH
from mcp_memory.server.rest.shapes import Done, Flag, Id, Shape, Share

router = APIRouter(prefix=PATH, tags=["maintenance"], responses=ANYWHERE)


class Consolidation(Shape):
    similarity_threshold: Share | None = Field(
        None, description="How close memories must be to be compared; 0.85 unless set otherwise."
    )
    dry_run: Flag = Field(False, description="Only say what would be merged.")
    full: Flag = Field(False, description="Look at every memory again, not only at those new since then.")


class Absorbed(Shape):
    id: Id
    content: str
    similarity: float


class MergedMemories(Shape):
    """Memories that say the same: the one that stays, and those that it absorbs."""

    primary_id: Id
    primary_content: str
    absorbed: list[Absorbed]

    @classmethod
    def of(cls, cluster: Cluster) -> MergedMemories:
        return cls(
            primary_id=cluster.primary.id,
            primary_content=cluster.primary.content,
            absorbed=[
                Absorbed(id=one.memory.id, content=one.memory.content, similarity=one.cosine)
                for one in cluster.absorbed
            ],
        )


class CloseMemories(Shape):
    """Two memories that are close, and why they are not merged all the same."""

    a_id: Id
    a_content: str
    b_id: Id
    b_content: str
    similarity: float
    reason: str

    @classmethod
    def of(cls, pair: KeptApart) -> CloseMemories:
        return cls(
            a_id=pair.a.id,
            a_content=pair.a.content,
            b_id=pair.b.id,
            b_content=pair.b.content,
            similarity=pair.cosine,
            reason=pair.reason,
        )


class Consolidated(Done):
    clusters_found: int
    memories_merged: int = Field(description="How many took part in a merge.")
    memories_deleted: int = Field(description="How many became part of another one.")
    memories_compared: int
    similarity_threshold: float
    dry_run: bool
    clusters: list[MergedMemories]
    kept_apart: list[CloseMemories]


class Pruning(Shape):
    dry_run: Flag = Field(False, description="Only say what would go.")


class FadedMemory(Shape):
    id: Id
    content: str
    effective_confidence: float


class Pruned(Done):
    items: list[FadedMemory] = Field(description="What is gone, or would be in a dry run.")
    left: int = Field(description="How many more wait for the next run.")
    dry_run: bool


@router.post("/consolidate", responses=documented(409))
def consolidate_memories(wanted: Consolidation, engine: Acting) -> Consolidated:
    """Merge memories that say the same. The whole run can be undone.

    It needs a model: without one, the answer is 409 with the code `unequipped`, and says what to set.
    """
    done = engine.maintenance.consolidate(
        wanted.similarity_threshold, dry_run=wanted.dry_run, full=wanted.full
    )
    return Consolidated(
        clusters_found=len(done.clusters),
        memories_merged=done.merged,
        memories_deleted=done.deleted,
        memories_compared=done.compared,
        similarity_threshold=done.threshold,
        dry_run=done.dry_run,
        clusters=[MergedMemories.of(cluster) for cluster in done.clusters],
        kept_apart=[CloseMemories.of(pair) for pair in done.apart],
        change_id=done.act,
    )


@router.post("/prune")
def prune_memories(wanted: Pruning, engine: Acting) -> Pruned:
    """Remove the memories that have faded, the weakest first. The run can be undone."""
    done = engine.maintenance.prune(dry_run=wanted.dry_run)
    items = [
        FadedMemory(id=memory.id, content=memory.content, effective_confidence=confidence)
        for memory, confidence in zip(done.memories, done.confidences, strict=True)
    ]
    return Pruned(items=items, left=done.left, dry_run=done.dry_run, change_id=done.act)
