"""The service of the shared server: MCP sessions, each with its own settings, and single requests."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc
import anyio.to_thread

from mcp_memory.config import Config
from mcp_memory.server.connected import ConnectedAssistant
from mcp_memory.server.events import Feed
from mcp_memory.server.lazy import LazyEngine
from mcp_memory.server.mcp.server import Dispatcher, view_for
from mcp_memory.server.mcp.sets import tool_sets
from mcp_memory.server.mcp.view import View
from mcp_memory.server.shared.hello import Hello
from mcp_memory.server.shared.host import Host, Offer, unknown
from mcp_memory.thin.endpoint import Endpoint

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

Answer = Callable[["Service", Hello], Any]
"""Answers a request with a JSON value. May block; may raise a `MemoryServerError`."""


class Service:
    def __init__(
        self,
        endpoint: Endpoint,
        engine: LazyEngine,
        *,
        config_of: Callable[[Mapping[str, str]], Config],
        engine_with: Callable[[Engine, Config], Engine],
        requests: Mapping[str, Answer],
        workers: int,
        idle: float | None,
        feed: Feed | None = None,
        http_address: str = "",
    ) -> None:
        """`config_of` completes the settings that a client sent; it raises `Invalid`. `engine_with` returns
        the engine within that client's limits. `feed` and `http_address` are those of a server that already
        runs in this process.
        """
        self.engine = engine
        self.config_of = config_of
        self.engine_with = engine_with
        self.http_address = http_address
        self._requests = requests
        self._workers = workers
        self._own_feed = feed is None
        self._feed = feed or Feed(engine.unasked)
        self._limiter: anyio.CapacityLimiter | None = None
        self._seats = threading.Semaphore(workers)
        self._tasks: anyio.abc.TaskGroup | None = None
        self.host = Host(endpoint, open=self._open, answer=self._answer, idle=idle)

    @asynccontextmanager
    async def running(self, patience: float = 0.0) -> AsyncIterator[None]:
        """Raises `AlreadyRunning` when another process is the shared server."""
        self._limiter = anyio.CapacityLimiter(self._workers)
        self._ending = anyio.Event()
        async with self._feeding(), anyio.create_task_group() as self._tasks:
            async with self.host.running(patience):
                yield
            self._ending.set()

    def connected(self) -> list[ConnectedAssistant]:
        """Clients with an open session."""
        now = time.monotonic()
        return [
            ConnectedAssistant(
                client.name(),
                config.space,
                config.tools,
                now - client.since,
            )
            for client in self.host.clients
            for config in (self.config_of(client.hello.settings),)
        ]

    def engine_of(self, hello: Hello) -> Engine:
        """The engine, in the client's space and within its limits."""
        return self.engine_in(hello.settings)

    def engine_in(self, settings: Mapping[str, str]) -> Engine:
        from mcp_memory.model import Caller

        config = self.config_of(settings)
        return self.engine_with(self.engine().acting_for(Caller(config.space)), config)

    @asynccontextmanager
    async def _feeding(self) -> AsyncIterator[None]:
        if not self._own_feed:
            yield
            return
        async with self._feed.running():
            yield

    async def _open(self, hello: Hello) -> Offer:
        from mcp_memory.engine.project import project_of

        config = self.config_of(hello.settings)
        sets = await anyio.to_thread.run_sync(tool_sets, config.tool_sets)
        if hello.http is not None:
            await self._open_http(self.config_of({**hello.settings, **hello.http}))
        dispatcher = Dispatcher(
            sets,
            lambda: self.engine_with(self.engine(), config),
            workers=self._workers,
            space=config.space,
            feed=self._feed,
            limiter=self._limiter,
            project=project_of(hello.folder).key,
            view=view_for(sets, View()),
            seats=self._seats,
        )
        return Offer(dispatcher, sets[0].greeting)

    def _answer(self, hello: Hello) -> Any:
        if hello.want not in self._requests:
            raise unknown(hello)
        return self._requests[hello.want](self, hello)

    async def _open_http(self, config: Config) -> None:
        """Serve HTTP in this process too, until it ends. Raises `Unavailable`."""
        if not self.http_address and self._tasks is not None:
            self.http_address = await self._tasks.start(self._serve_http, config)

    async def _serve_http(
        self, config: Config, *, task_status: anyio.abc.TaskStatus[str] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        from mcp_memory.server.embedded_http import embedded_http

        async with embedded_http(config, self.engine) as address:
            task_status.started(address)
            await self._ending.wait()
