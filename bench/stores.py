"""Stores of a given size for benchmarks, made once and copied.

    python -m bench.stores 1000 10000 100000

Every entity has three observations and one relation. Observations are words of the standard library's
documentation, as frequent as they are there. Vectors are mixtures of two from a pool of 3,000 observations
that the model has embedded: embedding 300,000 texts would take hours, and neither the disk nor a search can
tell the difference.
"""

from __future__ import annotations

import ast
import itertools
import json
import random
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.embedding import Embedder, NoModel
from mcp_memory.engine import pacing

FOLDER = Path(__file__).parents[1] / ".tools" / "bench"
POOL = 3_000
OBSERVATIONS = 3
Json = dict[str, Any]
Vectors = npt.NDArray[np.float32]


@cache
def words() -> list[str]:
    """Words of the standard library's documentation, each as often as it is used there."""
    folder = Path(json.__file__).parents[1]
    modules = sorted(folder.glob("[a-z]*.py"))[:150]
    texts = (text for module in modules for text in docstrings(module))
    return [word for text in texts for word in re.findall(r"\b[a-z]{2,}\b", text)]


def docstrings(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text("utf-8", "replace"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


def sentence(dice: random.Random) -> str:
    return " ".join(dice.choices(words(), k=9))


def entity(number: int, dice: random.Random) -> Json:
    texts = [f"{sentence(dice)} fact {number}-{n}" for n in range(OBSERVATIONS)]
    kind = dice.choice(("Person", "Project", "Tool", "Place", "Decision"))
    return {"name": f"Entity {number}", "entityType": kind, "observations": texts}


def entities(size: int) -> Iterator[Json]:
    dice = random.Random(7)
    return (entity(number, dice) for number in range(size))


def graph_lines(size: int) -> Iterator[str]:
    for described in entities(size):
        yield json.dumps({"type": "entity", **described}, separators=(",", ":"))
    dice = random.Random(8)
    for number in range(size):
        ends = {"from": f"Entity {number}", "to": f"Entity {dice.randrange(size)}", "relationType": "knows"}
        yield json.dumps({"type": "relation", **ends}, separators=(",", ":"))


def embedder() -> Embedder:
    found = wiring.embedder(load(environ={}))
    if isinstance(found, NoModel):
        sys.exit(found.reason)
    return found


@cache
def pool() -> Vectors:
    """What the model makes of the first observations; kept, for it takes a minute."""
    kept = FOLDER / "pool.npy"
    if not kept.exists():
        texts = [text for one in entities(POOL // OBSERVATIONS) for text in one["observations"]]
        FOLDER.mkdir(parents=True, exist_ok=True)
        np.save(kept, embedder().embed(texts, "passage"))
    found: Vectors = np.load(kept)
    return found


def vectors(count: int, seed: int = 1) -> Vectors:
    """So many unit vectors that lie as those of real texts do."""
    dice = np.random.default_rng(seed)
    one, other = pool()[dice.integers(0, len(pool()), (2, count))]
    share = dice.uniform(0.5, 1, (count, 1)).astype(np.float32)
    mixed = share * one + (1 - share) * other
    unit: Vectors = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return unit


def graph_file(size: int) -> Path:
    """The graph as the official server keeps it."""
    file = FOLDER / f"graph-{size}.jsonl"
    if not file.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(line + "\n" for line in graph_lines(size)))
    return file


def database(size: int) -> Path:
    """The same graph in a database of ours, with vectors and everything that background work makes."""
    file = FOLDER / f"graph-{size}.db"
    if not file.exists():
        draft = file.with_name(file.name + ".draft")
        for old in FOLDER.glob(draft.name + "*"):
            old.unlink() if old.is_file() else shutil.rmtree(old)
        _fill(draft, graph_file(size))
        draft.rename(file)
    return file


def copied(size: int, folder: Path) -> Path:
    """A copy of the database that may be changed."""
    return Path(shutil.copyfile(database(size), folder / "memory.db"))


def _fill(path: Path, graph: Path) -> None:
    url = f"sqlite:///{path}"
    # Nobody waits for it, and a draft that a power cut spoils is made again: pieces may be long, and the disk
    # need not be asked after each. At 100,000 entities that is minutes.
    given = {"database_url": url, "embedding_provider": "none", "durability": "normal"}
    engine = wiring.build(load(given, environ={}))
    with mock.patch.object(pacing, "AIM", 1.0):
        engine.transfer.import_anthropic(str(graph))
    engine.close()
    fill_vectors(url)


def fill_vectors(url: str) -> None:
    """Vectors for whatever waits for one, as if the model had made them, and the indexes of all."""
    engine = wiring.build(load({"database_url": url}, environ={}))
    context = engine._context  # the bench reaches inside to stand in for the model
    model = engine.indexing.model()
    assert model is not None
    with context.reading() as tx:
        made = iter(vectors(tx.indexes.count_pending()))
    for owner in ("entity", "memory"):
        while True:
            with context.noting() as tx:
                waiting = tx.indexes.pending(owner, 2_000)
                tx.indexes.settle(model, [(item, next(made).tobytes()) for item in waiting])
            if not waiting:
                break
    kept = context.store.database
    for _ in itertools.chain(
        kept.words.maintain(kept), kept.vectors.maintain(kept, model.id, model.dimensions)
    ):
        pass
    engine.close()


def main(sizes: Sequence[str]) -> None:
    for size in map(int, sizes):
        begun = time.perf_counter()
        file = database(size)
        print(f"{file}: {file.stat().st_size / 1e6:.0f} MB, {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
