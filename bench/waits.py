"""How long another client waits at worst while somebody else makes the server work hard.

    python -m bench.waits [--keep docs/benchmarks]

A store of 10,000 entities with 30,000 observations, behind the shared server. While one client (or the server
itself) does each of the following, a second client opens an entity and adds an observation in turns, and its
worst waits are noted. What the second client needs when nothing else happens stands in the first row.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
from bench import earlier, servers, stores
from bench.results import Goal, Json, keep, machine, timing
from bench.servers import PROGRAM, Server

from mcp_memory.storage.file_lock import FileLock
from mcp_memory.storage.sqlite import online_migration

SIZE = 10_000
QUIET = 5.0
LONGEST = 30.0
"""Seconds that a piece of work is watched; some take minutes."""
GOAL = 250
PURGE = "purge of one entity"


class Watch:
    """A second client that asks until it is told to stop."""

    def __init__(self, client: Server) -> None:
        self._client = client
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self._failure: BaseException | None = None
        self.reads: list[float] = []
        self.writes: list[float] = []

    def _ask(self) -> None:
        dice = random.Random(3)
        try:
            while not self._stopping.is_set():
                name = f"Entity {dice.randrange(SIZE)}"
                text = f"watched {time.time_ns()}"
                wanted = [{"entityName": name, "contents": [text]}]
                self.reads.append(self._milliseconds("open_nodes", names=[name]))
                self.writes.append(self._milliseconds("add_observations", observations=wanted))
                self._stopping.wait(0.01)
        except BaseException as error:
            self._failure = error

    def _milliseconds(self, tool: str, **arguments: Any) -> float:
        begun = time.perf_counter()
        self._client.call(tool, **arguments)
        return (time.perf_counter() - begun) * 1000

    @contextmanager
    def watching(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            self._thread.join()
        if self._failure is not None:
            raise self._failure


def nothing(folder: Path, environ: dict[str, str]) -> None:
    time.sleep(QUIET)


def bulk_write(folder: Path, environ: dict[str, str]) -> None:
    """Twenty calls of 50 entities with 10 observations each."""
    client = servers.ours(environ)
    dice = random.Random(1)
    for call in range(20):
        made = [
            {
                "name": f"Bulk {call}-{n}",
                "entityType": "Note",
                "observations": [f"{stores.sentence(dice)} {call}-{n}-{k}" for k in range(10)],
            }
            for n in range(50)
        ]
        client.call("create_entities", entities=made)
    client.close()


def importing(folder: Path, environ: dict[str, str]) -> None:
    file = folder / "more.jsonl"
    lines = [line.replace('"Entity ', '"Imported ') for line in stores.graph_lines(5000)]
    file.write_text("".join(f"{line}\n" for line in lines))
    command(environ, "import", str(file))


def building_indexes(folder: Path, environ: dict[str, str]) -> None:
    """The derived indexes were dropped before; the server makes them again."""
    deadline = time.monotonic() + LONGEST
    while not _is_indexed(folder) and time.monotonic() < deadline:
        time.sleep(0.1)


def reembedding(folder: Path, environ: dict[str, str]) -> None:
    """All vectors are said to be of another model before."""
    command(environ, "reembed", longest=LONGEST)


def consolidating(folder: Path, environ: dict[str, str]) -> None:
    command(environ, "consolidate", longest=LONGEST)


def backing_up(folder: Path, environ: dict[str, str]) -> None:
    command(environ, "backup", "--folder", str(folder / "backups"))


def purging(folder: Path, environ: dict[str, str]) -> None:
    """One entity, for good: deleted text must not stay anywhere in the file."""
    command(environ, "purge", "Entity 7", "--yes")


def migrating(folder: Path, environ: dict[str, str]) -> None:
    """From the form of an earlier release. Another process held the lock of the background work before."""
    HELD.pop().close()
    deadline = time.monotonic() + LONGEST
    while not _is_migrated(folder) and time.monotonic() < deadline:
        time.sleep(0.1)


HELD: list[FileLock] = []


def of_an_earlier_release(folder: Path) -> None:
    earlier.to_schema_13(folder / "memory.db")
    HELD.append(FileLock(folder / "memory.db.leader"))
    if not HELD[0].take():
        raise RuntimeError("somebody else does the background work")


def _is_migrated(folder: Path) -> bool:
    with opened(folder) as database:
        return online_migration.phase(database) is None


def command(environ: dict[str, str], *words: str, longest: float = 120.0) -> None:
    running = subprocess.Popen(
        [*PROGRAM, *words], env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        said, _ = running.communicate(timeout=longest)
        if running.returncode:
            raise RuntimeError(f"{words}: {said.decode()[-1000:]}")
    except subprocess.TimeoutExpired:
        running.terminate()
        running.wait()


def opened(folder: Path) -> closing[apsw.Connection]:
    """By the SQLite of the server: others do not know its kinds of tables."""
    connection = apsw.Connection(str(folder / "memory.db"))
    connection.set_busy_timeout(10_000)
    return closing(connection)


def _is_indexed(folder: Path) -> bool:
    with opened(folder) as database:
        [[vectors]] = database.execute("SELECT count(*) FROM vector_segment")
        [[texts]] = database.execute("SELECT count(*) FROM trigram_index")
    return bool(vectors > 15 and texts == 2)


def without_indexes(folder: Path) -> None:
    with opened(folder) as database:
        for table in ("vector_segment", "vector_sketch", "trigram_index"):
            database.execute(f"DELETE FROM {table}")
        for table in ("entity_trigrams_1", "memory_trigrams_1"):
            database.execute(f"DROP TABLE {table}")


def of_another_model(folder: Path) -> None:
    with opened(folder) as database:
        database.execute("UPDATE embedding_model SET fingerprint = 'another', name = 'another'")


WORK: dict[str, Callable[[Path, dict[str, str]], None]] = {
    "nothing": nothing,
    "bulk write: 20 calls of 50 entities × 10 observations": bulk_write,
    "import of 5,000 entities with 15,000 observations": importing,
    "building the indexes of vectors and substrings": building_indexes,
    "reembedding": reembedding,
    "consolidation": consolidating,
    "backup": backing_up,
    PURGE: purging,
    "migration from schema 13": migrating,
}


def measured(names: list[str]) -> Json:
    found: Json = {}
    for name in names:
        with servers.home() as (folder, environ):
            stores.copied(SIZE, folder)
            if WORK[name] is building_indexes:
                without_indexes(folder)
            if WORK[name] is reembedding:
                of_another_model(folder)
            if WORK[name] is migrating:
                of_an_earlier_release(folder)
            client = servers.ours(environ)
            client.call("open_nodes", names=["Entity 1"])
            if WORK[name] not in (building_indexes, migrating):
                servers.settle(folder)
            watch = Watch(client)
            begun = time.perf_counter()
            with watch.watching():
                WORK[name](folder, environ)
            found[name] = {
                "seconds": round(time.perf_counter() - begun, 1),
                "read": timing(watch.reads),
                "write": timing(watch.writes),
            }
            client.close()
            print(name, found[name], flush=True)
    return found


def goals(found: Json) -> list[Goal]:
    worst = {name: max(each["read"]["worst"], each["write"]["worst"]) for name, each in found.items()}
    idle = worst.pop("nothing", None)
    alone = "" if idle is None else f"{idle:.0f} ms with nothing going on"
    purge = {name: worst.pop(name) for name in (PURGE,) if name in worst}
    return [
        *_goal(
            "the worst wait of a second client during bulk writes, building indexes and other work",
            worst,
            alone,
        ),
        *_goal("its worst wait during a purge, which rewrites the file", purge, "it waits so long once"),
    ]


def _goal(what: str, worst: dict[str, float], why: str) -> Iterator[Goal]:
    late = {name: wait for name, wait in worst.items() if wait > GOAL}
    for slowest in sorted(worst, key=lambda name: worst[name])[-1:]:
        measured = f"{worst[slowest]:.0f} ms ({slowest})"
        reasons = [", ".join(f"{name} {wait:.0f} ms" for name, wait in late.items()), why]
        yield Goal(what, measured, f"≤ {GOAL} ms", not late, "; ".join(filter(None, reasons)) if late else "")


def page(found: Json) -> str:
    lines = [
        "# Waiting for others",
        "",
        f"Made by `python -m bench.waits`: {machine()} {SIZE:,} entities with {SIZE * 3:,} observations "
        "behind the shared server. A second client opens an entity and adds an observation in turns while "
        f"the work in the first column goes on (at most {LONGEST:.0f} s of it). Milliseconds. The first row "
        "tells how much of it is the machine: with other programs on it, a turn of the processor or of the "
        "disk may take longer than the work. [The turns of writers](turns.md) do not depend on that.",
        "",
        "A purge rewrites the whole file, so that nothing of what was removed stays in it. Those who want to "
        "write go first for ten seconds; the second client always wants to, so it waits once after that.",
        "",
        "| meanwhile | for | a read, p50 | p95 | worst | a small write, p50 | p95 | worst |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in WORK:
        if each := found.get(name):
            cells = [
                f"{each[kind][part]:.0f}" for kind in ("read", "write") for part in ("p50", "p95", "worst")
            ]
            lines.append(f"| {name} | {each['seconds']:.0f} s | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keep", type=Path, help="the folder of pages")
    options.add_argument("--only", choices=list(WORK), nargs="+", default=list(WORK))
    given = options.parse_args()
    found = measured(given.only)
    if given.keep:
        keep(given.keep, "waits", found, goals, page)


if __name__ == "__main__":
    main()
