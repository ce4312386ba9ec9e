"""Memory tools for deletion, correction, consolidation, statistics, and the graph around an entity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field

from mcp_memory.inputs import NOTES, ConsolidationOptions, NewMemory
from mcp_memory.model import Filter
from mcp_memory.server.mcp.graph_outputs import FullRelation
from mcp_memory.server.mcp.tools import (
    CHANGES,
    DELETES,
    KINDS,
    READS,
    Arguments,
    Moment,
    Sized,
    Tell,
    tool,
)
from mcp_memory.server.shapes.analytics import Overview
from mcp_memory.server.shapes.curation import MergeCounts
from mcp_memory.server.shapes.entities import Entity
from mcp_memory.server.shapes.inputs import takes
from mcp_memory.server.shapes.memories import Memory
from mcp_memory.server.shapes.shape import Rounded, Shape, drawn, omitted
from mcp_memory.text.preview import shortened

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

SHOWN = 20
"""Most clusters and pairs that a report shows; it counts them all."""

MOST_IDS = 1000

MemoryId = Annotated[str, Field(description="The memory's id.")]


@takes(Filter, KINDS, only="before below_confidence types", before="before_date",
       below_confidence="min_confidence_below", types="memory_types")  # fmt: skip
class DeleteMemories(Arguments):
    memory_ids: list[str] = Field([], description="Only these memories.")
    dry_run: bool = Field(False, description="Only say what would be deleted.")


_NOT_HERE = "channel"
_EMPTY: Mapping[str, Any] = {
    "tags": (),
    "metadata": {},
    **{name: None for name in NOTES if name not in _NOT_HERE.split()},
}
"""Fields that can be cleared, with their empty values."""

if TYPE_CHECKING:
    Emptied = str
else:
    Emptied = Literal[tuple(_EMPTY)]


@takes(NewMemory, KINDS, optional=True, without=f"entity_names relevance {_NOT_HERE}", type="memory_type")
class UpdateMemory(Arguments):
    memory_id: MemoryId
    content: str | None = Field(None, description="The new content.")
    type: str | None = Field(None, validation_alias="memory_type", description="What kind of memory it is.")
    importance: float | None = Field(None, description="How much it matters, 0 to 1.")
    tags: list[str] | None = Field(None, description="All of its tags.")
    metadata: dict[str, Any] | None = Field(None, description="All of its metadata.")
    pinned: bool | None = Field(None, description="True keeps it from fading, false lets it fade.")
    clear: list[Emptied] = Field([], description="Fields to empty.")
    expected_version: int | None = Field(None, description="Change it only if it is still at this version.")


def _changes(arguments: UpdateMemory) -> dict[str, Any]:
    """The given changes, by field of a memory."""
    given = arguments.model_dump(exclude={"memory_id", "expected_version", "clear"}, exclude_none=True)
    return given | {name: _EMPTY[name] for name in arguments.clear}


class GetEntityGraph(Sized):
    name: str = Field(
        validation_alias="entity_name", description="The entity in the middle, by its exact name."
    )
    depth: int = Field(1, description="How many relations away to look, 0 to 5.")
    min_strength: float = Field(0.0, description="Follow only relations at least this strong.")
    include_memories: bool = Field(True, description="With the newest memories about each entity.")
    as_of: Moment | None = Field(None, description="Read what was known at this earlier time instead of now.")


@takes(ConsolidationOptions, KINDS, threshold="similarity_threshold")
class ConsolidateMemories(Arguments):
    pass


class MergeMemories(Arguments):
    memory_id: str = Field(description="The memory that stays.")
    absorbed_id: str = Field(description="The memory that becomes a part of it.")


class DeletedShown(Shape):
    deleted_count: int
    deleted_ids: list[str]
    missing: list[str] = Field(serialization_alias="not_found")
    kept: list[str]
    dry_run: bool
    act: str | None = omitted("change_id")


@drawn(Memory, only="id content type tags confidence importance created_at")
class MemoryShown(Shape):
    pass


@drawn(Entity, only="id name type description")
class NodeShown(Shape):
    depth: int
    memory_count: int
    memories: list[MemoryShown] | None = Field(None, exclude_if=lambda shown: shown is None)


class EntityGraphShown(Shape):
    center: str
    nodes: list[NodeShown]
    edges: list[FullRelation]
    truncated: bool


class Part(Shape):
    id: str
    content: Annotated[str, AfterValidator(lambda text: shortened(text, 200))]
    cosine: Rounded | None = omitted("similarity")


class ClusterShown(Shape):
    primary: Part
    absorbed: list[Part]


class PairShown(Shape):
    memories: list[Part]
    cosine: Rounded = Field(serialization_alias="similarity")
    reason: str


@drawn(MergeCounts, without="act threshold")
class MergesShown(Shape):
    clusters: list[ClusterShown]
    kept_apart_count: int
    kept_apart: list[PairShown]
    act: str | None = omitted("change_id")


@drawn(Overview, only="total_memories total_entities total_relations memories_by_type average_confidence "
       "oldest_memory newest_memory low_confidence_count")  # fmt: skip
class StatsShown(Shape):
    pass


class RestoredShown(Shape):
    memory: MemoryShown


class MergedShown(RestoredShown):
    absorbed_id: str
    act: str = Field(serialization_alias="change_id")


class UpdatedShown(RestoredShown):
    version: int


@tool(title="Delete Memories", annotations=DELETES)
def delete_memories(engine: Engine, arguments: DeleteMemories) -> DeletedShown:
    """Delete memories by their ids or by conditions; at least one must be given.

    With several conditions, only memories that meet all of them are deleted. Try conditions with dry_run
    first. For one memory that is wrong or outdated, memory_delete forgets it with a reason. Their entities
    stay. Can be undone for 30 days with undo_change.
    """
    gone = engine.memories.delete(**arguments.values())
    return DeletedShown.of(gone, deleted_count=len(gone.ids), deleted_ids=gone.ids[:MOST_IDS])


@tool(title="Update a Memory", annotations=CHANGES)
def update_memory(engine: Engine, arguments: UpdateMemory) -> UpdatedShown:
    """Correct or complete a memory; what is not given stays as it is.

    Use it when a memory is nearly right. When the facts themselves have changed, store the new fact: then
    both remain known. What the memory said before stays readable in memory_history.
    """
    changed = engine.memories.update(
        arguments.memory_id, _changes(arguments), expected_version=arguments.expected_version
    )
    return UpdatedShown.of(memory=changed, version=changed.version)


@tool(title="Get Entity Graph", annotations=READS)
def get_entity_graph(engine: Engine, arguments: GetEntityGraph) -> EntityGraphShown:
    """Show what is connected to an entity: entities around it, how they relate, and memories about each.

    Use it to see how things are connected around a known name. To find an entity or a memory by what it is
    about, use search_semantic or recall_memories. `truncated` says that more is within reach than is shown.
    """
    graph = engine.walk.entity_graph(**arguments.values())
    hidden = {} if arguments.include_memories else {"memories": None}
    return EntityGraphShown.of(
        graph, center=graph.center.name, nodes=[NodeShown.of(node, **hidden) for node in graph.nodes]
    )


@tool(title="Consolidate Memories", annotations=CHANGES)
def consolidate_memories(engine: Engine, arguments: ConsolidateMemories, tell: Tell) -> MergesShown:
    """Merge memories that say the same in other words, and report what was merged and what was not.

    Runs by itself now and then; call it after storing much at once, or with dry_run to see duplicates.
    Memories that differ in a number, a date, a name or a negation are merged only with force: they are
    reported in kept_apart. Every wording stays a line of its memory, and the run can be undone.
    """
    done = engine.maintenance.consolidate(**arguments.values(), progress=tell)
    return MergesShown.of(
        done,
        clusters=done.clusters[:SHOWN],
        kept_apart_count=len(done.apart),
        kept_apart=done.apart[:SHOWN],
    )


@tool(title="Merge Two Memories", annotations=CHANGES)
def merge_memories(engine: Engine, arguments: MergeMemories) -> MergedShown:
    """Make one memory of two that mean the same, however they differ in words.

    Use it when you see that two memories are one fact and neither is wrong; if one is wrong, forget it. Both
    wordings stay, tags, entities and associations are united, and undo_change takes it back.
    """
    return MergedShown.of(engine.maintenance.merge(arguments.memory_id, arguments.absorbed_id))


@tool(title="Get Memory Statistics", annotations=READS)
def get_memory_stats(engine: Engine) -> StatsShown:
    """Count what is remembered: memories by type, entities, relations, confidence and age.

    Confidence is as it has faded by now; low_confidence_count counts memories below 0.3.
    """
    return StatsShown.of(engine.analytics.stats())


TOOLS = (
    update_memory,
    delete_memories,
    get_entity_graph,
    consolidate_memories,
    merge_memories,
    get_memory_stats,
)
