"""What consolidating and pruning cost, and that consolidating finds what was planted.

    python bench/consolidation.py [--sizes 1000 10000 50000] [--folder FOLDER]

Each memory is a sentence of random words; one in twenty has a twin that says the same with other fillers, and
one in twenty a near miss with another number. A vector is the sum of random vectors of its words, so that a
cosine tells how many words two sentences share. A database in FOLDER is kept, and used again as it is.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mcp_memory.embedding import ModelCard, Purpose
from mcp_memory.engine import Context, Engine, Tuning
from mcp_memory.events import ArchiveImported
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.database import SqliteDatabase

DIMENSIONS = 384
VOCABULARY = 20_000
BATCH = 1000
START = datetime(2026, 1, 1, tzinfo=UTC)

T = TypeVar("T")


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


class SummedWords:
    """An embedder without a model."""

    card = ModelCard(name="summed words", dimensions=DIMENSIONS, fingerprint="summed-words")

    def embed(self, texts: Sequence[str], purpose: Purpose) -> NDArray[np.float32]:
        return np.stack([self._row(text) for text in texts])

    def _row(self, text: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = np.sum([_word(word) for word in text.split()], axis=0)
        unit: NDArray[np.float32] = row / np.linalg.norm(row)
        return unit


@cache
def _word(word: str) -> NDArray[np.float32]:
    weight = 0.3 if word in ("the", "a") else 1.0
    noise = np.random.default_rng(crc32(word.encode())).standard_normal(DIMENSIONS).astype(np.float32)
    scaled: NDArray[np.float32] = noise * np.float32(weight)
    return scaled


def sentences(count: int) -> Iterator[str]:
    dice = random.Random(7)
    number = 0
    while number < count:
        words = [f"w{dice.randrange(VOCABULARY)}x" for _ in range(9)]
        kind = dice.random()
        yield " ".join(words)
        number += 1
        if kind < 0.05:
            yield " ".join([words[0], "the", *words[1:]])
            number += 1
        elif kind < 0.1:
            yield " ".join([*words, str(dice.randrange(10_000))])
            number += 1


def fill(engine: Engine, count: int) -> None:
    waiting = list(sentences(count))
    for start in range(0, len(waiting), BATCH):
        with engine._context.writing() as tx:
            for content in waiting[start : start + BATCH]:
                tx.memories.add(
                    id=str(uuid4()),
                    content=content,
                    type="fact",
                    origin="memory",
                    kind="generic",
                    importance=0.5,
                )
            tx.journal.record(ArchiveImported())


def measured(what: str, work: Callable[[], T]) -> T:
    started = time.perf_counter()
    result = work()
    print(f"  {what}: {time.perf_counter() - started:.1f} s", flush=True)
    return result


def tend(engine: Engine) -> None:
    model = engine.indexing.model()
    assert model is not None
    database = engine._context.store.database
    for _ in database.vectors.maintain(database, model.id, model.dimensions):
        pass


def run(path: Path, count: int) -> None:
    clock = Clock()
    with closing(SqliteDatabase(path, "NORMAL")) as database:
        store = Store(database).open()
        tuning = Tuning(prune_limit=1000)
        engine = Engine(
            Context(
                store=store, embedder=SummedWords(), clock=clock, new_id=lambda: str(uuid4()), tuning=tuning
            )
        )
        if not engine.analytics.stats().total_memories:
            measured("writing", lambda: fill(engine, count))
            measured("vectors", lambda: engine.indexing.catch_up("memory", 10**9))
            measured("index", lambda: tend(engine))
        clock.now += timedelta(hours=1)
        told: dict[str, Any] = {}
        started = time.perf_counter()

        def progress(doing: str, done: int, total: int | None) -> None:
            told[doing] = (done, total, round(time.perf_counter() - started, 1))

        found = measured(
            "consolidating all", lambda: engine.maintenance.consolidate(full=True, progress=progress)
        )
        print(f"    {told}")
        print(
            f"    {found.compared:,} compared, {len(found.clusters):,} clusters, {found.deleted:,} absorbed, "
            f"{len(found.apart):,} pairs kept apart"
        )
        clock.now += timedelta(hours=1)
        measured("consolidating again, nothing new", engine.maintenance.consolidate)
        if found.act:
            act = found.act
            measured("undoing the first run", lambda: engine.history.undo(act))
        clock.now += timedelta(days=400)
        pruned = measured("pruning a thousand", engine.maintenance.prune)
        if pruned.act:
            prune_act = pruned.act
            measured("undoing it", lambda: engine.history.undo(prune_act))
        measured("statistics", engine.analytics.overview)
        measured("growth and confidence", lambda: (engine.analytics.growth(), engine.analytics.confidence()))
        measured("listing changes", lambda: engine.history.recent(100))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 50_000])
    parser.add_argument("--folder", type=Path, help="where to keep the databases")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for size in options.sizes:
            print(f"{size:,} memories", flush=True)
            run((options.folder or Path(temporary)) / f"consolidation-{size}.db", size)


if __name__ == "__main__":
    main()
