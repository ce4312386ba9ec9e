"""Are the tools there in the first turn? Claude Code in print mode, against a model that only listens.

    python -m bench.first_turn [--claude PATH] [--runs 20] [--markdown docs/benchmarks/first-turn.md]

Claude Code starts its servers without waiting for them, so a server that is slow to answer is missing from
the first request. The model is a small program on loopback that records which tools it is offered.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.warm import NODE, OFFICIAL
from tests.shared_servers import stop_servers
from tools.assistants import MODULES, PROGRAMS

from mcp_memory.thin.launch import programs

PATIENCE = 120


class Model(ThreadingHTTPServer):
    """Answers every request with one word, and remembers the tools that each was offered."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.offered: list[list[str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Answer(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if self.path.startswith("/v1/messages") and "count_tokens" not in self.path:
            self.server.offered.append([tool.get("name", "") for tool in asked.get("tools", [])])
        body, kind = _spoken(asked)
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


def _spoken(asked: dict[str, Any]) -> tuple[bytes, str]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": asked.get("model", "m"),
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    text = {"type": "text", "text": "Hello."}
    if not asked.get("stream"):
        whole = {**message, "content": [text], "stop_reason": "end_turn"}
        return json.dumps(whole).encode(), "application/json"
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text["text"]}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    ]
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return "".join(lines).encode(), "text/event-stream"


@contextmanager
def model() -> Iterator[Model]:
    with Model() as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield serving
        serving.shutdown()


def first_turn(claude: Path, home: Path, command: list[str], environ: dict[str, str]) -> int:
    """How many of the server's tools the first request that offers any tools has."""
    config = home / "servers.json"
    entry = {"type": "stdio", "command": command[0], "args": command[1:], "env": environ}
    config.write_text(json.dumps({"mcpServers": {"memory": entry}}))
    with model() as listening:
        subprocess.run(
            [str(claude), "-p", "hello", "--mcp-config", str(config), "--strict-mcp-config"],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "ANTHROPIC_BASE_URL": listening.url,
                "ANTHROPIC_API_KEY": "x",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
            },
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        offers = [tools for tools in listening.offered if tools]
        return sum(tool.startswith("mcp__memory__") for tool in offers[0]) if offers else -1


def measure(claude: Path, server: str, runs: int) -> list[int]:
    """Tools in the first turn, run by run; nothing of ours runs, or was learned, before the first."""
    with tempfile.TemporaryDirectory(prefix="mcp-") as folder:
        home = Path(folder)
        environ = {"HOME": folder, "XDG_RUNTIME_DIR": folder, "MCP_MEMORY_SHARED_IDLE": "60"}
        command = programs()[0]
        if server == "official":
            command, environ = [str(NODE), str(OFFICIAL)], {"MEMORY_FILE_PATH": str(home / "memory.jsonl")}
        elif server == "ours, a process each":
            environ["MCP_MEMORY_SHARED"] = "no"
        try:
            return [first_turn(claude, home, command, environ) for _ in range(runs)]
        finally:
            stop_servers(home)


def installed_claude() -> Path | None:
    found = [file for pattern in PROGRAMS["claude"] for file in sorted(MODULES.glob(pattern))]
    return next(iter(found), None)


def page(found: dict[str, list[int]]) -> Iterator[str]:
    yield "# Tools in the first turn"
    yield ""
    yield (
        "Made by `python -m bench.first_turn`: Claude Code in print mode, in a fresh home, with a model on "
        "loopback that records which tools its first request offers. Claude Code does not wait for a server."
    )
    yield ""
    yield "| server | runs with its tools in the first turn |"
    yield "|---|--:|"
    for name, counts in found.items():
        yield f"| {name} | {sum(count > 0 for count in counts)} of {len(counts)} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--claude", type=Path, default=installed_claude())
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    if options.claude is None:
        print("Claude Code is not installed: run `make clients`, or name it with --claude")
        return
    found = {"ours": measure(options.claude, "ours", options.runs)}
    for name in ("official", "ours, a process each"):
        found[name] = measure(options.claude, name, max(options.runs // 2, 1))
    text = "\n".join(page(found)) + "\n"
    print(text)
    if options.markdown:
        options.markdown.write_text(text, "utf-8")
        there = sum(count > 0 for count in found["ours"])
        goal = {
            "what": "tools there in Claude Code's first turn",
            "measured": f"{there} of {options.runs}",
            "goal": f"{options.runs} of {options.runs}",
            "met": there == options.runs,
        }
        options.markdown.with_suffix(".json").write_text(json.dumps([goal], indent=1) + "\n")


if __name__ == "__main__":
    main()
