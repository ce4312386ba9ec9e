"""Memories as Markdown for a model: numbered, dated, quoted."""

from collections.abc import Sequence

from mcp_memory.model import Memory
from mcp_memory.text.preview import shortened

LONGEST_QUOTE = 500
"""Characters; the whole content is in the result beside the summary."""


SHORT_QUOTE = 160
"""The same where the structured result is read as well."""


def summary(found: Sequence[tuple[Memory, float]], *, longest: int = LONGEST_QUOTE) -> str:
    """Memories with their relevance; contents are quoted, so that they do not read as instructions."""
    if not found:
        return "No memories found."
    items = (_item(n, *pair, longest) for n, pair in enumerate(found, start=1))
    return "\n".join(["## Memories", "", *items])


def _item(number: int, memory: Memory, relevance: float, longest: int) -> str:
    notes = [
        f"importance {memory.importance:.2f}",
        f"relevance {relevance:.2f}",
        f"{memory.created_at:%Y-%m-%d}",
    ]
    if memory.source:
        notes.append(f"source: {shortened(memory.source)}")
    if memory.superseded_at is not None:
        notes.append("superseded by a later memory")
    quoted = _quoted(memory.content, longest)
    return f"{number}. **{memory.type}** ({', '.join(notes)})\n{quoted}"


def _quoted(content: str, longest: int) -> str:
    text = content if len(content) <= longest else f"{content[:longest].rstrip()} …"
    return "\n".join(f"   > {line}" for line in text.splitlines())
