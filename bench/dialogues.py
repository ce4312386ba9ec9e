"""What a recall in a dialogue takes, with the embedding of its query, beside that of earlier programs.

    python -m bench.dialogues FOLDER [--beside SOURCES ...]

FOLDER holds memories.jsonl and queries.jsonl as `mcp-memory eval` reads them; its first conversation is
asked. SOURCES is the `src` folder of an earlier checkout. Each program runs in a process of its own, and
every question goes to one after the other, so that what else the machine does falls on all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import Caller

QUESTIONS = 100
ROUNDS = 8
OWN = Path(wiring.__file__).parents[1]
KINDS = ("one embedding", "recall")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def answer(data: Path) -> None:
    """Runs in the program that is measured: a question on each line, and what it took in answer."""
    memories = lines(data / "memories.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        config = load({"database_url": f"sqlite:///{folder}/memory.db"}, environ={})
        built = wiring.build(config)
        engine = built.acting_for(Caller("default", "bench"))
        model: Any = engine.recall._context.embedder
        for memory in memories:
            if memory["group"] == memories[0]["group"]:
                engine.memories.remember(NewMemory(content=memory["text"], tags=tuple(memory["tags"])))
        print(flush=True)
        for line in sys.stdin:
            question = json.loads(line)
            later: list[Callable[[], object]] = []
            # As the server does: what a search notes is written after its answer. Earlier ones wrote at once.
            asked = engine.noting_later(later.append) if hasattr(engine, "noting_later") else engine
            times = [
                milliseconds(partial(model.embed, [question], "query")),
                milliseconds(partial(asked.recall.recall, question, limit=10)),
            ]
            for note in later:
                note()
            print(json.dumps(times), flush=True)
        built.close()


def milliseconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return (time.perf_counter() - begun) * 1000


class Program:
    def __init__(self, sources: Path, data: Path) -> None:
        self.times: list[list[float]] = []
        environ = {**os.environ, "PYTHONPATH": f"{sources}{os.pathsep}{Path(__file__).parents[1]}"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.dialogues", str(data), "--answer"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ,
        )  # fmt: skip

    def wait(self) -> None:
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def ask(self, question: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        self.times.append(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        self._process.communicate()


def measured(data: Path, sources: Sequence[Path]) -> dict[str, dict[str, float]]:
    queries = lines(data / "queries.jsonl")
    asked = [query["text"] for query in queries if query["group"] == queries[0]["group"]][:QUESTIONS]
    programs = {str(each): Program(each, data) for each in sources}
    for program in programs.values():
        program.wait()
    for _ in range(1 + ROUNDS):
        for question in asked:
            for program in programs.values():
                program.ask(question)
    for program in programs.values():
        program.close()
    return {
        name: {
            kind: median(each[place] for each in program.times[len(asked) :])
            for place, kind in enumerate(KINDS)
        }
        for name, program in programs.items()
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--beside", type=Path, nargs="*", default=[])
    options.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.answer:
        answer(given.data)
        return
    found = measured(given.data, [OWN, *given.beside])
    own = found[str(OWN)]["recall"]
    for name, times in found.items():
        print(
            name,
            *(f"{kind} {took:.1f} ms" for kind, took in times.items()),
            f"ours ÷ it {own / times['recall']:.2f}",
        )


if __name__ == "__main__":
    main()
