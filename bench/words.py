"""What it costs and saves to begin a search with the rarest words only, on both databases.

    python -m bench.words [--rows 100000 1000000] [--queries 100]

Texts are those of bench/postgres.py. Each question is asked twice: as the product does it, and with all its
words looked for (storage/telling_words.py). Wall time.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence

from bench.postgres import NOW, Texts, fill, opened, percentiles, running

from mcp_memory.storage import Store, term_selection
from mcp_memory.storage.database import Allowed
from mcp_memory.text.words import query_terms

BEST, POOL = 10, 100
"""How many of the results are compared, and how many are asked for, as recall does."""

ALL = 10**12


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--queries", type=int, default=100)
    options = parser.parse_args()
    for rows in options.rows:
        print(f"\n{rows:,} memories", flush=True)
        texts = Texts(rows, options.queries)
        with tempfile.TemporaryDirectory() as folder, running() as server:
            measure("SQLite", opened(f"sqlite:///{folder}/memory.db"), texts)
            measure("PostgreSQL", opened(server.url("postgres")), texts)


def measure(engine: str, store: Store, texts: Texts) -> None:
    database = store.database
    with database.words.bulk_load(database):
        fill(store, texts)
    list(database.words.maintain(database))
    asked(store, texts.questions)  # so that neither way pays for reading the file
    rarest, rarest_seconds = asked(store, texts.questions)
    most, term_selection.MOST_ROWS = term_selection.MOST_ROWS, ALL
    every, every_seconds = asked(store, texts.questions)
    term_selection.MOST_ROWS = most
    shared = sum(len(set(one) & set(other)) for one, other in zip(rarest, every, strict=True))
    print(
        f"  {engine:11} p50 / p95 ms: {percentiles(rarest_seconds)}, all words {percentiles(every_seconds)};"
        f" of the best {BEST} of all words found: {shared / sum(map(len, every)):.3f}",
        flush=True,
    )
    store.close()


def asked(store: Store, questions: Sequence[str]) -> tuple[list[list[int]], list[float]]:
    """The best for each question, and how long each took."""
    everything = Allowed("o.space_id = :space_id", {"space_id": 1})
    found, seconds = [], []
    with store.read("default", NOW) as tx:
        for question in questions:
            start = time.perf_counter()
            hits = tx.indexes.matching("memory", query_terms(question), everything, POOL)
            seconds.append(time.perf_counter() - start)
            found.append([seq for seq, _ in hits[:BEST]])
    return found, seconds


if __name__ == "__main__":
    main()
