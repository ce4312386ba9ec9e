"""Memories, similar memories, versions and associations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mcp_memory import model
from mcp_memory.fields import Id, Share
from mcp_memory.server.shapes.shape import Record, Shape, drawn, omitted


@drawn(model.Memory, without="seq pinned_at flagged_at captured_at quarantined_at",
       type="memory_type", accessed_at="last_accessed_at")  # fmt: skip
class Memory(Shape):
    """One fact, how sure we are of it, and how it has been used."""

    effective_confidence: Share = Field(description="Confidence now, after decay.")
    entities: list[str] = Field(description="Names of the entities it is about.")
    pinned: bool = Field(description="Does not fade, and is never pruned.")
    flagged: bool = Field(description="Resembles another one; the report lists both.")
    captured: bool = Field(description="Captured by a rule, on trial: fades in days unless used or accepted.")
    quarantined: bool = Field(description="Quarantined because of its origin.")


class SimilarMemory(Shape):
    """A memory that is close to a new one without being the same; they have been linked."""

    id: Id
    content: str
    cosine: float = Field(serialization_alias="similarity")
    reason: str = Field(serialization_alias="difference")


class KeptMemory(Memory):
    """The memory as it is stored now."""

    outcome: Literal["created", "equal", "merged"] = Field(
        description="`equal`: its content existed; `merged`: it became part of one that says the same."
    )
    compared: str = Field(description="How it was compared with the others.")
    warnings: list[str] = Field(description="What the writer should know, such as a credential in it.")
    similar: list[SimilarMemory]


class FoundMemory(Memory):
    score: Share
    explanation: Record | None = Field(description="How it was found, if requested.")
    space: str | None = omitted()
    around: list[str] = Field(description="Memories stored right before and after it, with `max_tokens`.")


def _without_seq(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != "seq"}


@drawn(model.MemoryVersion)
class Version(Shape):
    """An earlier state of a memory, or a memory that it absorbed."""

    state: Annotated[dict[str, Any], BeforeValidator(_without_seq)]


@drawn(model.Association, without="seq", type="association_type")
class Association(Shape):
    """A directed connection between two memories."""
