"""What finding the nearest vectors costs on SQLite, and how many of the ten nearest it finds.

python bench/vectors.py [--rows 1000 10000 100000] [--data real mixture] [--folder FOLDER]

`real` are docstrings of the installed packages as the default model embeds them; beyond their number,
mixtures of two with noise of the same shape. `mixture` are skewed clusters at random. CPU time, median.
"""

import argparse
import ast
import random
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw
import numpy as np
import numpy.typing as npt

from mcp_memory.embedding import NoModel, open_embedder
from mcp_memory.model import Filter
from mcp_memory.storage.filters import where
from mcp_memory.storage.queries import migrations
from mcp_memory.storage.sqlite import vectors as sqlite_vectors
from mcp_memory.storage.sqlite.database import SqliteDatabase

Vectors = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

T = TypeVar("T")

DIMENSIONS = 384
QUERIES = 100
TEXTS = 25_000
LIMIT = 30
NOW = datetime(2026, 1, 1, tzinfo=UTC)
VECTORS = sqlite_vectors.SqliteVectors()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--data", nargs="+", choices=("real", "mixture"), default=["real", "mixture"])
    parser.add_argument("--queries", type=int, default=QUERIES, help=f"at most {QUERIES}")
    parser.add_argument("--folder", type=Path, help="where to keep files and embedded texts between runs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        for data in options.data:
            for count in options.rows:
                vectors, queries = real(count, folder) if data == "real" else mixture(count)
                queries = queries[: options.queries]
                print(f"\n{data}, {count:,} vectors", flush=True)
                _measure_product(folder, vectors, queries)


def _measure_product(folder: Path, vectors: Vectors, queries: Vectors) -> None:
    """The product's own search, in one space and in a hundred, before and after its sketch is made."""
    kinds = np.random.default_rng(3).choice(["1", "10", "30", "100"], len(vectors), p=[0.01, 0.09, 0.2, 0.7])
    for spaces in (1, 100):
        path = folder / "vectors.db"
        _remove(path)
        with closing(SqliteDatabase(path, "NORMAL")) as database:
            written = _write(database, vectors, kinds, spaces)
            print(f"  {spaces} space(s): {written:.0f} µs a vector written, {_megabytes(path):.0f} MB")
            first = np.arange(len(vectors)) % spaces == 0
            searches: dict[str, tuple[Filter, Mask]] = {"no filter": (Filter(), first)}
            for passing in (("1", "10", "30"), ("1", "10"), ("1",)) if spaces == 1 else ():
                searches[f"{passing[-1]} % pass"] = (Filter(types=passing), np.isin(kinds, passing))
            for stage in ("compared", "sketched"):
                if stage == "sketched":
                    seconds, steps = _cpu(lambda: list(VECTORS.maintain(database, 1, DIMENSIONS)))
                    if not steps:
                        break
                    print(f"    {steps[-1]}: {seconds:.1f} CPU s, {_megabytes(path):.0f} MB")
                for name, (filter, mask) in searches.items():
                    _report(f"{stage}, {name}", vectors, queries, mask, _product_search(database, filter))


def _write(database: SqliteDatabase, vectors: Vectors, kinds: npt.NDArray[np.str_], spaces: int) -> float:
    """CPU microseconds a vector, in the batches in which the product embeds."""
    database.migrate(migrations("sqlite"))
    with database.write() as connection:
        connection.raw.execute(
            "INSERT INTO embedding_model (seq, name, dimensions, fingerprint, state, created_at)"
            " VALUES (1, 'bench', 384, '', 'active', 0)"
        )
        connection.raw.executemany(
            "INSERT OR IGNORE INTO space VALUES (?, ?, 0)", [(n, f"space {n}") for n in range(1, spaces + 1)]
        )
        connection.raw.executemany(
            "INSERT INTO memory (seq, space_id, id, content, content_hash, type, kind, tags, confidence,"
            " importance, metadata, origin, created_at, updated_at, access_count, version)"
            " VALUES (?1, ?2, ?1, ?3, ?1, ?4, '', '[]', 1, 1, '{}', 'memory', 0, 0, 0, 1)",
            ((n + 1, n % spaces + 1, "content " * 25, str(kind)) for n, kind in enumerate(kinds)),
        )
    rows = [(n + 1, n % spaces + 1, vector.tobytes()) for n, vector in enumerate(vectors)]

    def put() -> None:
        for start in range(0, len(rows), 32):
            with database.write() as connection:
                VECTORS.put(connection, 1, "memory", rows[start : start + 32])

    return _cpu(put)[0] / len(rows) * 1e6


def _product_search(database: SqliteDatabase, filter: Filter) -> Callable[[bytes], list[int]]:
    allowed = where(filter, 1, NOW, timedelta(days=30))

    def search(query: bytes) -> list[int]:
        with database.read() as connection:
            return [seq for seq, _ in VECTORS.nearest(connection, 1, "memory", query, 1, allowed, LIMIT)]

    return search


def _report(
    name: str, vectors: Vectors, queries: Vectors, mask: Mask, search: Callable[[bytes], list[int]]
) -> None:
    numbers = np.flatnonzero(mask) + 1
    cosines = queries @ vectors[mask].T
    ten = numbers[np.argsort(-cosines, axis=1)[:, :10]]
    found, milliseconds = [], []
    for query in queries:
        seconds, seqs = _cpu(partial(search, query.tobytes()))
        found.append(seqs[:10])
        milliseconds.append(seconds * 1e3)
    recall = np.mean(
        [len(set(seqs) & set(best)) / len(best) for seqs, best in zip(found, ten.tolist(), strict=True)]
    )
    print(f"    {name:34} {np.median(milliseconds):8.2f} CPU ms  {recall:.3f} recall@10")


def _cpu(act: Callable[[], T]) -> tuple[float, T]:
    started = time.process_time()
    result = act()
    return time.process_time() - started, result


def _megabytes(path: Path) -> float:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size / 1e6


def _remove(path: Path) -> None:
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)


def mixture(count: int) -> tuple[Vectors, Vectors]:
    """A thousand clusters of twenty, some far bigger than others, in few of the dimensions."""
    shape = np.random.default_rng(7)
    centres = shape.standard_normal((1000, 1, DIMENSIONS), np.float32)
    centres = (centres + 0.7 * shape.standard_normal((1000, 20, DIMENSIONS), np.float32)).reshape(
        -1, DIMENSIONS
    )
    weights = shape.permutation(np.arange(1, len(centres) + 1) ** -0.5)
    spectrum = np.arange(1, DIMENSIONS + 1, dtype=np.float32) ** -0.35
    turn = np.linalg.qr(shape.standard_normal((DIMENSIONS, DIMENSIONS)))[0].astype(np.float32)

    def made(random: np.random.Generator, size: int) -> Vectors:
        chosen = centres[random.choice(len(centres), size, p=weights / weights.sum())]
        return _unit((chosen + 0.6 * random.standard_normal(chosen.shape, np.float32)) * spectrum @ turn)

    return _in_parts(made, count, seed=1), made(np.random.default_rng(2), QUERIES)


def real(count: int, folder: Path) -> tuple[Vectors, Vectors]:
    """Docstrings as the model embeds them, beyond their number mixtures of two with noise; and queries."""
    texts = _embedded(folder)
    queries, texts = texts[:QUERIES], texts[QUERIES:]
    if count <= len(texts):
        return texts[:count], queries
    spread = np.linalg.cholesky(np.cov(texts.T) + 1e-6 * np.eye(DIMENSIONS)).astype(np.float32)

    def made(random: np.random.Generator, size: int) -> Vectors:
        share = random.uniform(0.5, 1, (size, 1)).astype(np.float32)
        one, other = texts[random.integers(0, len(texts), (2, size))]
        noise = random.standard_normal((size, DIMENSIONS), np.float32) @ spread.T
        return _unit(share * one + (1 - share) * other + 0.35 * noise)

    return _in_parts(made, count, seed=1), queries


def _in_parts(made: Callable[[np.random.Generator, int], Vectors], count: int, seed: int) -> Vectors:
    random = np.random.default_rng(seed)
    sizes = [100_000] * (count // 100_000) + [count % 100_000]
    return np.concatenate([made(random, size) for size in sizes if size])


def _unit(vectors: Vectors) -> Vectors:
    shortened: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return shortened


def _embedded(folder: Path) -> Vectors:
    kept = folder / "texts.npy"
    if kept.exists():
        vectors: Vectors = np.load(kept)
        return vectors
    embedder = open_embedder("local", "all-MiniLM-L6-v2", DIMENSIONS, models_dir=folder, cache_dir=folder)
    if isinstance(embedder, NoModel):
        sys.exit(embedder.reason)
    texts = sorted(set(_docstrings()))
    random.Random(0).shuffle(texts)
    print(f"embedding {min(TEXTS, len(texts)):,} docstrings, once")
    vectors = embedder.embed(texts[:TEXTS], "passage")
    np.save(kept, vectors)
    return vectors


def _docstrings() -> Iterator[str]:
    for place in ("stdlib", "purelib"):
        for file in sorted(Path(sysconfig.get_path(place)).rglob("*.py")):
            try:
                nodes = list(ast.walk(ast.parse(file.read_text())))
            except (SyntaxError, ValueError):
                continue
            for node in nodes:
                if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                    text = " ".join((ast.get_docstring(node) or "").split())[:300]
                    if len(text) > 40:
                        yield text


if __name__ == "__main__":
    main()
