"""Memories as JSON for programs and as rows for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from mcp_memory.cli.output import printable, say, shaped, table
from mcp_memory.engine.memories import Described, Stored
from mcp_memory.engine.recall import Hit
from mcp_memory.inputs import NOTES
from mcp_memory.model import Association, Memory
from mcp_memory.text.preview import first_lines, shortened

PREVIEW = 160
"""Characters of a memory in a table; `memories show` has all of it."""


def memory_json(memory: Memory) -> dict[str, Any]:
    return shaped("MemoryJson", memory)


def described_json(one: Described) -> dict[str, Any]:
    return shaped("DescribedMemoryJson", one)


def hit_json(hit: Hit) -> dict[str, Any]:
    return shaped("FoundMemoryJson", hit)


def stored_json(stored: Stored) -> dict[str, Any]:
    return shaped("StoredMemoryJson", stored)


def association_json(one: Association) -> dict[str, Any]:
    return shaped("AssociationJson", one)


def preview(memory: Memory) -> str:
    tags = "".join(f" #{tag}" for tag in memory.tags)
    superseded = " (superseded)" if memory.superseded_at else ""
    return first_lines(memory.content, PREVIEW) + tags + superseded


def day(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d")


def print_memories(memories: Iterable[Memory], *, empty: str = "No memories.") -> None:
    table(
        ("type", "memory", "created", "id"),
        ((one.type, preview(one), day(one.created_at), one.id) for one in memories),
        empty=empty,
        ids_under="memory",
    )


def print_described(found: Iterable[Described]) -> None:
    table(
        ("type", "memory", "about", "sure", "created", "id"),
        (
            (
                one.memory.type,
                preview(one.memory),
                ", ".join(one.entities),
                one.effective_confidence,
                day(one.memory.created_at),
                one.memory.id,
            )
            for one in found
        ),
        empty="No memories.",
        ids_under="memory",
    )


def print_hits(hits: Sequence[Hit], *, explain: bool) -> None:
    table(
        ("score", "type", "memory", "about", "created", "id"),
        (
            (
                hit.score,
                hit.memory.type,
                "\n".join(_told(hit, explain)),
                ", ".join(hit.entities),
                day(hit.memory.created_at),
                hit.memory.id,
            )
            for hit in hits
        ),
        empty="Nothing found.",
        ids_under="memory",
    )


def _told(hit: Hit, explain: bool) -> Iterator[str]:
    yield preview(hit.memory) + (f" (in {hit.space})" if hit.space else "")
    yield from (f"… {shortened(text, PREVIEW)}" for text in hit.around)
    if explain:
        yield f"({reasons(hit.explanation or {})})"


def reasons(explanation: Mapping[str, Any]) -> str:
    """The factors of a score, as in `keyword 0.8, cosine 0.61, …`."""
    parts = []
    for name, value in explanation.items():
        if isinstance(value, Mapping):
            parts.append(f"{name} ({reasons(value)})")
        elif value is not None and value is not False:
            parts.append(f"{name} {printable(value)}")
    return ", ".join(parts)


def print_whole(one: Described, associations: Sequence[Association]) -> None:
    """Print a memory with all its fields."""
    memory = one.memory
    say(memory.content)
    for name, value in _facts(one):
        if value:
            say(f"  {name:<16}{value}")
    for link in associations:
        outward = link.source_id == memory.id
        arrow = f"{link.type} →" if outward else f"← {link.type}"
        say(f"  {arrow:<16}{link.target_id if outward else link.source_id} ({link.weight:.2f})")


def _facts(one: Described) -> list[tuple[str, str]]:
    memory = one.memory
    used = f"{memory.access_count} times, last {printable(memory.accessed_at)}" if memory.access_count else ""
    return [
        ("id", memory.id),
        ("type", memory.type + (", pinned" if memory.pinned_at else "")),
        ("about", ", ".join(one.entities)),
        ("tags", ", ".join(memory.tags)),
        ("confidence", f"{one.effective_confidence:.2f} (stored: {memory.confidence:.2f})"),
        ("importance", f"{memory.importance:.2f}"),
        *((name, getattr(memory, name) or "") for name in NOTES),
        ("metadata", json.dumps(memory.metadata, ensure_ascii=False) if memory.metadata else ""),
        ("created", printable(memory.created_at)),
        ("changed", printable(memory.updated_at) if memory.updated_at != memory.created_at else ""),
        ("used", used),
        ("version", str(memory.version) if memory.version > 1 else ""),
        ("superseded", f"by {memory.superseded_by}" if memory.superseded_by else ""),
    ]
