"""One ASGI app on one port: REST, the event stream, MCP, and the page for people."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any

import anyio.to_thread
from fastapi import Depends, FastAPI
from starlette.types import ASGIApp

from mcp_memory import __version__
from mcp_memory.config import Config
from mcp_memory.model import DEFAULT_SPACE
from mcp_memory.server import page, problems, rest
from mcp_memory.server.connected import Connected
from mcp_memory.server.events import Feed
from mcp_memory.server.guard import Guard, policy
from mcp_memory.server.lazy import LazyEngine
from mcp_memory.server.mcp.http import McpOverHttp
from mcp_memory.server.mcp.sets import tool_sets
from mcp_memory.server.metrics import Measured, Requests
from mcp_memory.server.rest.dependencies import known_parameters

DESCRIPTION = """\
One long-term memory for every AI assistant: memories, entities, relations, their history, and a stream of
what changes. Errors are problem details (RFC 9457). Times are UTC. A space is chosen with the header
`X-Memory-Space`."""

TOKEN = {"type": "http", "scheme": "bearer", "description": "Required once tokens exist."}


class App(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """The usual document, with an optional bearer token: the guard decides whether one is needed."""
        document = super().openapi()
        document["components"]["securitySchemes"] = {"token": TOKEN}
        document["security"] = [{}, {"token": []}]
        return document


Beside = Callable[[Feed], AbstractAsyncContextManager[None]]
"""Other services of the process, which run as long as the app, with its feed."""


def openapi_document() -> dict[str, Any]:
    """The OpenAPI document of the REST API, without a server or a database."""
    return _app(None).openapi()


def build_app(
    config: Config,
    engine: LazyEngine,
    beside: Beside = lambda _: nullcontext(),
    connected: Connected | None = None,
) -> ASGIApp:
    """The whole server. The engine is built at the first request that needs it."""
    feed = Feed(engine)
    mcp = McpOverHttp(
        tool_sets(config.tool_sets),
        engine,
        workers=config.workers,
        space=config.space,
        body_limit=config.api_body_limit,
        feed=feed,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Feed]]:
        # A few threads are enough, and keep the event loop responsive: SQLite has one writer.
        anyio.to_thread.current_default_thread_limiter().total_tokens = config.workers * 4
        # Maintenance starts before the first request; an unreachable database is logged.
        engine.begin()
        async with feed.running(), mcp.running(), beside(feed):
            yield {"feed": feed}
        await anyio.to_thread.run_sync(engine.close)

    app = _app(lifespan)
    app.state.engine = engine
    app.state.feed = feed
    app.state.api_token = config.api_token
    app.state.command = command_line(config)
    app.state.requests = Requests()
    app.state.connected = connected or Connected()
    problems.install(app)
    app.router.routes.append(mcp.route)
    page.install(app)
    guarded = Guard(
        app, policy(config), lambda: engine().access, time.monotonic, lambda: engine().page_sessions
    )
    return Measured(guarded, app.state.requests, time.monotonic)


def _app(lifespan: Any) -> App:
    app = App(
        title="mcp-memory",
        version=__version__,
        description=DESCRIPTION,
        servers=[{"url": "/", "description": "This server"}],
        lifespan=lifespan,
        # The default documentation pages load scripts from a CDN; ours does not.
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    for router in rest.routers():
        app.include_router(router, dependencies=[Depends(known_parameters)])
    return app


def command_line(config: Config) -> list[str]:
    """The command that starts the program on this database, without secrets, for clients' settings."""
    found = shutil.which("mcp-memory")
    program = [found] if found else [sys.executable, "-m", "mcp_memory"]
    chosen = config.database_url and config.database_file
    database = ["--database", config.database_url] if chosen else []
    return [*program, *database, *(["--space", config.space] if config.space != DEFAULT_SPACE else [])]
