"""Questions and new memories beside one embedding, and commands from a shell, with a thousand memories.

    python -m bench.questions [--keep docs/benchmarks]

Asked through a thin client and the shared server, as users have it. One embedding is what the model needs
for the same text in a process of its own, in turns with the calls.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from bench import servers, stores
from bench.results import Goal, keep, machine, timing
from bench.servers import PROGRAM
from bench.stores import Json

from mcp_memory.embedding import Embedder

SIZE = 1000
RUNS = 60
"""Questions, and texts, for each start of the server."""
STARTS = 5
"""The same call takes a tenth more or less from one start to the next."""
COMMANDS = 5
SYNCED = 24_000
"""Bytes that one stored memory adds to the write-ahead log: six pages."""

Times = dict[str, list[float]]
"""Milliseconds, by what was done."""

BESIDE = (
    "words are searched while the model computes; comparing vectors, ranking and reading rows, or writing "
    "and syncing them, come after it, in Python"
)


def in_turns(acts: dict[str, Callable[[int], object]], count: int = RUNS) -> Times:
    times: Times = {name: [] for name in acts}
    for number in range(count):
        for name, act in acts.items():
            begun = time.perf_counter()
            act(number)
            times[name].append((time.perf_counter() - begun) * 1000)
    return times


def questions() -> list[str]:
    dice = random.Random(5)
    return [
        f"what do we know about {_some(dice)} and the {_some(dice)} of {_some(dice)}"
        for _ in range(2 * RUNS * STARTS)
    ]


def statements() -> list[str]:
    dice = random.Random(6)
    return [
        f"The {_some(dice)} beside the {_some(dice)} is {stores.sentence(dice)}."
        for _ in range(RUNS * STARTS)
    ]


def _some(dice: random.Random) -> str:
    return dice.choice(stores.words())


def synced(file: BinaryIO) -> None:
    """What a commit of one memory costs the disk alone."""
    file.write(bytes(SYNCED))
    file.flush()
    os.fsync(file.fileno())


def recall(question: str, environ: dict[str, str]) -> None:
    subprocess.run([*PROGRAM, "recall", question], env=environ, capture_output=True, check=True)


def measured() -> Json:
    """Of all starts together, as if they were one."""
    model = stores.embedder()
    every = [once(model, start) for start in range(STARTS)]
    return {
        part: {name: timing([one for start in every for one in start[part][name]]) for name in every[0][part]}
        for part in every[0]
    }


def once(model: Embedder, start: int) -> dict[str, Times]:
    """The server from its start to its end; each time with other texts."""
    asked = questions()[2 * start * RUNS :]
    said = statements()[start * RUNS :]
    found: dict[str, Times] = {}
    with servers.home() as (folder, environ):
        stores.copied(SIZE, folder)
        client = servers.ours(environ, "graph,memory")
        client.call("search_semantic", query="warm up")
        model.embed(["warm up"], "query")
        servers.settle(folder)
        found["question"] = in_turns(
            {
                "one embedding": lambda n: model.embed([asked[n]], "query"),
                "search_semantic": lambda n: client.call("search_semantic", query=asked[n]),
                "recall_memories": lambda n: client.call("recall_memories", query=asked[n + RUNS]),
            }
        )
        with (folder / "synced").open("wb") as file:
            found["store"] = in_turns(
                {
                    "one embedding": lambda n: model.embed([said[n]], "passage"),
                    "store_memory": lambda n: client.call("store_memory", content=said[n]),
                    "one sync of the disk": lambda n: synced(file),
                }
            )
        servers.settle(folder)
        found["command"] = in_turns(
            {
                "server warm": lambda n: recall(asked[n], environ),
                "no server": lambda n: recall(asked[n], {**environ, "MCP_MEMORY_SHARED": "no"}),
            },
            COMMANDS,
        )
        client.close()
    return found


def goals(found: Json) -> list[Goal]:
    asked, stored, shell = found["question"], found["store"], found["command"]
    one = asked["one embedding"]["p50"]
    usual = asked["search_semantic"]["p50"] / one
    late = asked["search_semantic"]["p95"] / one
    store = stored["store_memory"]["p50"] / stored["one embedding"]["p50"]
    command = shell["server warm"]["p50"] / 1000
    return [
        Goal(
            "a question in plain language at 1,000",
            f"{usual:.2f} × one embedding, p95 {late:.2f} ×",
            "≤ 1.4 ×, p95 ≤ 2 ×",
            usual <= 1.4 and late <= 2,
            "" if usual <= 1.4 and late <= 2 else BESIDE,
        ),
        Goal(
            "`store_memory`, one by one",
            f"{store:.2f} × one embedding",
            "≤ 1.5 ×",
            store <= 1.5,
            "" if store <= 1.5 else BESIDE,
        ),
        Goal(
            "`mcp-memory recall` from a shell, server warm", f"{command:.3f} s", "≤ 0.15 s", command <= 0.15
        ),
    ]


def page(found: Json) -> str:
    lines = [
        "# Questions, new memories and commands",
        "",
        f"Made by `python -m bench.questions`: {machine()} {SIZE:,} entities with {SIZE * 3:,} observations; "
        f"through a thin client and the shared server, which is started {STARTS} times. Milliseconds.",
    ]
    for title, part in (
        ("A question in plain language", "question"),
        ("Storing a memory: saved, synced, embedded and compared with what is there", "store"),
        ("`mcp-memory recall` from a shell", "command"),
    ):
        lines += ["", f"## {title}", "", "| | p50 | p95 |", "|---|--:|--:|"]
        lines += [f"| {name} | {each['p50']:.1f} | {each['p95']:.1f} |" for name, each in found[part].items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keep", type=Path, help="the folder of pages")
    given = options.parse_args()
    found = measured()
    print(found)
    for goal in goals(found):
        print(goal)
    if given.keep:
        keep(given.keep, "questions", found, goals, page)


if __name__ == "__main__":
    main()
