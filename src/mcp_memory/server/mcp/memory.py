"""The memory tool set: typed memories that are stored once, fade unless used, and are recalled by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from mcp_memory.inputs import NewMemory
from mcp_memory.model import Filter, SearchMode
from mcp_memory.ranking.decay import STRICT_FLOOR
from mcp_memory.server.mcp import changes, graph, memory_maintenance
from mcp_memory.server.mcp.tools import CHANGES, KINDS, READS, Arguments, Moment, Sized, ToolSet, tool
from mcp_memory.server.shapes.inputs import takes
from mcp_memory.server.shapes.memories import Memory, SimilarMemory
from mcp_memory.server.shapes.shape import OnlyIfTrue, Record, Rounded, Shape, drawn, omitted
from mcp_memory.tuning import Fading

if TYPE_CHECKING:
    from mcp_memory.engine import Engine
    from mcp_memory.engine.memories import Stored


@takes(NewMemory, KINDS, without="channel", type="memory_type")
class StoreMemory(Arguments):
    importance: Annotated[float, Field(description="How much it matters, 0 to 1.")] = 0.5
    details: Annotated[bool, Field(description="Answer with everything that is kept about it.")] = False


@takes(
    Filter, KINDS, without="below_confidence channel forgotten pinned superseded archived",
    types="memory_types", after="after_date", before="before_date",
)  # fmt: skip
class RecallMemories(Sized):
    query: Annotated[str, Field(description="A question or a description, in plain words.")]
    search_mode: Annotated[
        SearchMode,
        Field(
            description="hybrid for most questions; keyword for exact terms; semantic for the same in other "
            "words; graph for what is known around an entity that the query names."
        ),
    ] = "hybrid"
    min_confidence: Annotated[
        float | None,
        Field(
            description="Only memories whose confidence, faded by time, is at least this; "
            f"{STRICT_FLOOR} unless set or fading is gentle.",
        ),
    ] = None
    fading: Annotated[
        Fading | None,
        Field(
            description="gentle finds old memories as well as new ones; strict prefers and shows what was "
            "stored or used lately. The server's setting unless set."
        ),
    ] = None
    limit: Annotated[int | None, Field(description="How many at most, 1 to 100; 20 unless set.")] = None
    offset: Annotated[int, Field(description="Skip this many, to get the next page.")] = 0
    entity_name: Annotated[
        str | None,
        Field(description="Only memories about this entity; in graph mode, the entity to start from."),
    ] = None
    hops: Annotated[int, Field(description="In graph mode: how many relations to follow, 1 to 5.")] = 1
    explain: Annotated[bool, Field(description="Also say for each result how its score came about.")] = False
    include_archived: Annotated[
        bool, Field(description="Also search archived memories. restore_memory brings one back.")
    ] = False
    details: Annotated[bool, Field(description="With everything that is kept about each memory.")] = False
    as_of: Annotated[
        Moment | None, Field(description="Read what was known at this earlier time instead of now.")
    ] = None


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


@tool(title="Store a Memory", annotations=CHANGES)
def store_memory(engine: Engine, arguments: StoreMemory) -> StoredOut | StoredBrief:
    """Remember one fact: something about the user, a decision, a lesson, an error and its cause.

    Use it when something will be worth knowing in another conversation; not for what this conversation holds
    anyway. What says the same as a stored memory becomes part of that one, and `outcome` says so; what is
    close but different is kept beside it and listed in `similar`: if the new fact replaces one of those,
    forget the old one. For facts that belong to a structured graph, use create_entities.
    """
    stored = engine.memories.remember(arguments.fill(NewMemory))
    return (StoredOut if arguments.details else StoredBrief).of(stored, message=_message(stored))


@tool(title="Recall Memories", annotations=READS)
def recall_memories(engine: Engine, arguments: RecallMemories) -> RecalledOut:
    """Find what is remembered about something, best first.

    Use it before answering from knowledge about the user, their projects or earlier work. Ask in plain words;
    narrow down with filters only when you know them. Scores are match × confidence, unless fading is gentle;
    what is returned becomes stronger. To read an entity with all its observations, use open_nodes.
    """
    answer = engine.recall.recall(
        arguments.query,
        mode=arguments.search_mode,
        filter=arguments.fill(Filter),
        entity_name=arguments.entity_name,
        hops=arguments.hops,
        limit=arguments.limit,
        offset=arguments.offset,
        explain=arguments.explain,
        fading=arguments.fading,
        strict_floor=STRICT_FLOOR,
        as_of=arguments.as_of,
        include_archived=arguments.include_archived,
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
