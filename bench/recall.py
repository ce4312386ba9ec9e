"""What recall costs beside the embedding of its query, at ten and at a hundred thousand memories.

    python bench/recall.py [--rows 10000 100000] [--folder FOLDER]

Memories are sentences of words as frequent as in language (Zipf), with vectors around random topics.
CPU time, median and 95th percentile over the queries; the disk is waited for only by `store`.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mcp_memory.embedding import ModelCard, Purpose
from mcp_memory.engine import Context, Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.scheduled_maintenance import ScheduledMaintenance
from mcp_memory.events import MemoryCreated
from mcp_memory.model import DEFAULT_IMPORTANCE, GENERIC_KIND, EmbeddingModel, Filter
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.database import SqliteDatabase
from mcp_memory.wiring import new_id

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DIMENSIONS = 384
TOPICS = 500
WORDS = 30_000
BATCH = 1000
QUERIES = 60
TYPES = tuple(DEFAULT_IMPORTANCE)

Act = Callable[[Engine, str], object]

ACTS: dict[str, Act] = {
    "recall keyword": lambda engine, text: engine.recall.recall(text, mode="keyword"),
    "recall semantic": lambda engine, text: engine.recall.recall(text, mode="semantic"),
    "recall hybrid": lambda engine, text: engine.recall.recall(text),
    "recall hybrid, one tag of 100": lambda engine, text: engine.recall.recall(
        text, filter=Filter(tags=("tag7",))
    ),
    "recall hybrid, confidence": lambda engine, text: engine.recall.recall(
        text, filter=Filter(min_confidence=0.1)
    ),
    "recall hybrid, page 5": lambda engine, text: engine.recall.recall(text, offset=80),
    "agent hybrid": lambda engine, text: engine.recall.recall_for_agent(text),
    "agent recent": lambda engine, text: engine.recall.recall_for_agent(mode="recent"),
    "agent important": lambda engine, text: engine.recall.recall_for_agent(mode="important"),
    "agent typed, most accessed": lambda engine, text: engine.recall.recall_for_agent(
        mode="typed", filter=Filter(types=("todo",)), sort_by="most_accessed"
    ),
    "store": lambda engine, text: engine.memories.remember(NewMemory(content=f"{text} {new_id()}")),
}


class TopicEmbedder:
    """Texts of one topic, which is their first word, lie around one point."""

    def __init__(self) -> None:
        self.card = ModelCard(name="topics", dimensions=DIMENSIONS, fingerprint="topics")
        self._centres = _unit(np.random.default_rng(1).normal(size=(TOPICS, DIMENSIONS)))

    def embed(self, texts: Sequence[str], purpose: Purpose) -> NDArray[np.float32]:
        return np.stack([self._around(text) for text in texts])

    def _around(self, text: str) -> NDArray[np.float32]:
        topic = int(text.split()[0].removeprefix("topic"))
        noise = np.random.default_rng(abs(hash(text)) % 2**32).normal(size=DIMENSIONS)
        return _unit(self._centres[topic] + 0.8 * noise / np.sqrt(DIMENSIONS))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--folder", type=Path, help="where to keep databases between runs")
    options = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as temporary:
        for count in options.rows:
            engine = _loaded((options.folder or Path(temporary)) / f"recall-{count}.db", count, console)
            _measure(engine, count, console)
            engine.close()


def _loaded(path: Path, count: int, console: Console) -> Engine:
    is_new = not path.exists()
    context = Context(
        store=Store(SqliteDatabase(path, "NORMAL")).open(),
        embedder=TopicEmbedder(),
        clock=lambda: NOW,
        new_id=new_id,
    )
    engine = Engine(context)
    if is_new:
        _fill(context, engine, count, console)
        for _ in ScheduledMaintenance(context).tend_index(lambda: True):
            pass
    return engine


def _fill(context: Context, engine: Engine, count: int, console: Console) -> None:
    sentences = Sentences(2)
    engine.indexing.meaning("topic0", "memory")  # makes the model the database's own
    model = engine.indexing.model()
    assert model is not None
    for start in track(range(0, count, BATCH), f"{count:,} memories", console=console):
        texts = [sentences.sentence() for _ in range(min(BATCH, count - start))]
        _add(context, model, start, texts)


def _add(context: Context, model: EmbeddingModel, start: int, texts: Sequence[str]) -> None:
    assert isinstance(context.embedder, TopicEmbedder)
    vectors = context.embedder.embed(texts, "passage")
    with context.store.write(context.caller, NOW - timedelta(minutes=1_000_000 - start), new_id()) as tx:
        for number, (text, vector) in enumerate(zip(texts, vectors, strict=True), start=start):
            type = TYPES[number % len(TYPES)]
            memory = tx.memories.add(
                id=new_id(), content=text, type=type, kind=GENERIC_KIND, origin="memory",
                importance=number % 97 / 96, tags=(f"tag{number % 100}",),
            )  # fmt: skip
            tx.indexes.supply(model, "memory", memory.seq, vector.tobytes())
        tx.journal.record(MemoryCreated(memory.id, memory.content, memory.type))


class Sentences:
    """Words as often as language has them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        letters = random.Random(0)
        self._words = ["".join(letters.choices("abcdefghijklmnoprstuvw", k=7)) for _ in range(WORDS)]
        self._weights = np.cumsum(1 / np.arange(10, WORDS + 10)).tolist()

    def sentence(self, shortest: int = 8, longest: int = 30) -> str:
        length = self._random.randint(shortest, longest)
        words = self._random.choices(self._words, cum_weights=self._weights, k=length)
        return f"topic{self._random.randrange(TOPICS)} {' '.join(words)}"


def _measure(engine: Engine, count: int, console: Console) -> None:
    sentences = Sentences(3)
    queries = [sentences.sentence(5, 7) for _ in range(QUERIES)]
    table = Table("act", "median ms", "95 % ms", title=f"{count:,} memories")
    for name, act in ACTS.items():
        act(engine, queries[0])
        taken = sorted(_milliseconds(act, engine, query) for query in queries)
        table.add_row(name, f"{taken[len(taken) // 2]:.1f}", f"{taken[int(len(taken) * 0.95)]:.1f}")
    console.print(table)


def _milliseconds(act: Act, engine: Engine, query: str) -> float:
    started = time.process_time()
    act(engine, query)
    return (time.process_time() - started) * 1000


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return unit


if __name__ == "__main__":
    main()
