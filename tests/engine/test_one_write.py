"""Storing a memory takes one read and one write, and embeds nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.inputs import NewEntity
from tests.fakes import HashEmbedder


@pytest.fixture
def transactions(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many transactions of each kind were opened."""
    counts: Counter[str] = Counter()
    database = engine._context.store.database

    def counted(name: str) -> Callable[..., Any]:
        own = getattr(database, name)

        def opened(*given: Any, **named: Any) -> Any:
            counts[name] += 1
            return own(*given, **named)

        return opened

    for name in ("read", "write"):
        monkeypatch.setattr(database, name, counted(name))
    return counts


@pytest.mark.parametrize("how", ["remember", "save"])
def test_a_memory_is_stored_in_one_read_and_one_write(
    engine: Engine, transactions: Counter[str], how: str
) -> None:
    engine.memories.remember(NewMemory(content="the first memory chooses the model"))
    transactions.clear()
    store = engine.memories.remember if how == "remember" else engine.memories.save
    stored = store(NewMemory(content="the door is green", entity_names=("House",)))
    assert (stored.described.entities, stored.described.effective_confidence) == (("House",), 1.0)
    assert transactions == {"read": 1, "write": 1}


def test_storing_waits_for_no_other_texts(engine: Engine, embedder: HashEmbedder) -> None:
    engine.graph.create_entities([NewEntity(name="House", observations=tuple(map(str, range(50))))])
    engine.memories.remember(NewMemory(content="the door is green"))
    assert embedder.seen == ["the door is green"]
