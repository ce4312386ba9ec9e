"""Answers MCP requests from tool sets and an engine that is built at the first need."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions

from mcp_memory import __version__
from mcp_memory.errors import Forbidden, MemoryServerError
from mcp_memory.model import DEFAULT_SPACE, Caller, Rights
from mcp_memory.server.mcp.tools import Resource, Tool, ToolSet
from mcp_memory.server.mcp.watchers import Context, Watchers
from mcp_memory.server.visitor import visitor_of

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass
class Desk:
    """Takes requests off the event loop and hands them to tools in a few worker threads."""

    sets: Sequence[ToolSet]
    engine: Callable[[], Engine]
    workers: int
    space: str = DEFAULT_SPACE
    watchers: Watchers = field(default_factory=Watchers)

    def __post_init__(self) -> None:
        self._tools: dict[str, tuple[Tool, ToolSet]] = {
            tool.name: (tool, set) for set in self.sets for tool in set.tools
        }
        self._resources: dict[str, Resource] = {
            resource.uri: resource for set in self.sets for resource in set.resources
        }
        self._limiter: anyio.CapacityLimiter | None = None

    async def list_tools(self, context: Context, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.listed() for tool, _ in self._tools.values()])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in self._tools:
            raise MCPError(types.INVALID_PARAMS, f"Tool {params.name} not found")
        tool, tool_set = self._tools[params.name]
        if not tool.only_reads and self._rights(context) == "read":
            return tool_set.refuse(Forbidden("this token may only read: ask for one that may write"))
        result = await self._in_thread(
            lambda: self._run(tool, tool_set, self._caller(context), params.arguments or {})
        )
        if not tool.only_reads and not result.is_error:
            for uri in self._resources:
                await self.watchers.changed(uri)
        return result

    async def list_resources(self, context: Context, params: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[resource.listed() for resource in self._resources.values()]
        )

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri not in self._resources:
            raise MCPError(types.INVALID_PARAMS, f"Resource {uri} not found", {"uri": uri})
        resource, caller = self._resources[uri], self._caller(context)
        text = await self._in_thread(lambda: self._read(resource, caller))
        contents = types.TextResourceContents(uri=uri, mime_type=resource.mime_type, text=text)
        return types.ReadResourceResult(contents=[contents])

    def _run(
        self, tool: Tool, tool_set: ToolSet, caller: Caller, arguments: dict[str, Any]
    ) -> types.CallToolResult:
        try:
            return tool.run(self.engine().acting_for(caller), arguments)
        except MemoryServerError as error:
            return tool_set.refuse(error)
        except Exception:
            log.exception("%s failed", tool.name)
            return tool_set.refuse(
                MemoryServerError(f"{tool.name} failed inside the server; its log says why")
            )

    def _read(self, resource: Resource, caller: Caller) -> str:
        try:
            return resource.read(self.engine().acting_for(caller))
        except MemoryServerError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error), {"code": error.code}) from error

    def _caller(self, context: Context) -> Caller:
        greeting = context.session.client_params
        name = greeting.client_info.name if greeting else ""
        if context.request is None:
            return Caller(space=self.space, client=name)
        guest = visitor_of(context.request).caller
        return Caller(space=guest.space, client=" ".join(filter(None, (name, guest.client))))

    def _rights(self, context: Context) -> Rights:
        return "write" if context.request is None else visitor_of(context.request).rights

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self.workers)
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)


def build(
    sets: Sequence[ToolSet], engine: Callable[[], Engine], *, workers: int, space: str = DEFAULT_SPACE
) -> Server[None]:
    """A server with the tools of all sets. The engine is asked for at the first call, not before."""
    desk = Desk(sets, engine, workers, space)
    resources: dict[str, Any] = {}
    if any(tool_set.resources for tool_set in sets):
        resources = {
            "on_list_resources": desk.list_resources,
            "on_read_resource": desk.read_resource,
            "on_subscribe_resource": desk.watchers.subscribe,
            "on_unsubscribe_resource": desk.watchers.unsubscribe,
        }
    return Server(
        sets[0].server_name,
        version=__version__,
        instructions="\n\n".join(tool_set.instructions for tool_set in sets if tool_set.instructions) or None,
        lifespan=_nothing,
        on_list_tools=desk.list_tools,
        on_call_tool=desk.call_tool,
        on_subscriptions_listen=desk.watchers.listen,
        **resources,
    )


def greeting(server: Server[Any]) -> InitializationOptions:
    """What a client of the handshake era is told."""
    return server.create_initialization_options(
        NotificationOptions(resources_changed=True, tools_changed=True)
    )


@asynccontextmanager
async def _nothing(_: Server[None]) -> AsyncIterator[None]:
    yield None
