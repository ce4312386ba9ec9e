"""A server that is told to stop: what it acknowledged is kept, nothing is half done, and it ends in time."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from mcp_memory import wiring
from mcp_memory.config import load
from tests.faults.free_port import free_port
from tests.shared_servers import ask, places
from tests.surfaces.speaking import INITIALIZE

PATIENCE = 120.0


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to send to another process")
def test_a_server_told_to_stop_keeps_everything_it_acknowledged(tmp_path: Path) -> None:
    url, port = f"sqlite:///{tmp_path / 'memory.db'}", free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", "serve", "--port", str(port)],
        env={**os.environ, "DATABASE_URL": url, "EMBEDDING_PROVIDER": "none", "API_RATE_LIMIT": "0"},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    while "http://" not in server.stderr.readline():
        assert server.poll() is None, "the server did not start"
    acknowledged: list[str] = []
    answers: set[int] = set()
    enough = threading.Event()

    def write(writer: int) -> None:
        for number in range(100_000):
            body = {"content": f"memory {number} of writer {writer}"}
            try:
                answer = httpx.post(f"http://127.0.0.1:{port}/api/memories", json=body, timeout=PATIENCE)
            except httpx.TransportError:
                return  # nobody listens any more
            answers.add(answer.status_code)
            acknowledged.append(answer.json()["id"])
            if len(acknowledged) >= 20:
                enough.set()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    assert enough.wait(PATIENCE)
    server.send_signal(signal.SIGTERM)
    for writer in writers:
        writer.join(PATIENCE)
    _, errors = server.communicate(timeout=PATIENCE)
    assert answers == {201}
    assert "Traceback" not in errors
    engine = wiring.build(load({"database_url": url, "embedding_provider": "none"}, environ={}))
    assert {memory.id for memory in engine.memories.fetch(acknowledged[-200:])} == {*acknowledged[-200:]}
    engine.close()


@pytest.fixture
def endless() -> Iterator[Endless]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        endpoint = Endless(listening)
        threading.Thread(target=endpoint.answer, daemon=True).start()
        yield endpoint
        endpoint.ended.set()


class Endless:
    """An endpoint for embeddings whose answer never ends, so that no timeout of its client applies."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self.asked, self.ended = threading.Event(), threading.Event()

    @property
    def settings(self) -> dict[str, str]:
        return {
            "EMBEDDING_PROVIDER": "openai",
            "OPENAI_API_KEY": "sk-none",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1",
        }

    def answer(self) -> None:
        caller, _ = self._listening.accept()
        with caller:
            caller.recv(65536)
            caller.sendall(b"HTTP/1.1 200 OK\r\n\r\n[")
            self.asked.set()
            while not self.ended.wait(0.5):
                try:
                    caller.sendall(b" ")
                except OSError:
                    return


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to send to another process")
def test_background_work_that_does_not_end_does_not_keep_the_server(tmp_path: Path, endless: Endless) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", "serve", "--port", "0"],
        env={**os.environ, "DATABASE_URL": f"sqlite:///{tmp_path / 'memory.db'}", **endless.settings},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert endless.asked.wait(PATIENCE)
    server.send_signal(signal.SIGTERM)
    _, errors = server.communicate(timeout=PATIENCE)
    assert "left to the next server" in errors


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to send to another process")
@pytest.mark.parametrize("told_by", ["signal", "end of input"])
def test_nor_does_it_keep_a_server_of_one_assistant(tmp_path: Path, endless: Endless, told_by: str) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    server = subprocess.Popen(
        [sys.executable, "-m", "mcp_memory"],
        env={**os.environ, "DATABASE_URL": url, "MCP_MEMORY_SHARED": "no", **endless.settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert server.stdin is not None
    server.stdin.write(f"{json.dumps(INITIALIZE)}\n".encode())
    server.stdin.flush()
    assert endless.asked.wait(PATIENCE)
    if told_by == "signal":
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE)
    server.communicate(timeout=PATIENCE)
    assert server.returncode == (128 + signal.SIGTERM if told_by == "signal" else 0)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to send to another process")
def test_nor_does_it_keep_the_shared_server(endless: Endless) -> None:
    # A socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="mcp-stop-") as folder:
        home = {"HOME": folder, "XDG_RUNTIME_DIR": folder, "DATABASE_URL": f"sqlite:///{folder}/memory.db"}
        server = subprocess.Popen(
            [sys.executable, "-m", "mcp_memory", "shared-server"],
            env={**os.environ, **home, **endless.settings},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert endless.asked.wait(PATIENCE)
        [place] = places(Path(folder))
        ask(place, "leave")
        server.communicate(timeout=PATIENCE)
        assert server.returncode == 0
