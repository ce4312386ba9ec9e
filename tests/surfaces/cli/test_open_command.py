"""`mcp-memory open`: a server that starts by itself, a browser that is logged in, no token in an address."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

PATIENCE = 60.0
BROWSER = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def until(port: int, *, answers: bool) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            there = True
        except OSError:
            there = False
        if there == answers:
            return
        time.sleep(0.05)
    pytest.fail(f"the server is {'not there' if answers else 'still there'}")


@pytest.mark.skipif(os.name == "nt", reason="BROWSER takes a command line of a POSIX shell")
def test_it_starts_a_server_opens_a_browser_and_leaves_when_nobody_looks(tmp_path: Path) -> None:
    script, opened, port = tmp_path / "browser.py", tmp_path / "opened", free_port()
    script.write_text(BROWSER)
    environ = {
        **os.environ,
        "BROWSER": f"{sys.executable} {script} {opened} %s",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "MCP_MEMORY_EMBEDDING_PROVIDER": "none",
        "MCP_MEMORY_SHARED": "no",
        "MCP_MEMORY_SHARED_IDLE": "6",  # enough for this process to ask on a busy machine
    }
    command = [sys.executable, "-m", "mcp_memory", "--database", f"sqlite:///{tmp_path / 'memory.db'}"]
    subprocess.run(
        [*command, "token", "create", "somebody"],
        env=environ, check=True, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    run = subprocess.run(
        [*command, "open", "--port", str(port)],
        env=environ, check=False, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "Started a server in the background" in run.stderr
    address = opened.read_text()
    before, code = address.split("#code=")
    assert before == f"http://127.0.0.1:{port}/"
    with httpx.Client(base_url=before) as visitor:
        assert visitor.get("/api/memories").status_code == 401
        assert visitor.post("/api/session", json={"code": code}).status_code == 200
        assert visitor.get("/api/memories").status_code == 200
        assert visitor.post("/api/session", json={"code": code}).status_code != 200
    until(port, answers=False)


@pytest.mark.skipif(os.name == "nt", reason="BROWSER takes a command line of a POSIX shell")
def test_a_port_that_another_program_has_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = subprocess.run(
            [sys.executable, "-m", "mcp_memory", "--database", f"sqlite:///{tmp_path / 'memory.db'}",
             "open", "--no-browser", "--port", str(port)],
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "MCP_MEMORY_EMBEDDING_PROVIDER": "none"},
            check=False, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
    assert run.returncode != 0
    assert f"port {port} of 127.0.0.1 is in use" in run.stderr
