"""The knowledge graph over stdio, beside Anthropic's own memory server in the same run.

    python -m bench.graph [--sizes 1000 10000 100000] [--keep docs/benchmarks]

Both servers hold the same graph (bench/stores.py) and are asked the same by the same small client, in turns.
Ours is asked as users have it: a thin client in front of the shared server.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import servers, stores
from bench.results import Goal, found_before, keep, machine, timing
from bench.servers import Server
from bench.stores import Json

BUDGET = 12.0
"""Seconds for one kind of call; the slow ones are then measured on fewer calls."""

COST = "a call of ours passes two processes and a worker thread on its way to the database and back"
ROWS = "350 rows, each with a journal entry and its words; the official server rewrites one file of 50 more"

BULKS = 20
ALONE = 40
"""Further bulk writes, while the official server does nothing."""
PAUSE = 0.01
"""Seconds between two of them; an assistant takes longer."""
STARTS = {1000: 5}
"""How often both servers are started, by size; once if not named. The same call takes a tenth more or less
from one start to the next, and the goals at this size are nearer than that.
"""
FIFTY = "50 entities × 3 observations"

Call = Callable[[Server, int], object]
Times = dict[str, list[float]]
"""Milliseconds, by server; `alone` is ours while the other does nothing."""


def bulk(number: int) -> list[Json]:
    dice = random.Random(number)
    return [{**stores.entity(n, dice), "name": f"Bulk {number}-{n}"} for n in range(50)]


def calls(size: int) -> dict[str, tuple[Call, int]]:
    """What is asked, by its name, and how often at most."""
    dice = random.Random(11)
    names = [f"Entity {dice.randrange(size)}" for _ in range(1000)]
    # Made before the clock runs: the first one reads the standard library for words, which takes seconds.
    many = [bulk(number) for number in range(BULKS + ALONE)]
    facts = [f"fact {dice.randrange(size)}-1" for _ in range(1000)]
    return {
        "open_nodes": (lambda server, n: server.call("open_nodes", names=[names[n]]), 300),
        "add_observations": (
            lambda server, n: server.call(
                "add_observations", observations=[{"entityName": names[n], "contents": [f"added {n}"]}]
            ),
            200,
        ),
        "create_entities": (
            lambda server, n: server.call(
                "create_entities",
                entities=[{"name": f"New {n}", "entityType": "Note", "observations": [f"new fact {n}"]}],
            ),
            200,
        ),
        FIFTY: (
            lambda server, n: server.call("create_entities", entities=many[n]),
            BULKS,
        ),
        "create_relations": (
            lambda server, n: server.call(
                "create_relations",
                relations=[{"from": names[n], "to": "Entity 0", "relationType": f"r{n}"}],
            ),
            200,
        ),
        "search_nodes": (lambda server, n: server.call("search_nodes", query=facts[n]), 200),
        "delete_observations": (
            lambda server, n: server.call(
                "delete_observations",
                deletions=[{"entityName": names[n], "observations": [f"added {n}"]}],
            ),
            200,
        ),
        "delete_entities": (
            lambda server, n: server.call("delete_entities", entityNames=[f"New {n}"]),
            200,
        ),
    }


def in_turns(both: dict[str, Server], call: Call, most: int) -> Times:
    times: Times = {who: [] for who in both}
    ends = time.perf_counter() + BUDGET
    for number in range(most):
        for who, server in both.items():
            begun = time.perf_counter()
            call(server, number)
            times[who].append((time.perf_counter() - begun) * 1000)
        if time.perf_counter() > ends:
            break
    return times


def alone(ours: Server, call: Call) -> list[float]:
    """Bulk writes while the official server does nothing.

    In turns ours finds the processor's caches full of what the other has done, which grows with the store:
    it reads and writes all of it in each call.
    """
    times = []
    for number in range(BULKS, BULKS + ALONE):
        begun = time.perf_counter()
        call(ours, number)
        times.append((time.perf_counter() - begun) * 1000)
        time.sleep(PAUSE)
    return times


def measured(size: int, only: Sequence[str] = ()) -> Json:
    """Of all starts together, as if they were one."""
    every = [once(size, only) for _ in range(STARTS.get(size, 1))]
    found = {
        name: {who: timing([one for start in every for one in start[name][who]]) for who in every[0][name]}
        for name in every[0]
    }
    for name, each in found.items():
        ratio = each["ours"]["p50"] / each["official"]["p50"]
        print(f"{size:>8,} {name:30} {json.dumps(each)} {ratio:.2f} ×", flush=True)
    return found


def once(size: int, only: Sequence[str]) -> dict[str, Times]:
    """Both servers from their start to their end."""
    with servers.home() as (folder, environ):
        stores.copied(size, folder)
        file = folder / "memory.jsonl"
        file.write_bytes(stores.graph_file(size).read_bytes())
        both = {"ours": servers.ours(environ), "official": servers.official(environ, file)}
        found: dict[str, Times] = {}
        for server in both.values():
            server.call("open_nodes", names=["Entity 1"])
        both["ours"].call("search_semantic", query="a quiet harbour in winter")
        for name, (call, most) in calls(size).items():
            if only and name not in only:
                continue
            servers.settle(folder)
            found[name] = in_turns(both, call, most)
        if FIFTY in found:
            servers.settle(folder)
            found[FIFTY]["alone"] = alone(both["ours"], calls(size)[FIFTY][0])
        for server in both.values():
            server.close()
        return found


def table(results: dict[str, Json]) -> str:
    lines = [
        "# The knowledge graph over stdio",
        "",
        f"Made by `python -m bench.graph`: {machine()} The official server is "
        f"@modelcontextprotocol/server-memory {servers.official_version()}. Milliseconds a call as a client "
        "sees it, median and 95th percentile; ours through a thin client and the shared server. At 1,000 "
        f"entities both are started {STARTS[1000]} times, and each time both stores grow by 1,200 entities.",
        "",
        "**What an answer means.** Ours: the change and its journal entry are in the write-ahead log and "
        "synced to the disk (`synchronous=FULL`), so that an acknowledged write survives a power cut. The "
        "official server rewrites its whole file without a sync: what it acknowledged survives the end of "
        "the process, not of the machine. Vectors are made in the background in both directions of the "
        "comparison: no write waits for the model.",
    ]
    for size, found in sorted(results.items(), key=lambda item: int(item[0])):
        lines += [
            "",
            f"## {int(size):,} entities, {int(size) * 3:,} observations, {int(size):,} relations",
            "",
        ]
        lines += ["| | mcp-memory p50 | p95 | official p50 | p95 | mcp-memory ÷ official |"]
        lines += ["|---|--:|--:|--:|--:|--:|"]
        for name, both in found.items():
            mine, other = both["ours"], both["official"]
            lines.append(
                f"| {name} | {mine['p50']:.1f} | {mine['p95']:.1f} | {other['p50']:.1f} | "
                f"{other['p95']:.1f} | {mine['p50'] / other['p50']:.2f} |"
            )
    lines += [
        "",
        f"## {FIFTY}, mcp-memory alone",
        "",
        "Above both are asked in turns, and each finds the processor's caches full of what the other has "
        "done: the official server reads and writes its whole file in each call. "
        f"Here ours is asked {ALONE} times more, {PAUSE * 1000:.0f} ms apart, while the other does nothing.",
        "",
        "| entities | p50 | p95 |",
        "|--:|--:|--:|",
    ]
    for size, found in sorted(results.items(), key=lambda item: int(item[0])):
        if each := found.get(FIFTY, {}).get("alone"):
            lines.append(f"| {int(size):,} | {each['p50']:.1f} | {each['p95']:.1f} |")
    lines += ["", "![open_nodes](open-nodes.svg)", "", "![50 entities](fifty-entities.svg)"]
    return "\n".join(lines) + "\n"


def goals(results: dict[str, Json]) -> list[Goal]:
    def ratio(size: str, name: str) -> float:
        both: Json = results[size][name]
        value: float = both["ours"]["p50"] / both["official"]["p50"]
        return value

    found = []
    for tool in ("open_nodes", "add_observations"):
        for size, most in (("1000", 1.0), ("10000", 0.2)):
            if size in results:
                value = ratio(size, tool)
                what = f"`{tool}`, one call, at {int(size):,}"
                met, said = value <= most, f"{value:.2f} × the official server"
                found.append(Goal(what, said, f"≤ {most:g} ×", met, "" if met else COST))
    if FIFTY in results.get("1000", {}):
        value = ratio("1000", FIFTY)
        found.append(
            Goal(
                f"{FIFTY} in one call, at 1,000",
                f"{value:.2f} × official",
                "≤ 1.5 ×",
                value <= 1.5,
                "" if value <= 1.5 else ROWS,
            )
        )
    sizes = sorted((size for size in results if "alone" in results[size].get(FIFTY, {})), key=int)
    if len(sizes) > 1:
        times = [results[size][FIFTY]["alone"]["p50"] for size in sizes]
        found.append(
            Goal(
                f"{FIFTY}, by the size of the store",
                " → ".join(f"{time:.0f}" for time in times) + f" ms at {' → '.join(sizes)}",
                "flat: at most 1.5 times the smallest",
                max(times) <= 1.5 * min(times),
            )
        )
    if "search_nodes" not in results.get("100000", {}):
        unknown = "not measured in this run"
        why = "`make bench-graph-100k` measures it"
        found.append(Goal("`search_nodes` at 100,000 entities", unknown, "≤ 20 ms", False, why))
    else:
        value = results["100000"]["search_nodes"]["ours"]["p50"]
        late = (
            "" if value <= 20 else "most of it is waiting for the processor on a busy machine: it takes 4 ms"
        )
        found.append(
            Goal("`search_nodes` at 100,000 entities", f"{value:.0f} ms", "≤ 20 ms", value <= 20, late)
        )
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    options.add_argument("--only", nargs="+", default=[], help="some of the calls, by name")
    options.add_argument("--keep", type=Path, help="the folder of pages, where a run adds what it measured")
    given = options.parse_args()
    results = {str(size): measured(size, given.only) for size in given.sizes}
    if given.keep:
        from bench import plot

        if given.only:
            known = found_before(given.keep, "graph")
            results = {size: known.get(size, {}) | found for size, found in results.items()}
        results = keep(given.keep, "graph", results, goals, table)
        for name, file in (("open_nodes", "open-nodes"), (FIFTY, "fifty-entities")):
            sizes = sorted((size for size in results if name in results[size]), key=int)
            lines = {who: [results[size][name][who]["p50"] for size in sizes] for who in ("ours", "official")}
            drawing = plot.lines(
                f"{name}: milliseconds by number of entities", [*map(int, sizes)], lines, logarithmic=True
            )
            (given.keep / f"{file}.svg").write_text(drawing, "utf-8")


if __name__ == "__main__":
    main()
