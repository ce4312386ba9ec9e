"""Answers MCP requests from tool sets and an engine that is built on first use."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions

from mcp_memory import __version__
from mcp_memory.errors import MemoryServerError, NotFound, ReadOnly
from mcp_memory.model import DEFAULT_SPACE, Caller, Rights, client_name
from mcp_memory.server.events import Feed
from mcp_memory.server.mcp.offered_tools import about_offered
from mcp_memory.server.mcp.request_key import RequestKey
from mcp_memory.server.mcp.tools import Prompt, Resource, Tell, Template, Tool, ToolSet, quietly
from mcp_memory.server.mcp.view import EXTENSION, URI, View, is_shown_by, look_again, naming_view
from mcp_memory.server.mcp.watchers import ChangedResources, Context, Watchers
from mcp_memory.server.principal import principal_of

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

log = logging.getLogger(__name__)

T = TypeVar("T")

Work = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool."""

    tool: str
    arguments: dict[str, Any]
    caller: Caller
    key: RequestKey | None = None


@dataclass
class Dispatcher:
    """Dispatches requests from the event loop to tools in a few worker threads."""

    sets: Sequence[ToolSet]
    engine: Callable[[], Engine]
    workers: int
    space: str
    feed: Feed
    limiter: anyio.CapacityLimiter | None = None
    """Limits concurrent requests, together with the other servers of the process."""
    project: str = ""
    """The client's project, to which its memories belong."""
    view: View | None = None
    """Shows results inside a conversation."""
    seats: threading.Semaphore = field(default_factory=threading.Semaphore)
    """Limits those that are answered by threads of their own, beside the limiter."""

    def __post_init__(self) -> None:
        self.watchers = Watchers(self.feed, self._changed)
        self._tools: dict[str, tuple[Tool, ToolSet]] = {
            tool.name: (tool, set) for set in self.sets for tool in set.tools
        }
        self._resources: dict[str, Resource] = {
            resource.uri: resource for set in self.sets for resource in set.resources
        }
        self._templates = [template for set in self.sets for template in set.templates]
        self._prompts: dict[str, Prompt] = {
            prompt.name: prompt
            for set in self.sets
            for prompt in set.prompts
            if not prompt.about or any(name in self._tools for name in prompt.about)
        }
        self._only_in_view = self._tools_of_view()
        self._engine_in_use: Engine | None = None

    async def list_tools(self, context: Context, params: object) -> types.ListToolsResult:
        offered = [tool.listed(self._tools) for tool, _ in self._tools.values()]
        if self._is_viewed(context):
            further = [tool.listed(self._tools) for tool, _ in self._only_in_view.values()]
            offered = [naming_view(tool) for tool in (*offered, *further)]
        return types.ListToolsResult(tools=offered)

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        found = self._tools.get(params.name) or self._only_in_view.get(params.name)
        if found is None:
            raise MCPError(types.INVALID_PARAMS, f"Tool {params.name} not found")
        tool, tool_set = found
        if not tool.only_reads and self._rights(context) == "read":
            return tool_set.refuse(ReadOnly())
        request_key = context.request if isinstance(context.request, RequestKey) else None
        call = Call(params.name, params.arguments or {}, self._caller(context), request_key)
        self.foresee(call.tool, call.arguments)
        return await self.answer(call, tell=_teller(context))

    def offers(self, tool: str) -> bool:
        return tool in self._tools

    def reports_progress(self, tool: str) -> bool:
        return self._tools[tool][0].reports_progress

    def foresee(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Let the model begin with the text of a call that is about to be answered."""
        if self._engine_in_use is None or tool not in self._tools:
            return
        try:
            self._tools[tool][0].foresee(self._engine_in_use, arguments)
        except Exception:
            # The call meets the same, and has somebody to tell it to.
            log.debug("the model cannot begin with %s", tool, exc_info=True)

    def local_caller(self, client: str) -> Caller:
        """The caller of a process that the person runs themselves."""
        return Caller(space=self.space, client=client, project=self.project)

    async def answer(
        self,
        call: Call,
        *,
        tell: Tell = quietly,
        notes: list[Work] | None = None,
        at_once: Callable[[types.CallToolResult], None] | None = None,
    ) -> types.CallToolResult:
        """The answer of a tool that is offered.

        `notes` collects usage to be recorded, so that the caller can do it after the answer. `at_once` is
        given the answer in the tool's thread, unless somebody is to be told before.
        """
        tool, tool_set = self._tools.get(call.tool) or self._only_in_view[call.tool]
        caller = call.caller
        told = self.watchers.telling_count(caller.space)

        def work() -> types.CallToolResult:
            result = self._run(tool, tool_set, call, tell, notes)
            if at_once is not None and (tool.only_reads or not self.watchers.are_watching(caller.space)):
                at_once(result)
            return result

        result = await self.in_thread(work)
        if not tool.only_reads and not result.is_error:
            # Even if it changed nothing, as Anthropic's server does.
            await self.watchers.tell(caller.space, otherwise=self._resources, since=told)
        return result

    def begin_here(self, tool: str) -> bool:
        """Whether a thread may answer a call of the tool with `answer_here`, which it must then do. It may
        not if others are to be told, or if as many requests are handled as may be.
        """
        if not self._tools[tool][0].only_reads and self.watchers.are_watching(self.space):
            return False
        if self.limiter is not None and not self.limiter.available_tokens:
            return False
        return self.seats.acquire(blocking=False)

    def answer_here(self, call: Call, notes: list[Work]) -> types.CallToolResult:
        """The answer of a tool that is offered, in this thread."""
        try:
            return self._run(*self._tools[call.tool], call, quietly, notes)
        finally:
            self.seats.release()

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        await self.watchers.subscribe(self._caller(context).space, context.session, str(params.uri))
        return types.EmptyResult()

    async def unsubscribe(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self.watchers.unsubscribe(self._caller(context).space, context.session, str(params.uri))
        return types.EmptyResult()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        return await self.watchers.listen(self._caller(context).space, context, params)

    async def list_resources(self, context: Context, params: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[resource.listed() for resource in self._resources.values()]
        )

    async def list_templates(self, context: Context, params: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[template.listed() for template in self._templates]
        )

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri == URI and self.view is not None:
            return types.ReadResourceResult(contents=[self.view.contents()])
        mime_type, read = self._reader(uri)
        text = await self.in_thread(lambda: self._asked(read, self._caller(context)))
        contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, context: Context, params: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[prompt.listed() for prompt in self._prompts.values()])

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"Prompt {params.name} not found")
        given = params.arguments or {}
        missing = [item.name for item in prompt.arguments if item.required and not given.get(item.name)]
        if missing:
            raise MCPError(types.INVALID_PARAMS, f"{prompt.name} needs {', '.join(missing)}")
        text = await self.in_thread(
            lambda: self._asked(lambda engine: self._said(prompt, engine, given), self._caller(context))
        )
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        complete = self._completer(params.ref, params.argument.name)
        values: Sequence[str] = ()
        if complete is not None:
            values = await self.in_thread(
                lambda: self._asked(
                    lambda engine: complete(engine, params.argument.value), self._caller(context)
                )
            )
        return types.CompleteResult(completion=types.Completion(values=list(values)))

    def _is_viewed(self, context: Context) -> bool:
        return self.view is not None and is_shown_by(context.session.client_capabilities)

    def _tools_of_view(self) -> dict[str, tuple[Tool, ToolSet]]:
        if self.view is None:
            return {}
        tool = look_again({name: tool for name, (tool, _) in self._tools.items()})
        return {tool.name: (tool, self.sets[0])}

    def _said(self, prompt: Prompt, engine: Engine, given: Mapping[str, str]) -> str:
        if prompt.render is not None:
            return prompt.render(engine, given)
        return about_offered(prompt.text, self._tools)

    def _reader(self, uri: str) -> tuple[str, Callable[[Engine], str]]:
        if resource := self._resources.get(uri):
            return resource.mime_type, resource.read
        for template in self._templates:
            if uri.startswith(template.prefix) and (name := unquote(uri.removeprefix(template.prefix))):
                return template.mime_type, partial(_read_named, template, name)
        raise MCPError(types.INVALID_PARAMS, f"Resource {uri} not found", {"uri": uri})

    def _completer(
        self, reference: types.ResourceTemplateReference | types.PromptReference, argument: str
    ) -> Callable[[Engine, str], Sequence[str]] | None:
        if isinstance(reference, types.PromptReference):
            prompt = self._prompts.get(reference.name)
            arguments = prompt.arguments if prompt else ()
            return next((item.complete for item in arguments if item.name == argument), None)
        matching = (item for item in self._templates if item.uri_template == reference.uri)
        return next((item.complete for item in matching if item.variable == argument), None)

    async def _changed(self, space: str, place: int | None) -> ChangedResources:
        """Resources changed since a position in the journal; None: only the current position."""
        return await self.in_thread(lambda: self._asked(partial(self._news, place), Caller(space)))

    def _news(self, place: int | None, engine: Engine) -> ChangedResources:
        if place is None:
            return ChangedResources(engine.history.last_seq())
        touched = engine.history.touched(place)
        names = [quote(name, safe="") for name in touched.entities]
        of_entities = [template.prefix + name for template in self._templates for name in names]
        return ChangedResources(touched.seq, (*self._resources, *of_entities) if touched.anything else ())

    def _asked(self, ask: Callable[[Engine], T], caller: Caller) -> T:
        """The engine's answer; its errors become protocol errors."""
        try:
            return ask(self.engine().acting_for(caller))
        except NotFound as error:
            raise MCPError(types.INVALID_PARAMS, str(error), {"code": error.code}) from error
        except MemoryServerError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error), {"code": error.code}) from error

    def _run(
        self, tool: Tool, tool_set: ToolSet, call: Call, tell: Tell, notes: list[Work] | None
    ) -> types.CallToolResult:
        try:
            self._engine_in_use = self.engine()
            caller = replace(call.caller, via="assistant", tool=tool.name)
            engine = self._engine_in_use.acting_for(caller)
            if notes is not None:
                engine = engine.noting_later(notes.append)
            if call.key is None or tool.only_reads:
                return tool.run(engine, call.arguments, tell)
            return engine.exactly_once(
                call.key.key, lambda once: tool.run(once, call.arguments, tell), again=call.key.again
            )
        except MemoryServerError as error:
            return tool_set.refuse(error)
        except Exception:
            log.exception("%s failed", tool.name)
            return tool_set.refuse(
                MemoryServerError(f"{tool.name} failed inside the server; its log says why")
            )

    def _caller(self, context: Context) -> Caller:
        greeting = context.session.client_params
        name = client_name(greeting.client_info.name) if greeting else ""
        if (request := _http_request(context)) is None:
            return self.local_caller(name)
        principal = principal_of(request)
        client = " ".join(filter(None, (name, principal.caller.client)))
        return Caller(space=principal.caller.space, client=client, readable=principal.spaces, remote=True)

    def _rights(self, context: Context) -> Rights:
        request = _http_request(context)
        return "write" if request is None else principal_of(request).rights

    async def in_thread(self, work: Callable[[], T]) -> T:
        """The result of work that may block."""
        if self.limiter is None:
            self.limiter = anyio.CapacityLimiter(self.workers)
        return await anyio.to_thread.run_sync(work, limiter=self.limiter)


def build(
    sets: Sequence[ToolSet],
    engine: Callable[[], Engine],
    *,
    workers: int,
    space: str = DEFAULT_SPACE,
    feed: Feed | None = None,
    limiter: anyio.CapacityLimiter | None = None,
    project: str = "",
    view: View | None = None,
) -> Server[None]:
    """A server with the tools of all sets. The engine is asked for at the first call, not before.

    A `feed` that is given is running while the server does; without one the server has its own.
    """
    shown = view_for(sets, view or View())
    dispatcher = Dispatcher(sets, engine, workers, space, feed or Feed(engine), limiter, project, shown)
    return serving(dispatcher, own_feed=feed is None)


def serving(dispatcher: Dispatcher, *, own_feed: bool) -> Server[None]:
    """A server whose requests the dispatcher answers; it runs the feed too if that is its own."""
    sets = dispatcher.sets
    offers: dict[str, Any] = {}
    if any(tool_set.resources for tool_set in sets):
        offers |= {
            "on_list_resources": dispatcher.list_resources,
            "on_read_resource": dispatcher.read_resource,
            "on_subscribe_resource": dispatcher.subscribe,
            "on_unsubscribe_resource": dispatcher.unsubscribe,
        }
    if any(tool_set.templates for tool_set in sets):
        offers |= {
            "on_list_resource_templates": dispatcher.list_templates,
            "on_completion": dispatcher.complete,
        }
    if any(tool_set.prompts for tool_set in sets):
        offers |= {"on_list_prompts": dispatcher.list_prompts, "on_get_prompt": dispatcher.get_prompt}
    server = Server(
        sets[0].server_name,
        version=__version__,
        instructions=_instructions(sets),
        lifespan=lambda _: _watching(dispatcher, own_feed=own_feed),
        on_list_tools=dispatcher.list_tools,
        on_call_tool=dispatcher.call_tool,
        on_subscriptions_listen=dispatcher.listen,
        **offers,
    )
    if dispatcher.view is not None:
        server.extensions = {EXTENSION: {}}
    return server


def view_for(sets: Sequence[ToolSet], view: View) -> View | None:
    """The view, if it is built and one of the sets has it."""
    return view if view.is_built() and any(tool_set.has_view for tool_set in sets) else None


def _instructions(sets: Sequence[ToolSet]) -> str | None:
    offered = {tool.name for tool_set in sets for tool in tool_set.tools}
    texts = [tool_set.instruct(offered) for tool_set in sets if tool_set.instruct]
    return "\n\n".join(texts) or None


def greeting(server: Server[Any]) -> InitializationOptions:
    """The `initialize` result for clients of the handshake era."""
    return server.create_initialization_options(
        NotificationOptions(resources_changed=True, tools_changed=True)
    )


def _http_request(context: Context) -> Any:
    """None for a local process of the user."""
    return None if isinstance(context.request, RequestKey) else context.request


def _teller(context: Context) -> Tell:
    """Reports progress to the client from a worker thread, once per percent."""
    last = -1

    def tell(doing: str, done: float, total: float | None) -> None:
        nonlocal last
        now = int(100 * done / total) if total else int(done)
        if now != last:
            last = now
            anyio.from_thread.run(context.session.report_progress, done, total, doing)

    return tell


def _read_named(template: Template, name: str, engine: Engine) -> str:
    return template.read(engine, name)


@asynccontextmanager
async def _watching(dispatcher: Dispatcher, *, own_feed: bool) -> AsyncIterator[None]:
    async with dispatcher.feed.running() if own_feed else nullcontext(), dispatcher.watchers.running():
        yield None
