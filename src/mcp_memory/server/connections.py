"""Limits on HTTP connections: their number, and how long each may be idle or stalled.

uvicorn has no timeout for a request line, nor for a client that does not read its response. A thousand such
clients would exhaust the open files of the process, and lock out everybody else.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger(__name__)

HEADER_TIMEOUT = 20.0
"""Timeout in seconds for the head of a request, from the connection or its first byte."""

WRITE_TIMEOUT = 60.0
"""Timeout in seconds for a client that does not read its response while more is to be sent."""

MOST_CONNECTIONS = 2_000
RESERVED_FILES = 128
"""Open files that are not connections: databases, logs, models, temporary files."""

LOG_EVERY = 10.0
"""Seconds between two log lines about the same overload."""


def connection_limit() -> int:
    """The number of connections that the limit of open files allows."""
    try:
        import resource
    except ImportError:  # Windows: no such limit
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(16, min(MOST_CONNECTIONS, files - RESERVED_FILES))


class RateLimitedLog:
    """Logs the first of many equal warnings, then one line with their number each `LOG_EVERY` seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = 0.0
        self._count = 0

    def warn(self, message: str) -> None:
        self._count += 1
        if self._clock() >= self._next:
            log.warning("%s (%d times)", message, self._count)
            self._next = self._clock() + LOG_EVERY
            self._count = 0


class Deadline:
    """A timer that aborts a connection unless it is met in time."""

    def __init__(self, seconds: float, abort: Callable[[], None]) -> None:
        self._seconds = seconds
        self._abort = abort
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Does nothing while it runs: the first deadline stays."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._abort)

    def meet(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, with a deadline for every state in which a client can make it wait."""

    limit = MOST_CONNECTIONS
    header_timeout = HEADER_TIMEOUT
    write_timeout = WRITE_TIMEOUT
    turned_away = RateLimitedLog()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head = Deadline(self.header_timeout, self._abort)
        self._answer = Deadline(self.write_timeout, self._abort)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limit:
            self.turned_away.warn(f"more than {self.limit} connections: the newest is closed")
            transport.abort()
        else:
            self._head.start()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._head.start()
        else:
            self._head.meet()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # The keep-alive timer takes over until the next byte.
        self._head.meet()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._answer.start()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._answer.meet()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head.meet()
        self._answer.meet()
        super().connection_lost(exc)

    def _abort(self) -> None:
        # Not close(), which would wait until the client has read the buffer.
        self.transport.abort()


def bounded_protocol(
    limit: int, header_timeout: float = HEADER_TIMEOUT, write_timeout: float = WRITE_TIMEOUT
) -> type[BoundedProtocol]:
    """The protocol class with these limits: uvicorn creates one instance per connection."""
    return type(
        "LimitedProtocol",
        (BoundedProtocol,),
        {
            "limit": limit,
            "header_timeout": header_timeout,
            "write_timeout": write_timeout,
            "turned_away": RateLimitedLog(),
        },
    )


def quiet_accept_failures(loop: asyncio.AbstractEventLoop) -> None:
    """Log "out of files" rarely: asyncio reports it for each pending connection, with a traceback."""
    refused = RateLimitedLog()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if context.get("message") == "socket.accept() out of system resource":
            refused.warn("no more files can be opened: new connections wait")
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)
