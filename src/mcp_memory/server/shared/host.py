"""Accepts the clients of the shared server, and leaves some time after the last one."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.to_thread

from mcp_memory import __version__
from mcp_memory.errors import MemoryServerError, NotFound
from mcp_memory.server.mcp.server import Dispatcher
from mcp_memory.server.shared.hello import Hello
from mcp_memory.server.shared.listener import AlreadyRunning, Listener
from mcp_memory.server.shared.session import ClientSession
from mcp_memory.thin import wire
from mcp_memory.thin.endpoint import Endpoint

log = logging.getLogger(__name__)

FIRST_LINE = 10.0
"""Timeout in seconds for a client's first message."""

LOOK_EVERY = 1.0
"""Seconds between two checks whether the server is still needed."""

LAST_WORDS = 35.0
"""Grace period in seconds for sessions once the server should end."""


@dataclass(frozen=True)
class ConnectedClient:
    """A session that is open."""

    hello: Hello
    since: float
    name: Callable[[], str] = field(default=lambda: "")


@dataclass(frozen=True)
class Offer:
    """The handler of a client that opens a session, and the greeting."""

    dispatcher: Dispatcher
    greeting: str


class Host:
    """One per process. `answer` may block; it is called in a worker thread."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        open: Callable[[Hello], Awaitable[Offer]],
        answer: Callable[[Hello], Any],
        idle: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listener = Listener(endpoint)
        self._open = open
        self._answer = answer
        self._idle = idle
        self._clock = clock
        self._sessions: dict[ClientSession, ConnectedClient] = {}
        self._left = anyio.Event()
        self._leaving = False
        self.ends_process = False
        """Whether it was asked to end the whole process, and not only to make way for another server."""
        self._busy = 0
        self._last_seen = self.started = clock()

    @property
    def clients(self) -> list[ConnectedClient]:
        return list(self._sessions.values())

    @asynccontextmanager
    async def running(self, patience: float = 0.0) -> AsyncIterator[None]:
        """Raises `AlreadyRunning` and `OSError` if it cannot listen."""
        await self._accept(await anyio.to_thread.run_sync(self._listener.take, patience))
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch)
                yield
                await self._end()
                tasks.cancel_scope.cancel()
        finally:
            self._server.close()
            self._listener.give_up()

    async def left(self) -> None:
        """Returns when this server should end."""
        await self._left.wait()

    def leave(self) -> None:
        """Make way for another server, and end when all requests are answered. Call from the event loop."""
        if self._leaving:
            return
        self._leaving = True
        self._server.close()
        self._listener.give_up()
        for session in list(self._sessions):
            session.drain()
        self._left.set()

    async def _accept(self, listening: socket.socket) -> None:
        self._server = await asyncio.start_server(self._welcome, sock=listening, limit=wire.LONGEST_LINE)
        if self._leaving:
            self._server.close()

    async def _end(self) -> None:
        self.leave()
        with anyio.move_on_after(LAST_WORDS):
            while self._sessions or self._busy:
                await anyio.sleep(0.01)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._busy += 1
        try:
            with suppress(OSError, asyncio.IncompleteReadError, ValueError):
                await self._serve(reader, writer)
        except Exception:
            log.exception("a client could not be served")
        finally:
            self._busy -= 1
            self._last_seen = self._clock()
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(FIRST_LINE):
            if not await self._listener.admits(reader, writer):
                log.warning("somebody else's process was turned away")
                return
            line = await reader.readline()
        if not line.endswith(b"\n"):
            return
        try:
            hello = Hello.read(line)
            if hello.want == "session":
                await self._converse(hello, reader, writer)
                return
            said = {"answer": await self._answered(hello)}
        except MemoryServerError as error:
            said = {"error": str(error), "code": error.code}
        await _say(writer, said)

    async def _answered(self, hello: Hello) -> Any:
        if hello.want == "leave":
            log.info("asked to leave: %s", hello.request.get("because", "no reason given"))
            self.ends_process = bool(hello.request.get("end_process"))
            asyncio.get_running_loop().call_soon(self.leave)
            return {}
        return await anyio.to_thread.run_sync(self._answer, hello)

    async def _converse(
        self, hello: Hello, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        offer = await self._open(hello)
        if self._leaving:
            return  # the client connects to another server
        session = ClientSession(reader, writer, offer.dispatcher, hello.session)
        self._sessions[session] = ConnectedClient(hello, self._clock(), lambda: session.client_name)
        try:
            await _say(writer, {"answer": {"greeting": offer.greeting}})
            await session.run()
        finally:
            del self._sessions[session]

    async def _watch(self) -> None:
        """End the server when it is unreachable or no longer needed."""
        while not self._leaving:
            await anyio.sleep(LOOK_EVERY)
            if self._idle is None:
                await self._stay_reachable()
                continue
            unused = not self._busy and self._clock() - self._last_seen > self._idle
            if unused or not self._listener.is_held():
                log.info("leaving: %s", "no client needs this server" if unused else "its socket is gone")
                self.leave()
                return

    async def _stay_reachable(self) -> None:
        """A server that does not leave by itself (`serve`) listens again when its socket was removed."""
        if self._leaving or self._listener.is_held():
            return
        with suppress(AlreadyRunning, OSError):  # looked at again in a moment
            listening = self._listener.take_again()
            self._server.close()
            await self._accept(listening)


async def _say(writer: asyncio.StreamWriter, said: dict[str, Any]) -> None:
    about = {"protocol": wire.PROTOCOL, "version": __version__, "pid": os.getpid()}
    writer.write(wire.encoded({**about, **said}))
    await writer.drain()


def unknown(hello: Hello) -> NotFound:
    return NotFound(f"this server knows no request {hello.want!r}")
