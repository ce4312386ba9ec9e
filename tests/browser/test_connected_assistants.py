"""The assistants that are connected now, on Health: a real server, and a real client on standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.faults.free_port import free_port
from tests.shared_servers import stop_servers

ME = {"name": "teapot", "version": "1"}
GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": ME},
}


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    runtime = tmp_path / "run"
    runtime.mkdir()
    yield {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "XDG_RUNTIME_DIR": str(runtime),
        "EMBEDDING_PROVIDER": "none",
    }
    stop_servers(tmp_path)


def started(environ: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", *arguments],
        env=environ,
        cwd=environ["HOME"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def test_health_names_the_assistants_that_are_connected(chromium: Browser, environ: dict[str, str]) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with started(environ, "serve", "--port", str(port)) as server:
        try:
            with httpx.Client(transport=httpx.HTTPTransport(retries=10), timeout=60) as asking:
                asking.get(f"{url}/health")
            with started(environ) as assistant:
                assert assistant.stdin is not None
                assert assistant.stdout is not None
                assistant.stdin.write(json.dumps(GREETING) + "\n")
                assistant.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
                assistant.stdin.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
                assistant.stdin.flush()
                while json.loads(assistant.stdout.readline()).get("id") != 2:
                    pass  # the server itself has answered, so it knows who is there
                page = chromium.new_page(locale="en-GB")
                page.goto(f"{url}/#/health")
                expect(page.get_by_text("teapot, ").first).to_be_visible(timeout=30_000)
                page.context.close()
                assistant.stdin.close()
        finally:
            server.terminate()
