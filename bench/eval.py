"""How well recall finds the memories that are known to answer a question.

    python bench/eval.py [FOLDER] [--memories FILE]

FOLDER holds `memories.jsonl` (id, text, tags, group) and `queries.jsonl` (text, relevant, group, category).
Every line becomes a memory in the space of its group, through the engine and with the default model. The
loaded database is kept in the temporary folder, so that only the first run waits for the model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from mcp_memory.embedding import Embedder, NoModel, open_embedder
from mcp_memory.engine import Context, Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.recall import Answer
from mcp_memory.model import Caller
from mcp_memory.ranking.metrics import ndcg_at, recall_at, reciprocal_rank
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.database import SqliteDatabase
from mcp_memory.wiring import new_id

DEFAULT_FOLDER = Path(__file__).parents[2] / "shared" / "data" / "locomo-dev"
DEEPEST = 20
NOW = datetime(2026, 1, 1, tzinfo=UTC)  # one moment for everything: this measures finding, not fading

Way = Callable[[Engine, str], Answer]

WAYS: dict[str, Way] = {
    "recall_memories keyword": lambda engine, text: engine.recall.recall(text, mode="keyword", limit=DEEPEST),
    "recall_memories semantic": lambda engine, text: engine.recall.recall(
        text, mode="semantic", limit=DEEPEST
    ),
    "recall_memories hybrid": lambda engine, text: engine.recall.recall(text, limit=DEEPEST),
    "memory_recall hybrid": lambda engine, text: engine.recall.recall_for_agent(text, limit=DEEPEST),
}


@dataclass(frozen=True)
class Query:
    text: str
    group: str
    category: str
    relevant: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """Of one query."""

    recall_5: float
    recall_10: float
    recall_20: float
    reciprocal_rank: float
    ndcg_10: float

    def __iter__(self) -> Iterator[float]:
        yield from (self.recall_5, self.recall_10, self.recall_20, self.reciprocal_rank, self.ndcg_10)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how well recall finds what answers a question.")
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--memories", default="memories.jsonl", help="the file of memories in the folder")
    chosen = parser.parse_args()
    memories = _lines(chosen.folder / chosen.memories)
    queries = [_query(line) for line in _lines(chosen.folder / "queries.jsonl")]
    console = Console()
    console.print(f"{chosen.folder.name}/{chosen.memories}: {len(memories)} memories, {len(queries)} queries")
    engine, kept = _loaded(memories, console)
    scores = {name: _scores(engine, way, queries, kept, name, console) for name, way in WAYS.items()}
    engine.close()
    _report(console, scores, queries)


def _loaded(memories: Sequence[dict[str, Any]], console: Console) -> tuple[Engine, dict[str, str]]:
    """An engine on a database that holds all memories, and by line id the id of the memory it became."""
    cache = Path(tempfile.gettempdir()) / "mcp-memory-eval"
    cache.mkdir(exist_ok=True)
    embedder = open_embedder("local", "all-MiniLM-L6-v2", 384, models_dir=cache, cache_dir=cache)
    if isinstance(embedder, NoModel):
        sys.exit(embedder.reason)
    name = hashlib.sha256(json.dumps([embedder.card.fingerprint, _schema(), memories]).encode()).hexdigest()
    database, ids = cache / f"{name[:16]}.db", cache / f"{name[:16]}.json"
    if not ids.exists():
        database.unlink(missing_ok=True)
        engine = _engine(database, embedder)
        ids.write_text(json.dumps(_load(engine, memories, console)))
        engine.close()
    return _engine(database, embedder), json.loads(ids.read_text())


def _engine(database: Path, embedder: Embedder) -> Engine:
    store = Store(SqliteDatabase(database, "NORMAL")).open()
    return Engine(Context(store=store, embedder=embedder, clock=lambda: NOW, new_id=new_id))


def _load(engine: Engine, memories: Sequence[dict[str, Any]], console: Console) -> dict[str, str]:
    kept = {}
    for line in track(memories, "loading", console=console):
        space = engine.acting_for(Caller(line.get("group") or "all"))
        new = NewMemory(content=line["text"], tags=tuple(line.get("tags") or ()))
        kept[line["id"]] = space.memories.remember(new).memory.id
    return kept


def _scores(
    engine: Engine, way: Way, queries: Sequence[Query], kept: dict[str, str], name: str, console: Console
) -> list[Score]:
    scores = []
    for query in track(queries, name, console=console, transient=True):
        answer = way(engine.acting_for(Caller(query.group)), query.text)
        relevant = {kept[id] for id in query.relevant if id in kept}
        scores.append(_score([hit.memory.id for hit in answer.hits], relevant))
    return scores


def _score(found: list[str], relevant: set[str]) -> Score:
    return Score(
        recall_at(5, found, relevant),
        recall_at(10, found, relevant),
        recall_at(20, found, relevant),
        reciprocal_rank(found, relevant),
        ndcg_at(10, found, dict.fromkeys(relevant, 1.0)),
    )


def _report(console: Console, scores: dict[str, list[Score]], queries: Sequence[Query]) -> None:
    overall = Table(
        "way", "recall@5", "recall@10", "recall@20", "MRR", "nDCG@10", title="all queries, percent"
    )
    by_category: dict[str, list[int]] = defaultdict(list)
    for index, query in enumerate(queries):
        by_category[query.category].append(index)
    categories = sorted(by_category)
    detail = Table(
        "way", *(f"{c} ({len(by_category[c])})" for c in categories), title="recall@10 by category"
    )
    for name, way in scores.items():
        overall.add_row(name, *_means(way))
        detail.add_row(name, *(_means([way[i] for i in by_category[c]])[1] for c in categories))
    console.print(overall)
    console.print(detail)


def _means(scores: Sequence[Score]) -> list[str]:
    return [f"{100 * sum(column) / len(scores):.1f}" for column in zip(*scores, strict=True)]


def _query(line: dict[str, Any]) -> Query:
    return Query(
        line["text"], line.get("group") or "all", line.get("category") or "all", tuple(line["relevant"])
    )


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]


def _schema() -> list[str]:
    """A database of another schema, or of words cut another way, is loaded anew."""
    from mcp_memory.storage import queries
    from mcp_memory.text import words

    return [script.sql for script in queries.migrations("sqlite")] + [Path(words.__file__).read_text("utf-8")]


if __name__ == "__main__":
    main()
