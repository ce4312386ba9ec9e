"""Puts the app on a socket, and stops it without waiting for clients that never leave."""

from __future__ import annotations

import socket

import uvicorn
from starlette.types import ASGIApp

from mcp_memory.server.events import Feed

GRACE = 3
"""Seconds that requests under way have to end once the server should stop."""


class Server(uvicorn.Server):
    """Ends the event streams first: the others could not end before them."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        feed = self.lifespan.state.get("feed")
        if isinstance(feed, Feed):
            feed.end()
        await super().shutdown(sockets)


def server(app: ASGIApp, host: str, port: int, log_level: str = "info") -> Server:
    return Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            log_level=log_level,
            access_log=log_level == "debug",
            server_header=False,
            timeout_graceful_shutdown=GRACE,
        )
    )
