"""Memories as markdown for a model to read: numbered, dated, quoted as what they are."""

from collections.abc import Sequence

from mcp_memory.model import Memory
from mcp_memory.text.preview import shortened

LONGEST_QUOTE = 500
"""Characters; the whole content is in the result beside the summary."""


def summary(found: Sequence[tuple[Memory, float]]) -> str:
    """Memories with their relevance; what they say is quoted, so that it reads as no instruction."""
    if not found:
        return "No memories found."
    return "\n".join(["## Memories", "", *(_item(n, *pair) for n, pair in enumerate(found, start=1))])


def _item(number: int, memory: Memory, relevance: float) -> str:
    notes = [
        f"importance {memory.importance:.2f}",
        f"relevance {relevance:.2f}",
        f"{memory.created_at:%Y-%m-%d}",
    ]
    if memory.source:
        notes.append(f"source: {shortened(memory.source)}")
    if memory.superseded_at is not None:
        notes.append("superseded by a later memory")
    quoted = _quoted(memory.content)
    return f"{number}. **{memory.type}** ({', '.join(notes)})\n{quoted}"


def _quoted(content: str) -> str:
    text = content if len(content) <= LONGEST_QUOTE else f"{content[:LONGEST_QUOTE].rstrip()} …"
    return "\n".join(f"   > {line}" for line in text.splitlines())
