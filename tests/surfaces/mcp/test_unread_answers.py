"""A client that does not read its answers is not read from, so that they do not fill the memory."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared_servers import stop_servers

REQUESTS = 40_000
"""Far more than fit into the pipes together with what may be under way."""
AS_LONG_AS = 3.0
"""Seconds without taking a request after which a program is taken to have stopped."""


@pytest.mark.skipif(os.name != "posix", reason="pipes are waited for in another way")
@pytest.mark.parametrize("shared", ["no", "auto"], ids=["one process", "shared server"])
def test_requests_wait_while_answers_are_not_taken(tmp_path: Path, shared: str) -> None:
    environment = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{tmp_path / 'memory.db'}",
        "EMBEDDING_PROVIDER": "none",
        "MCP_MEMORY_SHARED": shared,
        "XDG_RUNTIME_DIR": str(tmp_path),
        "HOME": str(tmp_path),
    }
    command = [sys.executable, "-m", "mcp_memory"]
    client = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    assert client.stdin is not None
    assert client.stdout is not None
    try:
        client.stdin.write(_lines([_HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}]))
        client.stdin.flush()
        assert json.loads(client.stdout.readline())["id"] == 0
        pings = _lines([{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in range(1, REQUESTS)])
        assert _left(client.stdin.fileno(), pings), "every request was taken in"
    finally:
        client.kill()
        client.wait()
        client.stdin.close()
        client.stdout.close()
        stop_servers(tmp_path)


_HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "deaf", "version": "1"},
    },
}


def _lines(messages: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def _left(pipe: int, text: bytes) -> int:
    """How much of the text nobody takes."""
    unsent = memoryview(text)
    os.set_blocking(pipe, False)
    while unsent and select.select([], [pipe], [], AS_LONG_AS)[1]:
        unsent = unsent[os.write(pipe, unsent[:4096]) :]
    return len(unsent)
