"""Many processes on one file, and processes that die: nothing acknowledged is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.engine import Engine
from mcp_memory.storage.database import Allowed
from mcp_memory.storage.sqlite.database import SqliteDatabase

PROCESSES = 4
WRITES = 40


def start(url: str, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.writer", url, name, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def opened(url: str) -> Engine:
    return wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={}))


def assert_kept(engine: Engine, writer: str, acknowledged: list[str]) -> None:
    """Each acknowledged entity is there with its fact, its relation and its line in what all share."""
    [shared] = engine.graph.open_nodes(["shared"], record=False).nodes
    lines = set(shared.texts)
    for name in acknowledged:
        number = name.removeprefix(f"{writer}-")
        graph = engine.graph.open_nodes([name], record=False)
        assert graph.nodes[0].texts == [f"fact {number} of {writer}"]
        assert [(r.source, r.type) for r in graph.relations] == [(writer, "wrote")]
        assert f"{writer} was here for the {number}. time" in lines


def assert_sound(path: Path) -> None:
    database = SqliteDatabase(path)
    with database.read() as connection:
        assert connection.run("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
        assert connection.run("PRAGMA foreign_key_check") == []
        allowed = Allowed("o.space_id = 1", {})
        database.words.matching(connection, "memory", ["fact"], 1, allowed, 10)
        database.words.matching(connection, "entity", ["fact"], 1, allowed, 10)
    database.close()


@pytest.mark.seed("002 retry")
def test_four_processes_write_to_one_file_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    url = f"sqlite:///{path}"
    writers = {f"w{number}": start(url, f"w{number}", WRITES) for number in range(PROCESSES)}
    acknowledged = {}
    for name, process in writers.items():
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        acknowledged[name] = output.split()
    engine = opened(url)
    for name, entities in acknowledged.items():
        assert len(entities) == WRITES
        assert_kept(engine, name, entities)
    [shared] = engine.graph.open_nodes(["shared"], record=False).nodes
    assert len(shared.texts) == PROCESSES * WRITES
    engine.close()
    assert_sound(path)


def test_a_process_killed_while_it_writes_loses_nothing_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    url = f"sqlite:///{path}"
    for attempt in range(3):
        writer = start(url, f"w{attempt}", 100_000)
        assert writer.stdout is not None
        acknowledged = [writer.stdout.readline().strip() for _ in range(10 + 7 * attempt)]
        writer.kill()
        rest, _ = writer.communicate()
        acknowledged += [line for line in rest.splitlines() if line in {*rest.split("\n")[:-1]}]
        engine = opened(url)
        assert_kept(engine, f"w{attempt}", acknowledged)
        engine.close()
    assert_sound(path)
