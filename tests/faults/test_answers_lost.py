"""A server dies during a request with an idempotency key; a retry learns the outcome."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from mcp_memory import wiring
from mcp_memory.config import load
from mcp_memory.engine import Engine
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.faults.free_port import free_port
from tests.faults.test_shutdown import PATIENCE

NEW = {"target_type": "global", "content": "this must be thought once"}
AT_THE_ANSWER = "UPDATE ON answered WHEN NEW.status >= 200"
AT_THE_ACT = "INSERT ON reflection"


def opened(path: Path) -> Engine:
    url = f"sqlite:///{path}"
    return wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={}))


@contextmanager
def served(path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", "serve", "--port", str(port)],
        env={**os.environ, "DATABASE_URL": f"sqlite:///{path}", "EMBEDDING_PROVIDER": "none"},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    try:
        while "http://" not in server.stderr.readline():
            assert server.poll() is None, "the server did not start"
        yield server, f"http://127.0.0.1:{port}/api/reflections"
    finally:
        server.kill()
        server.communicate()


@contextmanager
def stuck(path: Path, where: str) -> Iterator[None]:
    """While this lasts, the database never gets past such a statement."""
    database = SqliteDatabase(path)
    with database.write() as connection:
        endless = "WITH RECURSIVE f(n) AS (SELECT 1 UNION ALL SELECT n FROM f) SELECT n FROM f"
        connection.change(f"CREATE VIEW endless AS {endless}")
        connection.change(f"CREATE TRIGGER stuck BEFORE {where} BEGIN SELECT count(*) FROM endless; END")
    yield
    with database.write() as connection:
        connection.change("DROP TRIGGER stuck")
        connection.change("DROP VIEW endless")
    database.close()


def post(url: str, key: str = "k1") -> httpx.Response:
    return httpx.post(url, json=NEW, headers={"idempotency-key": key}, timeout=PATIENCE)


def post_in_vain(url: str) -> threading.Thread:
    def ask() -> None:
        with suppress(httpx.TransportError):
            post(url)

    asking = threading.Thread(target=ask)
    asking.start()
    return asking


def test_what_was_done_but_never_answered_is_pointed_at_and_not_done_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    engine = opened(path)
    with stuck(path, AT_THE_ANSWER), served(path) as (server, url):
        asking = post_in_vain(url)
        while not engine.reflections.find().total:
            assert asking.is_alive(), "it was answered"
        server.kill()
        asking.join(PATIENCE)
    with served(path) as (_, url):
        again = post(url)
        assert again.status_code == 303
        assert again.headers["idempotent-replayed"] == "true"
        made = httpx.get(httpx.URL(url).join(again.headers["location"]))
        assert made.json()["content"] == NEW["content"]
        undone = httpx.post(httpx.URL(url).join(f"/api/changes/{again.json()['change_id']}/undo"))
        assert undone.status_code == 200
    assert engine.reflections.find().total == 0
    engine.close()


def test_what_was_not_done_is_not_taken_for_done(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    engine = opened(path)
    with stuck(path, AT_THE_ACT), served(path) as (server, url):
        asking = post_in_vain(url)
        while not claimed(path):
            assert asking.is_alive(), "it was answered"
        server.kill()
        asking.join(PATIENCE)
    with served(path) as (_, url):
        again = post(url)
        assert (again.status_code, again.json()["code"]) == (409, "conflict")
        assert engine.reflections.find().total == 0
        assert post(url, "k2").status_code == 201
    engine.close()


def claimed(path: Path) -> bool:
    database = SqliteDatabase(path)
    with database.read() as connection:
        found = bool(connection.run("SELECT key FROM answered"))
    database.close()
    return found
