"""Removes sentences about tools that are not offered."""

from __future__ import annotations

import re
from collections.abc import Collection

ALL_NAMES = frozenset({
    "add_observations", "add_reflection", "analyze_entity_split", "consolidate_memories",
    "consolidation_report", "create_entities", "create_relations", "delete_entities", "delete_memories",
    "delete_observations", "delete_relations", "end_relation", "execute_entity_split",
    "find_duplicate_observations", "find_split_candidates", "get_entity_graph", "get_memory_stats",
    "list_changes", "memory_delete", "memory_history", "memory_recall", "memory_save",
    "merge_memories", "migrate",
    "open_nodes", "propose_entity_split", "read_graph", "recall_memories", "restore_memory",
    "search_nodes", "search_reflections", "search_semantic", "store_memory", "undo_change",
    "update_memory",
})  # fmt: skip
"""Every tool but those of the anthropic set, which is offered alone. A test compares it with the sets."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")


def about_offered(text: str, offered: Collection[str]) -> str:
    """The text without the sentences that name a tool which is not offered."""
    if not _missing(text, offered):
        return text
    paragraphs = []
    for paragraph in text.split("\n\n"):
        said = [one for one in _SENTENCE.split(" ".join(paragraph.split())) if not _missing(one, offered)]
        paragraphs.append(" ".join(said))
    return "\n\n".join(filter(None, paragraphs))


def _missing(text: str, offered: Collection[str]) -> set[str]:
    return {name for name in _NAME.findall(text) if name in ALL_NAMES and name not in offered}
