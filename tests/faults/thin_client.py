"""An assistant's side of the conversation with a thin client: a process, and JSON lines."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any, Self


class Unanswered(AssertionError):
    """The client ended, hung, or answered with an error."""


class ThinClient:
    def __init__(self, environ: Mapping[str, str], *flags: str, patience: float) -> None:
        self._patience = patience
        self._ids = itertools.count(1)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mcp_memory", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
        )

    def __enter__(self) -> Self:
        me = {"name": "fault run", "version": "1"}
        self._ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=me)
        self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *failure: object) -> None:
        self._process.kill()
        self._process.communicate()

    def call(self, tool: str, **arguments: Any) -> Any:
        result = self._ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise Unanswered(f"{tool} said {result['content'][0]['text']}")
        return result["structuredContent"]

    def _ask(self, method: str, **params: Any) -> Any:
        id = next(self._ids)
        self._say({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        while True:
            answer = json.loads(self._line())
            if "method" in answer:
                continue  # a notification
            if answer["id"] != id or "error" in answer:
                raise Unanswered(f"{method} was answered with {answer}")
            return answer["result"]

    def _say(self, message: Any) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _line(self) -> bytes:
        assert self._process.stdout
        hung = threading.Timer(self._patience, self._process.kill)
        hung.start()
        try:
            line = self._process.stdout.readline()
        finally:
            hung.cancel()
        if not line:
            raise Unanswered(f"the client ended with {self._process.poll()}")
        return line
