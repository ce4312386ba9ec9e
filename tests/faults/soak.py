"""Clients of every kind use one server for half an hour, whose memory, files and threads must stay flat.

    python -m tests.faults.soak --minutes 30
    python -m tests.faults.soak --minutes 30 --json soak.json

Assistants speak MCP over stdio (thin clients), programs use REST, listeners follow the events. What is
stored stays the same after a few minutes, so that whatever still grows is a leak: each client keeps a bounded
number of memories, and the history, undo images, answers and searches of the run expire after `KEPT_DAYS`.

The first third of the samples is warming up. The straight line through the others must not rise by more than
`STEEPEST` a minute. What has a bound of its own must not pass it (`MOST`): the write-ahead log, which is
emptied at a size, and pages of mapped files, which the system reads at first need and takes back as it likes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.model import Filter
from mcp_memory.storage.sqlite.checkpoints import LONGEST_LOG
from tests.faults.free_port import free_port
from tests.faults.shared_run import copied_program
from tests.faults.thin_client import ThinClient

KEPT = 40
"""What each client keeps of its own; the oldest is deleted for the newest."""
KEPT_DAYS = 1 / 24 / 60
"""How long the run's changes can be undone: a minute."""
STEEPEST = {"own MB": 0.5, "open files": 0.2, "threads": 0.15, "database MB": 0.5}
"""How much the line may rise in a minute."""
LEAST = {"own MB": 8.0, "open files": 4.0, "threads": 3.0, "database MB": 4.0}
"""A rise of less than this in the whole of a short run is noise."""
LONGEST_LOG_MB = (LONGEST_LOG + LONGEST_LOG // 4) * 4.12e-3
"""Where the writer empties the log, and one more attempt, if a reader was in its way."""
MAPPED_MB = 160.0
"""The model's weights, 91 MB, of which new words touch new pages; the rest is programs and libraries."""
MOST = {"mapped MB": MAPPED_MB, "log MB": LONGEST_LOG_MB}
KINDS = frozenset({"assistant turns", "program turns", "events heard"})
"""What is counted of each kind of client."""
SAMPLE_EVERY = 5.0
PATIENCE = 600.0
"""Seconds for one answer; only a server that hangs takes so long."""
STREAMED_AT_ONCE = 100
"""Events after which a listener disconnects and resumes."""

Series = dict[str, list[float]]


class Failed(AssertionError):
    """Something that must never happen did."""


@dataclass
class Load:
    """What all clients share: when to stop, how often each act was answered, and what went wrong."""

    pause: float
    stopping: threading.Event = field(default_factory=threading.Event)
    answered: Counter[str] = field(default_factory=Counter)
    failures: list[BaseException] = field(default_factory=list)

    def turns(self) -> Iterator[int]:
        for turn in itertools.count():
            if self.stopping.wait(self.pause):
                return
            yield turn


class Client(threading.Thread):
    """Takes turns until the load stops; a failure ends the run."""

    def __init__(self, load: Load, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._load = load
        self.kept: deque[str] = deque()

    def run(self) -> None:
        try:
            self.work()
        except BaseException as error:
            self._load.failures.append(error)
            self._load.stopping.set()

    def work(self) -> None:
        raise NotImplementedError

    def _count(self, what: str) -> None:
        self._load.answered[what] += 1


class Assistant(Client):
    """An assistant over stdio: writes to the graph, reads it back, searches and deletes."""

    def __init__(self, load: Load, name: str, environ: Mapping[str, str]) -> None:
        super().__init__(load, name)
        self._environ = environ

    def work(self) -> None:
        with ThinClient(self._environ, "--tools", "graph,memory", patience=PATIENCE) as client:
            for turn in self._load.turns():
                self._turn(client, f"{self.name} thing {turn}")

    def _turn(self, client: ThinClient, name: str) -> None:
        entity = {"name": name, "entityType": "thing", "observations": [f"fact about {name}"]}
        client.call("create_entities", entities=[entity])
        self.kept.append(name)
        client.call("add_observations", name=name, observations=[f"another fact about {name}"])
        [node] = client.call("open_nodes", names=[name])["entities"]
        if len(node["observations"]) != 2:
            raise Failed(f"{name} does not see what it wrote: {node}")
        client.call("search_semantic", query=f"what is known about {name}")
        client.call("recall_memories", query=name)
        if len(self.kept) > KEPT:
            client.call("delete_entities", entityNames=[self.kept.popleft()])
        self._count("assistant turns")


class Program(Client):
    """A program over REST: creates, reads, searches, updates, deletes, exports."""

    def __init__(self, load: Load, name: str, url: str) -> None:
        super().__init__(load, name)
        self._url = url

    def work(self) -> None:
        with httpx.Client(base_url=self._url, timeout=PATIENCE) as client:
            for turn in self._load.turns():
                self._turn(client, turn)

    def _turn(self, client: httpx.Client, turn: int) -> None:
        body = {"content": f"{self.name} noted number {turn}", "tags": ["soak", self.name]}
        headers = {"idempotency-key": f"{self.name} {turn}"}
        id = self._ask(client, "POST", "/api/memories", json=body, headers=headers).json()["id"]
        self.kept.append(id)
        self._ask(client, "PUT", f"/api/memories/{id}", json={"context": f"changed in turn {turn}"})
        self._ask(client, "GET", f"/api/memories/{id}")
        self._ask(client, "GET", "/api/memories/search", params={"q": f"number {turn}"})
        if len(self.kept) > KEPT:
            self._ask(client, "DELETE", f"/api/memories/{self.kept.popleft()}")
        if turn % 50 == 49:
            self._ask(client, "GET", "/api/export")
        self._count("program turns")

    def _ask(self, client: httpx.Client, method: str, path: str, **request: Any) -> httpx.Response:
        try:
            answer = client.request(method, path, **request)
        except httpx.TransportError:
            # A connection that was idle too long is closed by the server, as by any other.
            self._count("connections made again")
            answer = client.request(method, path, **request)
        if answer.status_code >= 400:
            raise Failed(f"{method} {path} was answered {answer.status_code}: {answer.text[:300]}")
        return answer


class Listener(Client):
    """Follows the events, disconnects now and then, and resumes without missing one."""

    def __init__(self, load: Load, name: str, url: str) -> None:
        super().__init__(load, name)
        self._url = url
        self._last = 0

    def work(self) -> None:
        while not self._load.stopping.is_set():
            headers = {"last-event-id": str(self._last)} if self._last else {}
            with (
                httpx.Client(base_url=self._url, timeout=PATIENCE) as client,
                client.stream("GET", "/api/events", headers=headers) as stream,
            ):
                self._listen(stream)

    def _listen(self, stream: httpx.Response) -> None:
        seen = 0
        for line in stream.iter_lines():
            if line.startswith("id: "):
                self._take(int(line.removeprefix("id: ")))
                seen += 1
            if seen >= STREAMED_AT_ONCE or self._load.stopping.is_set():
                return

    def _take(self, id: int) -> None:
        if id <= self._last:
            raise Failed(f"{self.name} heard {id} after {self._last}")
        self._last = id
        self._count("events heard")


@contextmanager
def served(environ: Mapping[str, str], port: int) -> Iterator[psutil.Process]:
    command = [sys.executable, "-m", "mcp_memory", "serve", "--port", str(port)]
    server = subprocess.Popen(command, env=dict(environ), stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    while "http://" not in (line := server.stderr.readline()):
        if not line:
            raise Failed("the server did not start")
    # What it logs must not fill the pipe.
    draining = threading.Thread(target=server.stderr.read, daemon=True)
    draining.start()
    try:
        yield psutil.Process(server.pid)
    finally:
        server.terminate()
        server.wait(60)
        draining.join(60)
        server.stderr.close()


def sample(process: psutil.Process, database: Path) -> dict[str, float]:
    log = database.with_name(database.name + "-wal")
    with process.oneshot():
        memory = process.memory_info()
        return {
            "own MB": (memory.rss - memory.shared) / 1e6,
            "mapped MB": memory.shared / 1e6,
            "open files": float(process.num_fds()),
            "threads": float(process.num_threads()),
            "database MB": database.stat().st_size / 1e6,
            "log MB": log.stat().st_size / 1e6 if log.exists() else 0.0,
        }


@dataclass(frozen=True)
class Judged:
    """One quantity, once the run was warm."""

    name: str
    first: float
    """Of the whole run."""
    mean: float
    last: float
    most: float
    slope: float
    """Of the straight line, a minute."""
    minutes: float

    @property
    def is_flat(self) -> bool:
        if self.name in MOST:
            return self.most <= MOST[self.name]
        return self.slope <= STEEPEST[self.name] or self.slope * self.minutes <= LEAST[self.name]


def judged(name: str, samples: Sequence[float], minutes: float) -> Judged:
    """`minutes`: what all samples together took."""
    warm = samples[len(samples) // 3 :]
    every = minutes / len(samples)
    slope = statistics.linear_regression(range(len(warm)), warm).slope / every if len(warm) > 1 else 0.0
    return Judged(
        name, samples[0], statistics.fmean(warm), samples[-1], max(samples), slope, every * (len(warm) - 1)
    )


@dataclass(frozen=True)
class Outcome:
    seconds: float
    answered: Mapping[str, int]
    kept: int
    series: Series

    @property
    def judgements(self) -> list[Judged]:
        return [judged(name, samples, self.seconds / 60) for name, samples in self.series.items()]

    def table(self) -> str:
        lines = ["| quantity | at first | mean, warm | at last | most | rise a minute, warm | flat |",
                 "|---|--:|--:|--:|--:|--:|---|"]  # fmt: skip
        for one in self.judgements:
            figures = f"{one.first:.1f} | {one.mean:.1f} | {one.last:.1f} | {one.most:.1f} | {one.slope:+.3f}"
            lines.append(f"| {one.name} | {figures} | {'yes' if one.is_flat else '**no**'} |")
        counts = ", ".join(f"{count:,} {what}" for what, count in sorted(self.answered.items()))
        return "\n".join(
            [*lines, "", f"{self.seconds / 60:.0f} minutes: {counts}; {self.kept:,} kept, lost: 0"]
        )


def run(folder: Path, minutes: float, pause: float = 0.2, assistants: int = 3, programs: int = 3) -> Outcome:
    """Raises `Failed` when something is refused or lost; whether all stayed flat is in the outcome."""
    database, port = folder / "memory.db", free_port()
    environ = environment(folder)
    load = Load(pause)
    with ExitStack() as stack:
        process = stack.enter_context(served(environ, port))
        url = f"http://127.0.0.1:{port}"
        clients: list[Client] = [
            *(Assistant(load, f"assistant {number}", environ) for number in range(assistants)),
            *(Program(load, f"program {number}", url) for number in range(programs)),
            *(Listener(load, f"listener {number}", url) for number in range(2)),
        ]
        stack.callback(load.stopping.set)
        for client in clients:
            client.start()
        series = _watch(process, database, load, minutes * 60)
        _await_a_turn_of_each(load)
        load.stopping.set()
        for client in clients[: assistants + programs]:
            client.join(PATIENCE)
        if load.failures:
            raise Failed(repr(load.failures[0])) from load.failures[0]
    kept = _verify(folder, clients[:assistants], clients[assistants : assistants + programs])
    return Outcome(minutes * 60, load.answered, kept, series)


def _watch(process: psutil.Process, database: Path, load: Load, seconds: float) -> Series:
    """Samples at equal distances. Time in which the machine sleeps does not count."""
    series: Series = {}
    every = min(SAMPLE_EVERY, seconds / 20)
    for _ in range(round(seconds / every)):
        if load.stopping.wait(every):
            break
        for name, value in sample(process, database).items():
            series.setdefault(name, []).append(value)
    return series


def _await_a_turn_of_each(load: Load) -> None:
    """A short run on a busy machine may be over before a client of some kind had its first answer."""
    for _ in range(round(PATIENCE / 0.05)):
        if load.answered.keys() >= KINDS or load.stopping.wait(0.05):
            return


def environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'memory.db'}",
        "API_RATE_LIMIT": "0",
        "TRASH_DAYS": str(KEPT_DAYS),
        "JOURNAL_DAYS": str(KEPT_DAYS),
        "SEARCH_LOG_DAYS": str(KEPT_DAYS),
        "IDEMPOTENCY_HOURS": str(KEPT_DAYS * 24),
        "PYTHONPATH": str(copied_program(folder)),
    }


def _verify(folder: Path, assistants: Sequence[Client], programs: Sequence[Client]) -> int:
    url = f"sqlite:///{folder / 'memory.db'}"
    with wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={})) as engine:
        found = {
            node.entity.name
            for client in assistants
            for node in engine.graph.open_nodes(list(client.kept), record=False).nodes
        }
        total = engine.memories.find(Filter(), limit=1).total
        memories = {memory.id for client in programs for memory in engine.memories.fetch(list(client.kept))}
        findings = [one for one in engine._context.store.database.examine() if not one.is_well]
    if findings:
        raise Failed(f"the database is not sound: {findings}")
    if lost := {name for client in assistants for name in client.kept} - found:
        raise Failed(f"acknowledged and not there: {sorted(lost)[:5]}")
    if missing := {id for client in programs for id in client.kept} - memories:
        raise Failed(f"acknowledged and not there: {sorted(missing)[:5]}")
    assert total >= len(memories)
    return len(found) + len(memories)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two turns of a client")
    parser.add_argument("--json", type=Path, help="where to write the samples")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mcp-soak-") as folder:
        outcome = run(Path(folder), options.minutes, options.pause)
    print(outcome.table())
    if options.json:
        options.json.write_text(json.dumps({"answered": outcome.answered, "series": outcome.series}))
    if steep := [one.name for one in outcome.judgements if not one.is_flat]:
        sys.exit(f"not flat: {', '.join(steep)}")


if __name__ == "__main__":
    main()
