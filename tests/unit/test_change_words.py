"""A change is told in a sentence that its owner understands."""

from typing import Any

import pytest

from mcp_memory.text.change_words import change_in_words
from mcp_memory.text.preview import shortened


@pytest.mark.parametrize(
    ("counts", "payload", "sentence"),
    [
        ({"memory_created": 1}, {"content": "tea is hot"}, "remembered the memory “tea is hot”"),
        (
            {"memory_created": 1, "entity_created": 2, "entity_updated": 2},
            {"content": "tea"},
            "remembered 1 memory, created 2 entities",
        ),
        ({"memory_deleted": 3}, {"id": "x"}, "deleted 3 memories"),
        ({"memory_deleted": 1}, {"id": "x"}, "deleted 1 memory"),
        ({"memory_forgotten": 1, "memory_deleted": 1}, {"preview": "tea"}, "forgot the memory “tea”"),
        ({"memory_restored": 1, "memory_created": 1}, {"preview": "tea"}, "restored the memory “tea”"),
        (
            {"memories_merged": 2, "memory_updated": 2, "memory_deleted": 5, "consolidation_complete": 1},
            {},
            "merged 2 groups of equal memories",
        ),
        (
            {"relation_ended": 1},
            {"source": "Alice", "type": "works_at", "target": "Acme"},
            "ended the relation “Alice works_at Acme”",
        ),
        ({"entity_deleted": 1, "memory_deleted": 4}, {"name": "Alice"}, "deleted the entity “Alice”"),
        (
            {"memory_updated": 1},
            {"id": "x", "changes": {"content": "tea is cold"}},
            "changed the memory “tea is cold”",
        ),
        (
            {"memory_updated": 1},
            {"id": "x", "changes": {"tags": ["a"], "is_sure": True}},
            "changed 1 memory: tags, is sure",
        ),
        ({"change_undone": 1, "memory_created": 3}, {"act": "x"}, "undid a change"),
        ({"something_new": 1}, {}, "something new"),
    ],
)
def test_a_change_in_words(counts: dict[str, int], payload: dict[str, Any], sentence: str) -> None:
    assert change_in_words(counts, next(iter(counts)), payload) == sentence


def test_a_preview_is_one_short_line() -> None:
    assert shortened("one\n two\tthree ") == "one two three"
    assert shortened("word " * 40, 20) == "word word word word…"
    assert len(shortened("x" * 100, 20)) == 20
