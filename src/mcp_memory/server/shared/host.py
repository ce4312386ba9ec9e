"""Accepts the clients of the shared server, and leaves some time after the last one."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server

from mcp_memory import __version__
from mcp_memory.errors import MemoryServerError, NotFound
from mcp_memory.server.shared.hello import Hello
from mcp_memory.server.shared.listener import Listener
from mcp_memory.server.shared.session import Session
from mcp_memory.thin import wire
from mcp_memory.thin.endpoint import Endpoint

log = logging.getLogger(__name__)

FIRST_LINE = 10.0
"""Seconds that a client has to say what it wants."""

LOOK_EVERY = 1.0
"""Seconds between two looks at whether anybody still needs this server."""

LAST_WORDS = 35.0
"""Seconds that sessions have to end once the server should leave."""


@dataclass(frozen=True)
class Client:
    """A session that is open."""

    hello: Hello
    since: float
    name: Callable[[], str] = field(default=lambda: "")


@dataclass(frozen=True)
class Offer:
    """The MCP server and greeting for a client that opens a session."""

    server: Server[Any]
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
        self._sessions: dict[Session, Client] = {}
        self._left = anyio.Event()
        self._leaving = False
        self._busy = 0
        self._last_seen = self.started = clock()

    @property
    def clients(self) -> list[Client]:
        return list(self._sessions.values())

    @asynccontextmanager
    async def running(self, patience: float = 0.0) -> AsyncIterator[None]:
        """Raises `AlreadyRunning` and `OSError` if it cannot listen."""
        listening = await anyio.to_thread.run_sync(self._listener.take, patience)
        server = await asyncio.start_server(self._welcome, sock=listening, limit=wire.LONGEST_LINE)
        self._server = server
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch)
                yield
                await self._end()
                tasks.cancel_scope.cancel()
        finally:
            server.close()
            self._listener.give_up()

    async def left(self) -> None:
        """Returns when this server should end."""
        await self._left.wait()

    def leave(self) -> None:
        """Let another server come, and end when all that was asked for is answered. From the event loop."""
        if self._leaving:
            return
        self._leaving = True
        self._server.close()
        self._listener.give_up()
        for session in list(self._sessions):
            session.drain()
        self._left.set()

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
            asyncio.get_running_loop().call_soon(self.leave)
            return {}
        return await anyio.to_thread.run_sync(self._answer, hello)

    async def _converse(
        self, hello: Hello, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        offer = await self._open(hello)
        if self._leaving:
            return  # it finds another
        session = Session(reader, writer, offer.server, hello.session)
        self._sessions[session] = Client(hello, self._clock(), lambda: session.client_name)
        try:
            await _say(writer, {"answer": {"greeting": offer.greeting}})
            await session.run()
        finally:
            del self._sessions[session]

    async def _watch(self) -> None:
        """Nobody is to find a server that nobody can reach, or that nobody needs."""
        while True:
            await anyio.sleep(LOOK_EVERY)
            if self._idle is None:
                continue  # somebody wants it to run: it is a server of its own, too
            unused = not self._busy and self._clock() - self._last_seen > self._idle
            if unused or not self._listener.is_held():
                log.info("leaving: %s", "no client needs this server" if unused else "its socket is gone")
                self.leave()
                return


async def _say(writer: asyncio.StreamWriter, said: dict[str, Any]) -> None:
    about = {"protocol": wire.PROTOCOL, "version": __version__, "pid": os.getpid()}
    writer.write(wire.encoded({**about, **said}))
    await writer.drain()


def unknown(hello: Hello) -> NotFound:
    return NotFound(f"this server knows no request {hello.want!r}")
