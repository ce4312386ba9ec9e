"""Shows that the server works: starts it as an assistant would, stores something, finds it again.

    python tools/show.py [DATABASE_URL]

What it stores goes to a space of its own and is deleted at the end: nobody's memories are touched.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

SPACE = "demonstration"
PATIENCE = 60.0  # seconds
FACTS = [
    {"name": "Rosa", "entityType": "person", "observations": ["Waters the tomatoes every evening"]},
    {"name": "Payments", "entityType": "service", "observations": ["Listens on port 8443", "Written in Go"]},
    {"name": "Team", "entityType": "group", "observations": ["Prefers short meetings on Tuesdays"]},
]
QUESTIONS = {"Who looks after the garden?": "Rosa", "which programming language for payments": "Payments"}


class Failed(Exception):
    """Something did not work; the message is for people."""


def program() -> str:
    """The command beside the Python that runs this."""
    return str(Path(sys.executable).with_name("mcp-memory.exe" if os.name == "nt" else "mcp-memory"))


@asynccontextmanager
async def server(database: list[str]) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=program(), args=[*database, "--space", SPACE, "--tools", "all"], env=dict(os.environ)
    )
    with tempfile.TemporaryFile("w+") as said:
        try:
            transport = stdio_client(parameters, errlog=said)
            async with Client(transport, read_timeout_seconds=PATIENCE) as client:
                yield client
        except* (MCPError, OSError) as failures:
            said.seek(0)
            reasons = said.read().strip() or "; ".join(map(str, failures.exceptions))
            raise Failed(f"the server failed: {reasons}") from None


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    if result.is_error or not isinstance(result.structured_content, dict):
        raise Failed(f"{tool} failed: {getattr(result.content[0], 'text', result.content)}")
    return result.structured_content


async def show(database: list[str]) -> None:
    begun = time.perf_counter()
    async with server(database) as client:
        answered = time.perf_counter() - begun
        name = f"{info.name} {info.version}" if (info := client.server_info) else "the server"
        print(f"{name} answered after {answered:.2f} s (MCP {client.protocol_version})")
        tools = (await client.list_tools()).tools
        print(f"{len(tools)} tools: {', '.join(tool.name for tool in tools)}")
        stored = await call(client, "create_entities", entities=FACTS)
        print(f"stored: {', '.join(entity['name'] for entity in stored['entities'])}")
        await ask(client)
    print("the server was stopped and started again")
    async with server(database) as client:
        await ask(client)
        await call(client, "delete_entities", entityNames=[fact["name"] for fact in FACTS])
        left = await call(client, "read_graph")
        print(f"deleted again: {len(left['entities'])} entities left in the space {SPACE!r}")


async def ask(client: Client) -> None:
    for question, expected in QUESTIONS.items():
        begun = time.perf_counter()
        answer = await call(client, "search_semantic", query=question, limit=1)
        took = (time.perf_counter() - begun) * 1000
        found = [result["name"] for result in answer["results"]]
        print(f"asked: {question} -> {', '.join(found) or 'nothing'} ({answer['mode']}, {took:.0f} ms)")
        # Without a model only words are compared, and the first question shares none with its answer.
        if found != [expected] and not answer["mode"].startswith("keyword"):
            raise Failed(f"expected {expected}: something is wrong, run `mcp-memory doctor`")


def _first(failures: BaseExceptionGroup[Failed]) -> str:
    inner = failures.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else str(inner)


def main() -> None:
    database = ["--database", sys.argv[1]] if len(sys.argv) > 1 else []
    try:
        anyio.run(show, database)
    except* Failed as failures:
        sys.exit(_first(failures))
    print(f"\nIt works. To connect the assistants on this machine: {program()} install")
    print("By hand, add to an assistant's MCP settings:\n")
    entry = {"command": program(), **({"args": database} if database else {})}
    print(json.dumps({"mcpServers": {"memory": entry}}, indent=2))
    print("\nOther ways to use it: mcp-memory --help\n")


if __name__ == "__main__":
    main()
