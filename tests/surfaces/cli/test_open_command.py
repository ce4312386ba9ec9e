"""`mcp-memory open`: a server that starts by itself, a browser that is logged in, no token in an address."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest

PATIENCE = 120.0
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


def server_on(port: int) -> psutil.Process:
    """The server that `open` left in the background."""
    [server] = [
        process
        for process in psutil.process_iter(["cmdline"])
        if (process.info["cmdline"] or [])[-4:] == ["serve", "--port", str(port), "--until-idle"]
    ]
    return server


def opened(tmp_path: Path, port: int, idle: float) -> str:
    """Run `open`, and return the address that the browser was given."""
    script, shown = tmp_path / "browser.py", tmp_path / "opened"
    script.write_text(BROWSER)
    environ = {
        **os.environ,
        "BROWSER": f"{sys.executable} {script} {shown} %s",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "MCP_MEMORY_EMBEDDING_PROVIDER": "none",
        "MCP_MEMORY_SHARED": "no",
        "MCP_MEMORY_SHARED_IDLE": str(idle),
    }
    command = [sys.executable, "-m", "mcp_memory", "--database", f"sqlite:///{tmp_path / 'memory.db'}"]
    for words in (["token", "create", "somebody"], ["open", "--port", str(port)]):
        run = subprocess.run(
            [*command, *words], env=environ, check=False, capture_output=True, text=True, timeout=PATIENCE
        )
        assert run.returncode == 0, run.stderr
    assert "Started a server in the background" in run.stderr
    return shown.read_text()


@pytest.mark.skipif(os.name == "nt", reason="BROWSER takes a command line of a POSIX shell")
def test_it_starts_a_server_and_opens_a_browser_that_is_logged_in_once(tmp_path: Path) -> None:
    port = free_port()
    before, code = opened(tmp_path, port, idle=600).split("#code=")
    try:
        assert before == f"http://127.0.0.1:{port}/"
        with httpx.Client(base_url=before, timeout=PATIENCE) as visitor:
            assert visitor.get("/api/memories").status_code == 401
            assert visitor.post("/api/session", json={"code": code}).status_code == 200
            assert visitor.get("/api/memories").status_code == 200
            assert visitor.post("/api/session", json={"code": code}).status_code != 200
    finally:
        server_on(port).terminate()


@pytest.mark.skipif(os.name == "nt", reason="BROWSER takes a command line of a POSIX shell")
def test_the_server_it_starts_leaves_when_nobody_looks(tmp_path: Path) -> None:
    port = free_port()
    opened(tmp_path, port, idle=0)
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
