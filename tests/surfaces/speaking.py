"""Speaks MCP with our server as the SDK's own client does: in a process of its own, or on a test's engine."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.session import MessageHandlerFnT
from mcp.client.stdio import stdio_client
from mcp_types import TextContent, Tool

from mcp_memory.engine import Engine
from mcp_memory.server.mcp.server import build
from mcp_memory.server.mcp.sets import tool_sets

Json = dict[str, Any]

# Only a server that hangs ever waits this long; it turns a hang into a failure. Seconds.
PATIENCE = 120.0

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


class Refused(Exception):
    """The tool said no; its words are the message."""


@dataclass
class Conversation:
    portal: BlockingPortal
    client: Client
    tools: dict[str, Tool]
    details: bool = False
    """Ask for everything that is kept about a memory, where a tool would answer in short."""

    def call(self, tool: str, **arguments: Any) -> Json:
        """The structured answer, after checking that it keeps the tool's contract."""
        if self.details and tool in ("store_memory", "recall_memories", "memory_recall"):
            arguments.setdefault("details", True)
        [text], structured = self._asked(tool, arguments)
        assert json.loads(text) == structured, "the text says the same as the structure"
        return structured

    def call_drop_in(self, tool: str, **arguments: Any) -> Json:
        """The same of the set that stands in for another server, whose texts are as they are there."""
        return self._asked(tool, arguments)[1]

    def _asked(self, tool: str, arguments: Json) -> tuple[list[str], Json]:
        result = self.portal.call(self.client.call_tool, tool, arguments)
        texts = [part.text for part in result.content if isinstance(part, TextContent)]
        if result.is_error:
            raise Refused(json.loads(texts[0])["error"])
        structured: Json = result.structured_content or {}
        jsonschema.validate(structured, self.tools[tool].output_schema or {})
        return texts, structured


@contextmanager
def conversation(
    folder: Path,
    *flags: str,
    mode: str = "auto",
    hears: MessageHandlerFnT | None = None,
    details: bool = False,
    **environment: str,
) -> Iterator[Conversation]:
    """A server of its own on a database in the folder, with these flags, and a client connected to it."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mcp_memory", *flags],
        env={
            "DATABASE_URL": f"sqlite:///{folder / 'memory.db'}",
            "HOME": str(folder),
            "MCP_MEMORY_SHARED": "no",
            **environment,
        },
        cwd=folder,
    )
    with start_blocking_portal() as portal, (folder / "stderr").open("a") as stderr:
        client = Client(
            stdio_client(parameters, errlog=stderr),
            mode=mode,
            message_handler=hears,
            read_timeout_seconds=PATIENCE,
        )
        with _connected(portal, client) as connected:
            connected.details = details
            yield connected


@contextmanager
def conversation_with(engine: Engine, *sets: str, details: bool = False) -> Iterator[Conversation]:
    """A client of a server in this process, on the test's own engine with the test's own clock."""
    with start_blocking_portal() as portal:
        server = build(tool_sets(sets), lambda: engine, workers=2)
        with _connected(portal, Client(server, read_timeout_seconds=PATIENCE)) as connected:
            connected.details = details
            yield connected


@contextmanager
def _connected(portal: BlockingPortal, client: Client) -> Iterator[Conversation]:
    connection = portal.wrap_async_context_manager(client)
    connection.__enter__()
    try:
        listed = portal.call(client.list_tools).tools
        yield Conversation(portal, client, {tool.name: tool for tool in listed})
    finally:
        # Kept unaware of a failing test, which it would wrap in exception groups.
        connection.__exit__(None, None, None)
