"""How long one turn of a writer is, in processor time: for so long another client has to wait for it.

    python -m bench.turns [--keep docs/benchmarks]

The same work as in bench/waits.py, done in one process on a store of 10,000 entities, 30,000 observations.
Processor time says the same on a busy machine as on a quiet one. Waiting for the disk comes on top.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

from bench import stores, waits
from bench.results import Goal, Json, keep, machine, timing

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.engine import Engine
from mcp_memory.inputs import NewEntity
from mcp_memory.storage.sqlite.connection import SqliteConnection
from mcp_memory.storage.sqlite.database import SqliteDatabase

GOAL = 250
REEMBEDDED = 20
"""Batches; all would take many minutes."""


def bulk_write(engine: Engine, folder: Path) -> None:
    dice = random.Random(1)
    for call in range(20):
        texts = [[f"{stores.sentence(dice)} {call}-{n}-{k}" for k in range(10)] for n in range(50)]
        made = [
            NewEntity(name=f"Bulk {call}-{n}", type="Note", observations=tuple(each))
            for n, each in enumerate(texts)
        ]
        engine.graph.create_entities(made)


def importing(engine: Engine, folder: Path) -> None:
    lines = (line.replace('"Entity ', '"Imported ').encode() for line in stores.graph_lines(5000))
    engine.transfer.import_anthropic(lines)


def building_indexes(engine: Engine, folder: Path) -> None:
    database, model = engine._context.store.database, engine.indexing.model()
    assert model is not None
    for _ in database.words.maintain(database):
        pass
    for _ in database.vectors.maintain(database, model.id, model.dimensions):
        pass


def reembedding(engine: Engine, folder: Path) -> None:
    class Enough(Exception):
        pass

    def until_enough(doing: str, done: int, total: int | None) -> None:
        if done >= REEMBEDDED * 32:
            raise Enough

    with suppress(Enough):
        engine.reembedding.run(until_enough)


def consolidating(engine: Engine, folder: Path) -> None:
    engine.maintenance.consolidate(0.8)


def backing_up(engine: Engine, folder: Path) -> None:
    engine._context.store.database.back_up(folder / "copy.db")


WORK: dict[str, tuple[Callable[[Engine, Path], None], int]] = {
    "bulk write: 20 calls of 50 entities × 10 observations": (bulk_write, 10_000),
    "import of 5,000 entities with 15,000 observations": (importing, 10_000),
    "building the indexes of vectors and substrings": (building_indexes, 10_000),
    "reembedding": (reembedding, 10_000),
    "consolidation of 3,000 memories": (consolidating, 1_000),
    "backup": (backing_up, 10_000),
}
"""What is done, and the number of entities in the store."""


@contextmanager
def noted_turns() -> Iterator[list[float]]:
    """Milliseconds of processor time of each write transaction, with its commit and checkpoint."""
    turns: list[float] = []
    whole = SqliteDatabase.write

    @contextmanager
    def write(self: SqliteDatabase, **options: Any) -> Iterator[SqliteConnection]:
        begun = time.thread_time()
        with whole(self, **options) as connection:
            yield connection
        turns.append((time.thread_time() - begun) * 1000)

    with mock.patch.object(SqliteDatabase, "write", write):
        yield turns


def measured(names: Sequence[str]) -> Json:
    found: Json = {}
    for name in names:
        work, size = WORK[name]
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            stores.copied(size, folder)
            if work is building_indexes:
                waits.without_indexes(folder)
            if work is reembedding:
                waits.of_another_model(folder)
            engine = wiring.build(load({"database_url": f"sqlite:///{folder}/memory.db"}, environ={}))
            with noted_turns() as turns:
                work(engine, folder)
            engine.close()
        found[name] = timing(turns or [0.0]) | {"count": len(turns)}
        print(name, found[name], flush=True)
    return found


def goals(found: Json) -> list[Goal]:
    slowest = max(found, key=lambda name: float(found[name]["worst"]))
    worst = found[slowest]["worst"]
    return [
        Goal(
            "the longest turn of a writer, for which others wait",
            f"{worst:.0f} ms of processor time ({slowest})",
            f"≤ {GOAL} ms",
            worst <= GOAL,
        )
    ]


def page(found: Json) -> str:
    lines = [
        "# The turns of writers",
        "",
        f"Made by `python -m bench.turns`: {machine()} Milliseconds of processor time that one transaction "
        "takes, with its commit and checkpoint. For so long another client waits for it, and for the disk on "
        "top; [waiting for others](waits.md) measures what a client sees.",
        "",
        "| work | turns | p50 | p95 | longest |",
        "|---|--:|--:|--:|--:|",
    ]
    for name in WORK:
        if each := found.get(name):
            cells = [f"{each[part]:.0f}" for part in ("p50", "p95", "worst")]
            lines.append(f"| {name} | {each['count']:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keep", type=Path, help="the folder of pages")
    options.add_argument("--only", choices=list(WORK), nargs="+", default=list(WORK))
    given = options.parse_args()
    found = measured(given.only)
    if given.keep:
        keep(given.keep, "turns", found, goals, page)


if __name__ == "__main__":
    main()
