"""Serves the app on a socket, and stops without waiting for clients that never disconnect."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from mcp_memory.config import environment
from mcp_memory.errors import Unavailable
from mcp_memory.server.connections import (
    BoundedProtocol,
    bounded_protocol,
    connection_limit,
    quiet_accept_failures,
)
from mcp_memory.server.events import Feed

BACKLOG = 2048

GRACE = 3
"""Seconds for running requests to finish during shutdown."""

SHUTDOWN_LIMIT = 15.0
"""Seconds after which a stopping process exits, even if threads still wait for something."""

FIRST_VISIT = 60.0
"""Seconds for which a server that leaves when idle waits for its first request."""


class Server(uvicorn.Server):
    """Ends the event streams first: the other requests could not end before them."""

    ends_process = False
    """Whether a shutdown that hangs ends the whole process. Acknowledged writes are on disk by then."""

    announce: Callable[[], None] = staticmethod(lambda: None)
    """Called once requests are answered."""

    leaves_after: float | None = None
    """Seconds without any connection after which the server ends."""

    is_needed: Callable[[], bool] = staticmethod(lambda: False)
    """Whether the server stays up without HTTP connections."""

    _quiet_since: float | None = None

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._is_abandoned(time.monotonic())

    def _is_abandoned(self, now: float) -> bool:
        if self.leaves_after is None:
            return False
        if self.server_state.connections or self.is_needed():
            self._quiet_since = None
        elif self._quiet_since is None:
            self._quiet_since = now
        patience = self.leaves_after
        if not self.server_state.total_requests:
            patience = max(patience, FIRST_VISIT)
        return self._quiet_since is not None and now - self._quiet_since >= patience

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        quiet_accept_failures(asyncio.get_running_loop())
        await super().startup(sockets)
        if self.started:
            self.announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.ends_process:
            _end_process_after(SHUTDOWN_LIMIT)
        feed = self.lifespan.state.get("feed")
        if isinstance(feed, Feed):
            feed.end()
        # A client that does not read its response would block the shutdown and end it with a traceback.
        letting_go = asyncio.get_running_loop().call_later(GRACE, self._abort_connections)
        await super().shutdown(sockets)
        letting_go.cancel()
        self._abort_connections()
        await asyncio.sleep(0)

    def _abort_connections(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()


class Guest(Server):
    """Runs inside another program's process, and leaves its signals alone."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def server(
    app: ASGIApp,
    host: str,
    port: int,
    log_level: str = "info",
    *,
    protocol: type[BoundedProtocol] | None = None,
) -> Server:
    return Server(_config(app, log_level, protocol, host=host, port=port))


def listening(host: str, port: int) -> socket.socket:
    """A bound socket, so that an unavailable address fails before anything starts."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise Unavailable(_why_not(host, port, error)) from error


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use, perhaps by another mcp-memory: stop that program, "
            "or choose another port with --port"
        )
    if error.errno == errno.EACCES:
        return f"port {port} needs special rights: choose one from 1024 on with --port"
    if isinstance(error, socket.gaierror):
        return (
            f"{host!r} is not an address of this machine: write 127.0.0.1, or the address of a network card"
        )
    return f"{host} port {port} cannot be listened on: {error.strerror or error}"


def guest(app: ASGIApp, log_level: str) -> Guest:
    """Serve on sockets that are already open."""
    return Guest(_config(app, log_level))


def _config(
    app: ASGIApp, log_level: str, protocol: type[BoundedProtocol] | None = None, **address: Any
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning" if log_level == "info" else log_level,  # we announce start and stop ourselves
        access_log=log_level == "debug",
        server_header=False,
        timeout_graceful_shutdown=GRACE + 1,
        # Otherwise every local caller could claim any address in X-Forwarded-For, and evade limits by it.
        proxy_headers="FORWARDED_ALLOW_IPS" in environment(),
        http=protocol or bounded_protocol(connection_limit()),
        ws="none",
        **address,
    )


def _end_process_after(seconds: float) -> None:
    timer = threading.Timer(seconds, os._exit, args=(1,))
    timer.daemon = True
    timer.start()
