"""Recall on a small fixed corpus does not get worse unnoticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from mcp_memory.embedding import Embedder
from mcp_memory.engine import Context, Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.recall import Answer
from mcp_memory.ranking.metrics import recall_at
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.fakes import Clock, ids
from tests.quality.corpus import MEMORIES, QUESTIONS

Way = Callable[[Engine, str], Answer]

# A little below what was measured; the questions were written before it was.
FLOORS: dict[str, tuple[Way, float]] = {
    "keyword": (lambda engine, text: engine.recall.recall(text, mode="keyword"), 0.72),
    "hybrid": (lambda engine, text: engine.recall.recall(text), 0.92),
    "agent": (lambda engine, text: engine.recall.recall_for_agent(text), 0.92),
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def life(
    tmp_path_factory: pytest.TempPathFactory, minilm: Embedder
) -> Iterator[tuple[Engine, dict[str, str]]]:
    """The corpus, stored far enough apart that no memory helps the next, and the ids it was given."""
    database: Path = tmp_path_factory.mktemp("life") / "memory.db"
    clock = Clock()
    engine = Engine(
        Context(
            store=Store(SqliteDatabase(database, "NORMAL")).open(),
            embedder=minilm,
            clock=clock,
            new_id=ids(),
        )
    )
    kept = {}
    for key, text in MEMORIES.items():
        kept[key] = engine.memories.remember(NewMemory(content=text)).memory.id
        clock.now += timedelta(hours=2)
    yield engine, kept
    engine.close()


def recall_at_5(engine: Engine, kept: dict[str, str], way: Way) -> float:
    shares = []
    for question, keys in QUESTIONS:
        found = [hit.memory.id for hit in way(engine, question).hits]
        shares.append(recall_at(5, found, {kept[key] for key in keys}))
    return sum(shares) / len(shares)


def test_no_two_memories_of_the_corpus_were_merged(life: tuple[Engine, dict[str, str]]) -> None:
    _, kept = life
    assert len(set(kept.values())) == len(MEMORIES)


@pytest.mark.parametrize("name", FLOORS)
def test_recall_stays_above_its_floor(life: tuple[Engine, dict[str, str]], name: str) -> None:
    way, floor = FLOORS[name]
    assert recall_at_5(*life, way) >= floor


def test_both_together_find_more_than_words_alone(life: tuple[Engine, dict[str, str]]) -> None:
    keyword, hybrid, agent = (recall_at_5(*life, FLOORS[name][0]) for name in ("keyword", "hybrid", "agent"))
    assert hybrid > keyword
    assert agent >= keyword
