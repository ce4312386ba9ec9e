"""The agent tool set: save, recall, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from mcp_memory.inputs import NewAssociation, NewMemory
from mcp_memory.model import AgentMode, Filter, SortOrder
from mcp_memory.server.mcp.tools import CHANGES, DELETES, KINDS, READS, Arguments, Sized, ToolSet, tool
from mcp_memory.server.shapes.inputs import takes
from mcp_memory.server.shapes.memories import Memory, SimilarMemory
from mcp_memory.server.shapes.shape import OnlyIfTrue, Record, Rounded, Shape, drawn, omitted

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

TYPES = "fact, preference, decision, identity, event, observation, goal, todo"


class AssociationItem(Arguments):
    target_id: str = Field(description="The id of the memory to link to, from memory_recall.")
    type: str = Field(
        "related_to",
        validation_alias="relation_type",
        description="related_to; updates: this replaces the target; contradicts; caused_by; result_of; "
        "part_of.",
    )
    weight: float = Field(0.5, description="How strong the link is, 0 to 1.")


@takes(NewMemory, KINDS, only="content type importance source channel pinned",
       type="memory_type", channel="channel_id")  # fmt: skip
class MemorySave(Arguments):
    content: str = Field(description="What to remember: concise but complete, at most 50,000 bytes.")
    type: str = Field(
        "fact",
        validation_alias="memory_type",
        description=f"One of {TYPES}; or a name of your own. identity never fades.",
    )
    importance: float | None = Field(
        None, description="0 to 1; higher is recalled more easily. Follows from the type."
    )
    source: str | None = Field(
        None, description="Where it comes from, e.g. user stated explicitly, inferred."
    )
    associations: list[AssociationItem] = Field([], description="Links to memories that it belongs with.")


class MemoryRecall(Sized):
    query: str | None = Field(
        None, description="For hybrid mode: a question or a description, in words the memory may contain."
    )
    max_results: int = Field(10, description="1 to 50.")
    memory_type: str | None = Field(None, description="Only this type. Typed mode needs it.")
    mode: AgentMode = Field(
        "hybrid",
        description="hybrid: by query, for most cases. recent: the newest. "
        "important: the most important. typed: all of one type.",
    )
    sort_by: SortOrder | None = Field(None, description="The order of results in modes without a query.")
    channel_id: str | None = Field(None, description="Only memories from this conversation.")
    explain: bool = Field(False, description="Also say for each result how it was found.")
    max_tokens: int | None = Field(
        None, description="Fit the answer into this many tokens, with the context of the best results."
    )
    include_archived: bool = Field(False, description="Also search archived memories.")
    details: bool = Field(False, description="With everything that is kept about each memory.")


class MemoryDelete(Arguments):
    memory_id: str = Field(description="The id of the memory to forget, from memory_recall.")
    reason: str | None = Field(None, description="Why, in a few words; kept for the record.")


@drawn(SimilarMemory, only="id reason", id="memory_id")
class Linked(Shape):
    cosine: Rounded = Field(serialization_alias="similarity")


class Saved(Shape):
    memory_id: str
    success: bool
    message: str
    similar: list[Linked] = Field(serialization_alias="updates")


@drawn(Memory, only="id content type importance created_at")
class Recalled(Shape):
    score: Rounded = Field(serialization_alias="relevance_score")
    source: str | None = omitted()
    around: list[str] | None = omitted()
    space: str | None = omitted()
    superseded: OnlyIfTrue = False
    explanation: Record | None = omitted()


@drawn(Memory, only="tags confidence context channel metadata entities pinned access_count accessed_at "
       "updated_at version")  # fmt: skip
class RecalledRest(Shape):
    """Fields that a model seldom needs."""


class RecalledInFull(Recalled, RecalledRest):
    source: str | None
    superseded: bool


class RecalledSummary(Shape):
    hits: list[Recalled | RecalledInFull] = Field(serialization_alias="memories")
    total: int = Field(serialization_alias="total_found")
    summary: str
    mode: str


class ForgottenMemory(Shape):
    forgotten: bool
    message: str


@tool(title="Save a Memory", annotations=CHANGES, says="content")
def memory_save(engine: Engine, arguments: MemorySave) -> Saved:
    """Save something that will be worth knowing in another conversation.

    Recall first, and save only what is new. What is very close to a saved memory is linked to it as its
    update, and listed in `updates`: if it replaces that one, delete that one or save with an `updates`
    association, which ranks it last.
    """
    stored = engine.memories.save(
        arguments.fill(NewMemory), [item.fill(NewAssociation) for item in arguments.associations]
    )
    known = stored.outcome == "equal"
    message = "Known already: the memory was kept as it is" if known else "Memory saved successfully"
    message += "".join(f". Careful: {warning}" for warning in stored.warnings)
    return Saved.of(stored, memory_id=stored.memory.id, success=True, message=message)


@tool(title="Recall Memories", annotations=READS, asks="query")
def memory_recall(engine: Engine, arguments: MemoryRecall) -> RecalledSummary:
    """Search your memory: by meaning, words and links together, or the newest, the most important, one type.

    Use it before answering from knowledge about the user or earlier work. Be specific, ask in plain words.
    `summary` is the result to read; ids are for memory_delete and for associations in memory_save.
    """
    from mcp_memory.text.summary import LONGEST_QUOTE, SHORT_QUOTE, summary

    answer = engine.recall.recall_for_agent(
        arguments.query,
        mode=arguments.mode,
        filter=Filter(
            types=(arguments.memory_type,) if arguments.memory_type else (), channel=arguments.channel_id
        ),
        sort_by=arguments.sort_by,
        limit=arguments.max_results,
        explain=arguments.explain,
        include_archived=arguments.include_archived,
        max_tokens=arguments.max_tokens,
    )
    shape = RecalledInFull if arguments.details else Recalled
    longest = LONGEST_QUOTE if arguments.details else SHORT_QUOTE
    return RecalledSummary.of(
        answer,
        hits=[shape.of(hit) for hit in answer.hits],
        summary=summary([(hit.memory, hit.score) for hit in answer.hits], longest=longest),
    )


@tool(title="Forget a Memory", annotations=DELETES)
def memory_delete(engine: Engine, arguments: MemoryDelete) -> ForgottenMemory:
    """Forget a memory: it stays stored, but nothing finds it any more.

    Use it when a memory is wrong, outdated, or the user asks to forget it. Can be restored.
    """
    return ForgottenMemory.of(engine.memories.forget(arguments.memory_id, arguments.reason))


TOOLS = ToolSet(name="agent", tools=(memory_save, memory_recall, memory_delete))
