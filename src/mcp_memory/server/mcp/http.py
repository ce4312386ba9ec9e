"""MCP over HTTP: the same tools as over stdio, for any number of assistants at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_memory.engine.access import digest
from mcp_memory.server.events import Feed
from mcp_memory.server.mcp.server import build
from mcp_memory.server.mcp.sessions import BoundedSessions
from mcp_memory.server.mcp.tools import ToolSet

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

PATH = "/mcp"


class OwnedSessions:
    """Passes the principal to the SDK, so that a session serves only the one that opened it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal = scope["principal"]
        owner = AccessToken(
            token="", client_id=digest(principal.secret), subject=principal.caller.space, scopes=[]
        )
        await self._app({**scope, "user": AuthenticatedUser(owner)}, receive, send)


class McpOverHttp:
    """A route for an ASGI app, and a task group that runs as long as the app and its feed. The guard in front
    of all routes checks Host, Origin and tokens.
    """

    def __init__(
        self,
        sets: Sequence[ToolSet],
        engine: Callable[[], Engine],
        *,
        workers: int,
        space: str,
        body_limit: int,
        feed: Feed,
    ) -> None:
        self._manager = StreamableHTTPSessionManager(
            build(sets, engine, workers=workers, space=space, feed=feed), max_request_body_size=body_limit
        )
        sessions = BoundedSessions(StreamableHTTPASGIApp(self._manager))
        self.route = Route(PATH, endpoint=OwnedSessions(sessions))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._manager.run():
            yield
