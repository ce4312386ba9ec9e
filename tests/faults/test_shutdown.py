"""A server that is told to stop: what it acknowledged is kept, and nothing is left half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from mcp_memory import wiring
from mcp_memory.config import load
from tests.faults.free_port import free_port

PATIENCE = 60.0


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
