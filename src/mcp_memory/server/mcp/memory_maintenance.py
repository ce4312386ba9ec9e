"""The part of the memory tool set that keeps order: deleting, merging, looking around, taking back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from mcp_memory.server.mcp.graph_outputs import FullRelation, full_relation
from mcp_memory.server.mcp.tools import CHANGES, DELETES, READS, TAKES_BACK, Arguments, Moment, Tell, tool
from mcp_memory.text.preview import shortened

if TYPE_CHECKING:
    from mcp_memory.engine import Engine
    from mcp_memory.engine.analytics import Stats
    from mcp_memory.engine.consolidation import Cluster, KeptApart
    from mcp_memory.engine.graph_walk import WalkedNode
    from mcp_memory.engine.history import Change
    from mcp_memory.model import Memory, MemoryVersion

SHOWN = 20
"""Clusters and pairs that one report shows; it counts them all."""

MOST_IDS = 1000

MemoryId = Annotated[str, Field(description="The memory's id.")]


class DeleteMemories(Arguments):
    memory_ids: Annotated[list[str], Field(description="Only these memories.")] = []
    before_date: Annotated[
        Moment | None, Field(description="Only memories made before this date or time, e.g. 2026-01-31.")
    ] = None
    min_confidence_below: Annotated[
        float | None, Field(description="Only memories whose confidence, faded by time, is below this.")
    ] = None
    memory_types: Annotated[list[str], Field(description="Only memories of these types.")] = []
    dry_run: Annotated[bool, Field(description="Only say what would be deleted.")] = False


class UpdateMemory(Arguments):
    memory_id: MemoryId
    content: Annotated[str | None, Field(description="What it is to say from now on.")] = None
    memory_type: Annotated[str | None, Field(description="What kind of memory it is.")] = None
    tags: Annotated[list[str] | None, Field(description="All of its tags.")] = None
    confidence: Annotated[float | None, Field(description="How sure it is, 0 to 1.")] = None
    importance: Annotated[float | None, Field(description="How much it matters, 0 to 1.")] = None
    source: Annotated[str | None, Field(description="Where it comes from.")] = None
    context: Annotated[str | None, Field(description="What was going on when it came up.")] = None
    metadata: Annotated[dict[str, Any] | None, Field(description="All of its metadata.")] = None
    expected_version: Annotated[
        int | None, Field(description="Change it only if it is still at this version.")
    ] = None

    def changes(self) -> dict[str, Any]:
        """What is given, by the names that a memory has for it."""
        given = self.model_dump(exclude={"memory_id", "expected_version"}, exclude_none=True)
        if "memory_type" in given:
            given["type"] = given.pop("memory_type")
        return given


class GetEntityGraph(Arguments):
    entity_name: Annotated[str, Field(description="The entity in the middle, by its exact name.")]
    depth: Annotated[int, Field(description="How many relations away to look, 0 to 5.")] = 1
    min_strength: Annotated[float, Field(description="Follow only relations at least this strong.")] = 0.0
    include_memories: Annotated[bool, Field(description="With the newest memories about each entity.")] = True
    as_of: Annotated[
        Moment | None, Field(description="Read what was known at this earlier time instead of now.")
    ] = None


class ConsolidateMemories(Arguments):
    similarity_threshold: Annotated[
        float | None,
        Field(description="How close memories must be to be compared, 0 to 1; 0.85 unless set otherwise."),
    ] = None
    dry_run: Annotated[bool, Field(description="Only say what would be merged.")] = False
    full: Annotated[
        bool, Field(description="Look at every memory again, not only at those new since the last run.")
    ] = False


class UndoChange(Arguments):
    change_id: Annotated[
        str | None, Field(description="From list_changes; your own latest change if left out.")
    ] = None


class ListChanges(Arguments):
    limit: Annotated[int, Field(description="1 to 100.")] = 20
    cursor: Annotated[int | None, Field(description="next_cursor of the page before.")] = None


class RestoreMemory(Arguments):
    memory_id: MemoryId
    version: Annotated[
        int | None,
        Field(description="Let it say again what it said in this version, from memory_history."),
    ] = None


class MemoryHistory(Arguments):
    memory_id: MemoryId


class Deleted(TypedDict):
    deleted_count: int
    deleted_ids: list[str]
    not_found: list[str]
    kept: list[str]
    dry_run: bool
    change_id: NotRequired[str]


class MemoryShown(TypedDict):
    id: str
    content: str
    memory_type: str
    tags: list[str]
    confidence: float
    importance: float
    created_at: str


class NodeShown(TypedDict):
    id: str
    name: str
    entity_type: str
    description: str | None
    depth: int
    memory_count: int
    memories: NotRequired[list[MemoryShown]]


class EntityGraphShown(TypedDict):
    center: str
    nodes: list[NodeShown]
    edges: list[FullRelation]
    truncated: bool


class Part(TypedDict):
    id: str
    content: str
    similarity: NotRequired[float]


class ClusterShown(TypedDict):
    primary: Part
    absorbed: list[Part]


class PairShown(TypedDict):
    memories: list[Part]
    similarity: float
    reason: str


class Report(TypedDict):
    clusters_found: int
    memories_merged: int
    memories_deleted: int
    memories_compared: int
    dry_run: bool
    clusters: list[ClusterShown]
    kept_apart_count: int
    kept_apart: list[PairShown]
    change_id: NotRequired[str]


class StatsShown(TypedDict):
    total_memories: int
    total_entities: int
    total_relations: int
    memories_by_type: dict[str, int]
    average_confidence: float
    oldest_memory: str | None
    newest_memory: str | None
    low_confidence_count: int


class Undone(TypedDict):
    undone: str
    change_id: str
    redo_id: str
    restored_ids: list[str]


class ChangeShown(TypedDict):
    change_id: str
    summary: str
    at: str
    client: str
    undoable: bool
    undone: bool


class Changes(TypedDict):
    changes: list[ChangeShown]
    next_cursor: NotRequired[int]


class Updated(TypedDict):
    memory: MemoryShown
    version: int


class Restored(TypedDict):
    memory: MemoryShown


class VersionShown(TypedDict):
    version: int
    content: str
    memory_type: str | None
    tags: list[str]
    reason: str
    until: str


class HistoryShown(TypedDict):
    memory_id: str
    versions: list[VersionShown]


@tool(title="Delete Memories", annotations=DELETES)
def delete_memories(engine: Engine, arguments: DeleteMemories) -> Deleted:
    """Delete memories by their ids or by conditions; at least one must be given.

    With several conditions, only memories that meet all of them are deleted. Try conditions with dry_run
    first. For one memory that is wrong or outdated, memory_delete forgets it with a reason. Their entities
    stay. Can be undone for 30 days with undo_change.
    """
    gone = engine.memories.delete(
        arguments.memory_ids,
        before=arguments.before_date,
        below_confidence=arguments.min_confidence_below,
        types=arguments.memory_types,
        dry_run=arguments.dry_run,
    )
    shown: Deleted = {
        "deleted_count": len(gone.memories),
        "deleted_ids": [memory.id for memory in gone.memories[:MOST_IDS]],
        "not_found": list(gone.missing),
        "kept": list(gone.kept),
        "dry_run": gone.dry_run,
    }
    return {**shown, "change_id": gone.act} if gone.act else shown


@tool(title="Update a Memory", annotations=CHANGES)
def update_memory(engine: Engine, arguments: UpdateMemory) -> Updated:
    """Correct or complete a memory; what is not given stays as it is.

    Use it when a memory is nearly right. When the facts themselves have changed, store the new fact: then
    both remain known. What the memory said before stays readable in memory_history.
    """
    changed = engine.memories.update(
        arguments.memory_id, arguments.changes(), expected_version=arguments.expected_version
    )
    return {"memory": _memory(changed), "version": changed.version}


@tool(title="Get Entity Graph", annotations=READS)
def get_entity_graph(engine: Engine, arguments: GetEntityGraph) -> EntityGraphShown:
    """Show what is connected to an entity: entities around it, how they relate, and memories about each.

    Use it to see how things hang together around a known name. To find an entity or a memory by what it is
    about, use search_semantic or recall_memories. `truncated` says that more is within reach than is shown.
    """
    graph = engine.walk.entity_graph(
        arguments.entity_name,
        depth=arguments.depth,
        min_strength=arguments.min_strength,
        include_memories=arguments.include_memories,
        as_of=arguments.as_of,
    )
    return {
        "center": graph.center.name,
        "nodes": [_node(node, arguments.include_memories) for node in graph.nodes],
        "edges": [full_relation(edge) for edge in graph.edges],
        "truncated": graph.truncated,
    }


@tool(title="Consolidate Memories", annotations=CHANGES)
def consolidate_memories(engine: Engine, arguments: ConsolidateMemories, tell: Tell) -> Report:
    """Merge memories that say the same in other words, and report what was merged and what was not.

    Runs by itself now and then; call it after storing much at once, or with dry_run to see duplicates.
    Memories that differ in a number, a date, a name or a negation are never merged: they are reported in
    kept_apart. Merged memories stay readable in memory_history, and the run can be undone.
    """
    done = engine.maintenance.consolidate(
        arguments.similarity_threshold, dry_run=arguments.dry_run, full=arguments.full, progress=tell
    )
    report: Report = {
        "clusters_found": len(done.clusters),
        "memories_merged": done.merged,
        "memories_deleted": done.deleted,
        "memories_compared": done.compared,
        "dry_run": done.dry_run,
        "clusters": [_cluster(cluster) for cluster in done.clusters[:SHOWN]],
        "kept_apart_count": len(done.apart),
        "kept_apart": [_pair(pair) for pair in done.apart[:SHOWN]],
    }
    return {**report, "change_id": done.act} if done.act else report


@tool(title="Get Memory Statistics", annotations=READS)
def get_memory_stats(engine: Engine) -> StatsShown:
    """Count what is remembered: memories by type, entities, relations, confidence and age.

    Confidence is as it has faded by now; low_confidence_count counts memories below 0.3.
    """
    return _stats(engine.analytics.stats())


@tool(title="Undo a Change", annotations=TAKES_BACK)
def undo_change(engine: Engine, arguments: UndoChange) -> Undone:
    """Take back a change: a deletion, an edit, a merge, whatever it was, as if it had not happened.

    Without change_id your own latest change is taken back; with one from list_changes, that one. Nothing is
    undone if something it touched has changed since. Undoing redo_id does the change again.
    """
    history = engine.history
    if arguments.change_id is None:
        undone = history.undo_last(by=engine.caller.client)
    else:
        undone = history.undo(arguments.change_id)
    return {
        "undone": undone.summary,
        "change_id": undone.act,
        "redo_id": undone.by_act,
        "restored_ids": list(undone.restored),
    }


@tool(title="List Changes", annotations=READS)
def list_changes(engine: Engine, arguments: ListChanges) -> Changes:
    """List what was changed lately, by whom, and whether it can be undone; the newest first.

    Use it to find the change_id for undo_change, or to tell the user what has happened.
    """
    found = engine.history.recent(arguments.limit, arguments.cursor)
    shown: Changes = {"changes": [_change(change) for change in found]}
    return {**shown, "next_cursor": found[-1].cursor} if len(found) == arguments.limit else shown


@tool(title="Restore a Memory", annotations=CHANGES)
def restore_memory(engine: Engine, arguments: RestoreMemory) -> Restored:
    """Bring back a memory that was forgotten, deleted, pruned or merged away; or an earlier version of one.

    A memory that was merged away takes its merge back with it. Versions are listed by memory_history.
    """
    if arguments.version is None:
        memory = engine.history.restore(arguments.memory_id)
    else:
        memory = engine.history.restore_version(arguments.memory_id, arguments.version)
    return {"memory": _memory(memory)}


@tool(title="Read a Memory's History", annotations=READS)
def memory_history(engine: Engine, arguments: MemoryHistory) -> HistoryShown:
    """List what a memory said before, and the memories it absorbed; the oldest first.

    Use it when something remembered looks wrong or was different before.
    """
    versions = engine.history.versions(arguments.memory_id)
    return {"memory_id": arguments.memory_id, "versions": [_version(version) for version in versions]}


def _memory(memory: Memory) -> MemoryShown:
    return {
        "id": memory.id,
        "content": memory.content,
        "memory_type": memory.type,
        "tags": list(memory.tags),
        "confidence": memory.confidence,
        "importance": memory.importance,
        "created_at": memory.created_at.isoformat(),
    }


def _node(node: WalkedNode, with_memories: bool) -> NodeShown:
    shown: NodeShown = {
        "id": node.entity.id,
        "name": node.entity.name,
        "entity_type": node.entity.type,
        "description": node.entity.description,
        "depth": node.depth,
        "memory_count": node.memory_count,
    }
    return {**shown, "memories": [_memory(memory) for memory in node.memories]} if with_memories else shown


def _cluster(cluster: Cluster) -> ClusterShown:
    return {
        "primary": _part(cluster.primary),
        "absorbed": [
            {**_part(member.memory), "similarity": round(member.cosine, 4)} for member in cluster.absorbed
        ],
    }


def _pair(pair: KeptApart) -> PairShown:
    return {
        "memories": [_part(pair.a), _part(pair.b)],
        "similarity": round(pair.cosine, 4),
        "reason": pair.reason,
    }


def _part(memory: Memory) -> Part:
    return {"id": memory.id, "content": shortened(memory.content, 200)}


def _stats(stats: Stats) -> StatsShown:
    return {
        "total_memories": stats.total_memories,
        "total_entities": stats.total_entities,
        "total_relations": stats.total_relations,
        "memories_by_type": stats.memories_by_type,
        "average_confidence": stats.average_confidence,
        "oldest_memory": stats.oldest_memory.isoformat() if stats.oldest_memory else None,
        "newest_memory": stats.newest_memory.isoformat() if stats.newest_memory else None,
        "low_confidence_count": stats.low_confidence_count,
    }


def _change(change: Change) -> ChangeShown:
    return {
        "change_id": change.act,
        "summary": change.summary,
        "at": change.at.isoformat(),
        "client": change.client,
        "undoable": change.undoable,
        "undone": change.undone,
    }


def _version(version: MemoryVersion) -> VersionShown:
    state: Any = version.state
    return {
        "version": version.number,
        "content": version.content,
        "memory_type": state.get("type"),
        "tags": list(state.get("tags", ())),
        "reason": version.reason,
        "until": version.at.isoformat(),
    }


TOOLS = (
    update_memory,
    delete_memories,
    get_entity_graph,
    consolidate_memories,
    get_memory_stats,
    undo_change,
    list_changes,
    restore_memory,
    memory_history,
)
