"""Eight assistants write and read through thin clients while their shared server is killed, again and again.

    python -m tests.faults.shared_run --rounds 200
    python -m tests.faults.shared_run --rounds 50 --versions 0.1.0 0.2.0

Nothing acknowledged may be lost, nothing done twice, and no client may see an error. With two versions,
half of the clients are of each: the newer ones replace the servers that the older ones start.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp_memory
from mcp_memory import __version__, wiring
from mcp_memory.config import load
from tests.shared_servers import pids, stop_servers

CLIENTS = 8
BETWEEN = 24
"""Acknowledged writes between two kills."""
PATIENCE = 120.0
"""Seconds that one answer may take; only a client that hangs ever waits so long."""

SHARED = "what all write to"


class Failed(AssertionError):
    """Something that must never happen did."""


@dataclass
class Assistant:
    """One client: a thin process, and a thread that talks through it until it is told to stop."""

    number: int
    process: subprocess.Popen[bytes]
    acknowledged: list[int] = field(default_factory=list)
    slowest: float = 0.0
    failure: BaseException | None = None
    stopping: bool = False
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def start(self) -> threading.Thread:
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        try:
            self._ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=_ME)
            self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})
            both = [{"name": name, "entityType": "place"} for name in (self.name, SHARED)]
            self._call("create_entities", entities=both)
            for turn in itertools.count():
                if self.stopping:
                    return
                self._write(turn)
                self._read(turn)
        except BaseException as error:
            self.failure = error

    @property
    def name(self) -> str:
        return f"assistant {self.number}"

    def _write(self, turn: int) -> None:
        name = f"{self.name}, turn {turn}"
        new = {"name": name, "entityType": "turn", "observations": [f"fact of {name}"]}
        created = self._call("create_entities", entities=[new])
        if [entity["name"] for entity in created["entities"]] != [name]:
            raise Failed(f"{name} was answered as if it had been there before: {created}")
        self._call("create_relations", relations=[{"from": self.name, "to": name, "relationType": "took"}])
        self._call("add_reflection", target_type="global", content=f"thought of {name}")
        self._call("add_observations", name=SHARED, observations=[f"line of {name}"])
        self.acknowledged.append(turn)

    def _read(self, turn: int) -> None:
        name = f"{self.name}, turn {turn}"
        found = self._call("open_nodes", names=[name])
        if [entity["observations"] for entity in found["entities"]] != [[f"fact of {name}"]]:
            raise Failed(f"{name} does not see what it wrote: {found}")

    def _call(self, tool: str, **arguments: Any) -> Any:
        result = self._ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise Failed(f"{self.name} saw an error from {tool}: {result['content'][0]['text']}")
        return result["structuredContent"]

    def _ask(self, method: str, **params: Any) -> Any:
        id, asked = next(self._ids), time.monotonic()
        self._say({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        while True:
            line = self._line()
            if not line:
                raise Failed(f"{self.name} was left alone: its process ended with {self.process.poll()}")
            answer = json.loads(line)
            if "method" in answer:
                continue  # a notification
            if answer["id"] != id or "error" in answer:
                raise Failed(f"{self.name} asked {method} and heard {answer}")
            self.slowest = max(self.slowest, time.monotonic() - asked)
            return answer["result"]

    def _say(self, message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _line(self) -> bytes:
        assert self.process.stdout
        hung = threading.Timer(PATIENCE, self.process.kill)
        hung.start()
        try:
            return self.process.stdout.readline()
        finally:
            hung.cancel()


_ME = {"name": "fault run", "version": "1"}


@dataclass(frozen=True)
class Outcome:
    rounds: int
    written: int
    slowest: float
    killed: int
    repeated: int
    """Changes that a server made whose answer died with it."""

    def __str__(self) -> str:
        return (
            f"{self.rounds} rounds, {self.killed} servers killed, {self.written:,} turns of 4 writes "
            f"acknowledged, all there once; {self.repeated} had lost their answer and were made again; "
            f"the slowest answer took {self.slowest:.1f} s"
        )


def run(
    folder: Path, rounds: int, versions: Sequence[str] = (__version__,), clients: int = CLIENTS
) -> Outcome:
    """Raises `Failed` when something is lost, doubled, or answered with an error."""
    environ = _environment(folder)
    sources = [copied_program(folder, version) for version in versions]
    killed = 0
    with _assistants(sources, environ, clients) as assistants:
        threads = [assistant.start() for assistant in assistants]
        for round in range(rounds):
            _await_writes(assistants, BETWEEN)
            killed += _kill_servers(folder, at=round)
        _await_writes(assistants, clients)
        for assistant in assistants:
            assistant.stopping = True
        for thread in threads:
            thread.join(PATIENCE)
        _check_failures(assistants)
    stop_servers(folder)
    repeated = _verify(folder, assistants)
    written = sum(len(assistant.acknowledged) for assistant in assistants)
    return Outcome(rounds, written, max(assistant.slowest for assistant in assistants), killed, repeated)


@contextmanager
def _assistants(sources: Sequence[Path], environ: dict[str, str], clients: int) -> Iterator[list[Assistant]]:
    started: list[Assistant] = []
    try:
        for number in range(clients):
            source = sources[number % len(sources)]
            process = subprocess.Popen(
                [sys.executable, "-m", "mcp_memory", "--tools", "graph"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**environ, "PYTHONPATH": str(source)},
                cwd=source,
            )
            started.append(Assistant(number, process))
        yield started
    finally:
        for assistant in started:
            assistant.process.kill()
            assistant.process.communicate()


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'memory.db'}",
        "EMBEDDING_PROVIDER": "none",
        "MCP_MEMORY_SHARED_IDLE": "5",
    }


def copied_program(folder: Path, version: str = __version__) -> Path:
    """A copy of the program that calls itself so, and does not change while the run lasts."""
    ours = Path(mcp_memory.__file__).parent
    copy = folder / f"version-{version}"
    shutil.copytree(ours, copy / "mcp_memory", ignore=shutil.ignore_patterns("__pycache__"))
    module = copy / "mcp_memory" / "__init__.py"
    module.write_text(module.read_text().replace(f'"{__version__}"', f'"{version}"'))
    return copy


def _await_writes(assistants: list[Assistant], more: int) -> None:
    wanted = sum(len(assistant.acknowledged) for assistant in assistants) + more
    deadline = time.monotonic() + PATIENCE
    while sum(len(assistant.acknowledged) for assistant in assistants) < wanted:
        _check_failures(assistants)
        if time.monotonic() > deadline:
            raise Failed("no client gets on")
        time.sleep(0.005)


def _kill_servers(folder: Path, at: int) -> int:
    """At another moment of a call each time."""
    found = pids(folder)
    time.sleep((at % 7) * 0.003)
    for pid in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # replaced by a newer one meanwhile
    return len(found)


def _check_failures(assistants: list[Assistant]) -> None:
    for assistant in assistants:
        if assistant.failure is not None:
            raise Failed(str(assistant.failure)) from assistant.failure


def _verify(folder: Path, assistants: list[Assistant]) -> int:
    """How many changes were made again."""
    url = f"sqlite:///{folder / 'memory.db'}"
    engine = wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={}))
    thoughts: Counter[str] = Counter()
    while page := engine.reflections.find(limit=50, offset=thoughts.total()).reflections:
        thoughts.update(found.reflection.content for found in page)
    [shared] = engine.graph.open_nodes([SHARED], record=False).nodes
    lines = Counter(shared.texts)
    for assistant in assistants:
        for turn in assistant.acknowledged:
            name = f"{assistant.name}, turn {turn}"
            graph = engine.graph.open_nodes([name], record=False)
            if [node.texts for node in graph.nodes] != [[f"fact of {name}"]] or len(graph.relations) != 1:
                raise Failed(f"{name} is not there as it was acknowledged: {graph}")
            if (thoughts[f"thought of {name}"], lines[f"line of {name}"]) != (1, 1):
                raise Failed(f"{name} was acknowledged once, but is there otherwise")
    if doubled := [text for text, count in (thoughts + lines).items() if count > 1]:
        raise Failed(f"done twice: {doubled}")
    undone, seq = 0, 0
    while events := engine.history.events_after(seq):
        seq = events[-1].seq
        undone += sum(event.name == "change_undone" for event in events)
    engine.close()
    return undone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--versions", nargs="+", default=[__version__])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mcp-faults-") as folder:
        try:
            print(run(Path(folder), options.rounds, options.versions))
        except Failed:
            for log in Path(folder).rglob("*.log"):
                print(f"--- {log.name}\n{log.read_text('utf-8', 'replace')[-20_000:]}", file=sys.stderr)
            raise


if __name__ == "__main__":
    main()
