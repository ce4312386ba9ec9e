"""The memory tool set: typed memories that are stored once, fade unless used, and are recalled by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from mcp_memory.inputs import NewMemory, RecallOptions
from mcp_memory.model import Filter
from mcp_memory.ranking.decay import STRICT_FLOOR
from mcp_memory.server.mcp import changes, graph, memory_maintenance
from mcp_memory.server.mcp.tools import CHANGES, KINDS, READS, Arguments, Sized, ToolSet, tool
from mcp_memory.server.shapes.inputs import takes
from mcp_memory.server.shapes.memories import Memory, SimilarMemory
from mcp_memory.server.shapes.shape import OnlyIfTrue, Record, Rounded, Shape, drawn, omitted

if TYPE_CHECKING:
    from mcp_memory.engine import Engine
    from mcp_memory.engine.memories import Stored


@takes(NewMemory, KINDS, without="channel", type="memory_type")
class StoreMemory(Arguments):
    importance: float = Field(0.5, description="How much it matters, 0 to 1.")
    details: bool = Field(False, description="Answer with everything that is kept about it.")


@takes(RecallOptions, KINDS, mode="search_mode")
@takes(
    Filter, KINDS, without="below_confidence channel forgotten pinned superseded archived",
    types="memory_types", after="after_date", before="before_date",
)  # fmt: skip
class RecallMemories(Sized):
    query: str = Field(description="A question or a description, in plain words.")
    min_confidence: float | None = Field(
        None,
        description="Only memories whose confidence, faded by time, is at least this; "
        f"{STRICT_FLOOR} unless set or fading is gentle.",
    )
    include_archived: bool = Field(
        False, description="Also search archived memories. restore_memory brings one back."
    )
    details: bool = Field(False, description="With everything that is kept about each memory.")


@drawn(Memory, without="effective_confidence channel origin kind flagged superseded_by superseded_at "
       "forgotten_at forgotten_reason captured project archived_at confirmed_at quarantined "
       "provenance", entities="entity_names")  # fmt: skip
class MemoryOut(Shape):
    pass


@drawn(Memory, only="id content type created_at")
class MemoryBrief(Shape):
    """Short form for a model; `details` has the rest."""


@drawn(SimilarMemory, only="id content reason", reason="reason")
class SimilarOut(Shape):
    cosine: Rounded = Field(serialization_alias="similarity")


class StoredBrief(Shape):
    id: str
    outcome: Literal["created", "equal", "merged"]
    message: str
    similar: list[SimilarOut]


class StoredOut(MemoryOut, StoredBrief):
    pass


class FoundBrief(MemoryBrief):
    score: Rounded
    superseded: OnlyIfTrue = False
    explanation: Record | None = omitted()
    space: str | None = omitted()


class FoundOut(MemoryOut):
    score: Rounded
    effective_confidence: Rounded
    superseded: bool
    explanation: Record | None = omitted()
    space: str | None = omitted()


class RecalledOut(Shape):
    hits: list[FoundBrief | FoundOut] = Field(serialization_alias="memories")
    total: int = Field(serialization_alias="total_found")
    mode: str = Field(serialization_alias="search_mode")


@tool(title="Store a Memory", annotations=CHANGES, says="content")
def store_memory(engine: Engine, arguments: StoreMemory) -> StoredOut | StoredBrief:
    """Remember one fact: something about the user, a decision, a lesson, an error and its cause.

    Use it when something will be worth knowing in another conversation; not for what this conversation holds
    anyway. What says the same as a stored memory becomes part of that one, and `outcome` says so; what is
    close but different is kept beside it and listed in `similar`: if the new fact replaces one of those,
    forget the old one. For facts that belong to a structured graph, use create_entities.
    """
    stored = engine.memories.remember(arguments.fill(NewMemory))
    return (StoredOut if arguments.details else StoredBrief).of(stored, message=_message(stored))


@tool(title="Recall Memories", annotations=READS, asks="query")
def recall_memories(engine: Engine, arguments: RecallMemories) -> RecalledOut:
    """Find what is remembered about something, best first.

    Use it before answering from knowledge about the user, their projects or earlier work. Ask in plain words;
    narrow down with filters only when you know them. Scores are match × confidence, unless fading is gentle;
    what is returned becomes stronger. To read an entity with all its observations, use open_nodes.
    """
    answer = engine.recall.recall(
        arguments.query,
        filter=arguments.fill(Filter),
        strict_floor=STRICT_FLOOR,
        **arguments.values(RecallOptions),
    )
    shape = FoundOut if arguments.details else FoundBrief
    return RecalledOut.of(answer, hits=[shape.of(hit) for hit in answer.hits])


def _message(stored: Stored) -> str:
    said = {
        "created": "Stored as a new memory",
        "equal": "Known already, word for word: nothing new was stored",
        "merged": "Says the same as a memory that is there, and became part of it",
    }[stored.outcome]
    warnings = "".join(f" Careful: {warning}." for warning in stored.warnings)
    return f"{said}. Compared with other memories {stored.compared}.{warnings}"


TOOLS = ToolSet(
    name="memory",
    tools=(
        store_memory,
        recall_memories,
        graph.create_entities,
        graph.create_relations,
        graph.delete_entities,
        graph.delete_relations,
        *memory_maintenance.TOOLS,
        *changes.TOOLS,
    ),
)
