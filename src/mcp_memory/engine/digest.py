"""A one-page summary of a space; equal memories give equal text, so that it can be cached."""

from __future__ import annotations

from mcp_memory.engine.context import Topic
from mcp_memory.model import Filter, Memory
from mcp_memory.storage import Transaction
from mcp_memory.text.preview import shortened

SECTIONS: tuple[tuple[str, tuple[str, ...], int], ...] = (
    ("Identity", ("identity",), 8),
    ("Preferences", ("preference",), 10),
    ("Decisions", ("decision",), 10),
    ("Goals and open ends", ("goal", "todo"), 10),
    ("Facts and lessons", ("fact", "learning", "pattern", "procedure", "error"), 10),
    ("Lately", ("observation", "event"), 8),
)
"""Heading, types and maximum lines of each section."""

MOST_ENTITIES = 20
LINE = 160
"""Characters of one memory."""


class Digest(Topic):
    def write(self) -> str:
        """Markdown: the most important memories of each kind, and the newest entities."""
        with self._context.reading() as tx:
            parts = [self._section(tx, heading, types, most) for heading, types, most in SECTIONS]
            parts.append(self._entities(tx))
        told = [part for part in parts if part]
        heading = f"# What is remembered in {self._context.caller.space!r}"
        return "\n\n".join([heading, *(told or ["Nothing yet."])]) + "\n"

    def _section(self, tx: Transaction, heading: str, types: tuple[str, ...], most: int) -> str:
        half_life = self._context.tuning.half_life
        filter = Filter(types=types)
        total = tx.memories.count(filter, half_life=half_life)
        if not total:
            return ""
        found = tx.memories.find(filter, order="importance", limit=most * 2, half_life=half_life)
        current = [memory for memory in found if memory.superseded_at is None][:most]
        return "\n".join([f"## {heading} - {len(current)} of {total}", "", *map(_line, current)])

    def _entities(self, tx: Transaction) -> str:
        total = tx.entities.count()
        if not total:
            return ""
        newest = tx.entities.find(
            type=None, status=None, limit=MOST_ENTITIES, offset=max(0, total - MOST_ENTITIES)
        )
        names = ", ".join(f"{entity.name} ({entity.type})" for entity in reversed(newest))
        return f"## Entities - {len(newest)} of {total}\n\n{names}"


def _line(memory: Memory) -> str:
    return f"- {shortened(memory.content, LINE)} ({memory.created_at:%Y-%m-%d})"
