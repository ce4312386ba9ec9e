"""Memories, similar memories, versions and associations."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, field_validator

from mcp_memory.server.shapes.shape import Id, Record, Shape, Share, omitted


class Memory(Shape):
    """One fact, how sure we are of it, and how it has been used."""

    id: Id
    content: str
    type: str = Field(serialization_alias="memory_type")
    tags: list[str]
    confidence: Share = Field(description="Confidence at the last use.")
    effective_confidence: Share = Field(description="Confidence now, after decay.")
    importance: Share
    source: str | None
    context: str | None
    channel: str | None
    metadata: dict[str, Any]
    entities: list[str] = Field(description="Names of the entities it is about.")
    origin: Literal["memory", "observation"]
    kind: str
    pinned: bool = Field(description="Does not fade, and is never pruned.")
    created_at: datetime
    updated_at: datetime
    accessed_at: datetime | None = Field(serialization_alias="last_accessed_at")
    access_count: int
    version: int
    flagged: bool = Field(description="Resembles another one; the report lists both.")
    superseded_by: Id | None
    superseded_at: datetime | None
    forgotten_at: datetime | None
    forgotten_reason: str | None
    captured: bool = Field(description="Captured by a rule, on trial: fades in days unless used or accepted.")
    project: str | None = Field(description="The project it belongs to; null: it applies everywhere.")
    archived_at: datetime | None = Field(description="When it was archived because it had faded.")
    confirmed_at: datetime | None = Field(description="When a person said that it is right.")
    quarantined: bool = Field(description="Quarantined because of its origin.")
    provenance: dict[str, Any] = Field(description="Who wrote it and how, as the server saw it.")


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


class Version(Shape):
    """An earlier state of a memory, or a memory that it absorbed."""

    number: int
    content: str
    reason: str = Field(description="Why there is a later one.")
    at: datetime
    state: dict[str, Any]

    @field_validator("state", mode="before")
    @classmethod
    def _without_seq(cls, state: Any) -> Any:
        return {name: value for name, value in state.items() if name != "seq"}


class Association(Shape):
    """A directed connection between two memories."""

    id: Id
    source_id: Id
    target_id: Id
    type: str = Field(serialization_alias="association_type")
    weight: Share
    created_at: datetime
