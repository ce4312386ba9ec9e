"""An MCP session with one thin client, over the shared server's socket."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage

from mcp_memory.model import client_name
from mcp_memory.server.mcp.request_key import RequestKey
from mcp_memory.server.mcp.server import greeting
from mcp_memory.server.mcp.stdio import LAST_ANSWERS, MOST_UNANSWERED, refusal
from mcp_memory.thin import wire

Incoming = SessionMessage | Exception


class Session:
    """Numbers on the wire are the client's; each answer goes back with the number of its request."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Server[Any], name: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._server = server
        self._name = name
        self._unanswered: dict[types.RequestId, int] = {}
        self._listening: set[types.RequestId] = set()
        self._fewer = anyio.Event()
        self._reading = anyio.CancelScope()
        self.client_name = ""
        """As the client introduced itself."""

    async def run(self) -> None:
        """Serve until the client hangs up or the session is drained."""
        to_server, requests = anyio.create_memory_object_stream[Incoming]()
        answers, from_server = anyio.create_memory_object_stream[SessionMessage]()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, to_server)
            tasks.start_soon(self._write, from_server)
            await self._server.run(requests, answers, greeting(self._server))
            tasks.cancel_scope.cancel()

    def drain(self) -> None:
        """Take no further request, and end once those under way have their answers."""
        self._reading.cancel()

    async def _read(self, onward: MemoryObjectSendStream[Incoming]) -> None:
        async with onward:
            with self._reading, suppress(OSError, ValueError):
                while (line := await self._reader.readline()).endswith(b"\n"):
                    # What was read is done, also when no more is to be read.
                    with anyio.CancelScope(shield=True):
                        await self._receive(line, onward)
                    await self._at_most(MOST_UNANSWERED - 1)
                return
            with anyio.move_on_after(LAST_ANSWERS):
                await self._at_most(0)

    async def _at_most(self, count: int) -> None:
        """Wait until no more than so many are unanswered."""
        while len(self._unanswered.keys() - self._listening) > count:
            self._fewer = anyio.Event()
            await self._fewer.wait()

    async def _receive(self, line: bytes, onward: MemoryObjectSendStream[Incoming]) -> None:
        number, again, rest = wire.number_of(line)
        message = _parsed(rest)
        if refused := refusal(message):
            await self._send(number, refused)
            return
        if isinstance(message, SessionMessage):
            message = self._noted(message.message, number, again)
        await onward.send(message)

    def _noted(self, message: types.JSONRPCMessage, number: int | None, again: bool) -> SessionMessage:
        if isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))
        if not isinstance(message, types.JSONRPCRequest) or number is None:
            return SessionMessage(message)
        self._unanswered[message.id] = number
        if message.method == "initialize":
            self.client_name = _introduced((message.params or {}).get("clientInfo"))
        if message.method == wire.LISTEN:
            self._listening.add(message.id)
        request_key = RequestKey(key=f"{self._name}/{number}", again=again)
        return SessionMessage(message, metadata=ServerMessageMetadata(request_context=request_key))

    async def _write(self, answers: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with answers:
            async for message in answers:
                content = message.message
                number = None
                if isinstance(content, types.JSONRPCResponse | types.JSONRPCError):
                    number = self._unanswered.get(content.id) if content.id is not None else None
                await self._send(number, content)
                if number is not None and not isinstance(content, types.JSONRPCRequest):
                    self._settle(getattr(content, "id", None))

    async def _send(self, number: int | None, message: types.JSONRPCMessage) -> None:
        text = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        with suppress(OSError):  # the client is gone; what it asked for is done all the same
            self._writer.write(b"%d %b" % (number, text) if number is not None else wire.unnumbered(text))
            await self._writer.drain()

    def _settle(self, id: types.RequestId | None) -> None:
        if id is not None:
            self._unanswered.pop(id, None)
            self._listening.discard(id)
        self._fewer.set()


def _introduced(info: object) -> str:
    return client_name(str(info.get("name", ""))) if isinstance(info, dict) else ""


def _parsed(line: bytes) -> Incoming:
    try:
        text = line.decode("utf-8", "replace")
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
    except Exception as error:
        return error
