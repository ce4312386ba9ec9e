"""An MCP session with one thin client, over the shared server's socket."""

from __future__ import annotations

import asyncio
import logging
from contextlib import closing, suppress

import anyio
import anyio.abc
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage

from mcp_memory.model import client_name
from mcp_memory.server.mcp.request_key import RequestKey
from mcp_memory.server.mcp.server import Call, Dispatcher, Work, greeting, serving
from mcp_memory.server.mcp.stdio import LAST_ANSWERS, MOST_UNANSWERED, refusal
from mcp_memory.server.shared.direct_calls import VERSIONS, DirectCall, answer_line, read_call
from mcp_memory.server.shared.outgoing import Outgoing
from mcp_memory.thin import wire

log = logging.getLogger(__name__)

Incoming = SessionMessage | Exception


class ClientSession:
    """Request numbers are the client's; each answer carries the number of its request."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, dispatcher: Dispatcher, name: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._dispatcher = dispatcher
        self._server = serving(dispatcher, own_feed=False)
        self._name = name
        self._unanswered: dict[types.RequestId, int] = {}
        self._listening: set[types.RequestId] = set()
        self._fewer = anyio.Event()
        self._reading = anyio.CancelScope()
        self._tasks: anyio.abc.TaskGroup | None = None
        self._initialize: types.RequestId | None = None
        self._version = ""
        """Of the protocol, once the handshake is done."""
        self._finishing: dict[int, anyio.Event] = {}
        """Calls that were answered and whose use is still to be noted: the client's next one is to see it."""
        self.client_name = ""
        """The client's name from the handshake."""

    async def run(self) -> None:
        """Serve until the client hangs up or the session is drained."""
        to_server, requests = anyio.create_memory_object_stream[Incoming]()
        answers, from_server = anyio.create_memory_object_stream[SessionMessage]()
        with closing(Outgoing(self._writer)) as self._outgoing:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                tasks.start_soon(self._read, to_server)
                tasks.start_soon(self._write, from_server)
                await self._server.run(requests, answers, greeting(self._server))
                tasks.cancel_scope.cancel()

    def drain(self) -> None:
        """Accept no further requests, and end once running ones are answered."""
        self._reading.cancel()

    async def _read(self, onward: MemoryObjectSendStream[Incoming]) -> None:
        async with onward:
            with self._reading, suppress(OSError, ValueError):
                while (line := await self._reader.readline()).endswith(b"\n"):
                    # Requests that were read are completed, even if no more are accepted.
                    with anyio.CancelScope(shield=True):
                        await self._receive(line, onward)
                    await self._at_most(MOST_UNANSWERED - 1)
                return
            with anyio.move_on_after(LAST_ANSWERS):
                await self._at_most(0)

    async def _at_most(self, count: int) -> None:
        """Wait until at most this many are unanswered."""
        while len(self._unanswered.keys() - self._listening) > count:
            self._fewer = anyio.Event()
            await self._fewer.wait()

    async def _receive(self, line: bytes, onward: MemoryObjectSendStream[Incoming]) -> None:
        number, again, rest = wire.number_of(line)
        text = rest.decode("utf-8", "replace")
        if number is not None and (call := self._direct(text)):
            self._unanswered[call.id] = number
            # Now, while the use of what the client saw last may still be noted.
            self._dispatcher.foresee(call.tool, call.arguments)
            assert self._tasks is not None
            self._tasks.start_soon(self._answer, call, self._key(number, again), number)
            return
        message = _parsed(text)
        if refused := refusal(message):
            await self._send(number, _dumped(refused))
            return
        if isinstance(message, SessionMessage):
            message = self._noted(message.message, number, again)
        await onward.send(message)

    def _direct(self, text: str) -> DirectCall | None:
        """The call on a line, if it can be answered without the protocol library."""
        call = read_call(text) if self._version in VERSIONS else None
        return call if call and self._dispatcher.offers(call.tool) else None

    async def _answer(self, direct: DirectCall, key: RequestKey, number: int) -> None:
        for finishing in list(self._finishing.values()):
            await finishing.wait()
        notes: list[Work] = []
        call = Call(direct.tool, direct.arguments, self._dispatcher.local_caller(self.client_name), key)
        finished, answered = anyio.Event(), False

        def is_awaited() -> bool:
            return self._unanswered.get(direct.id) == number  # else the client has cancelled it

        def answer(result: types.CallToolResult) -> None:
            nonlocal answered
            self._finishing[number] = finished
            line = answer_line(direct.id, result)
            answered = not is_awaited() or self._outgoing.send_now(wire.answering(number, line))

        try:
            result = await self._dispatcher.answer(call, notes=notes, at_once=answer)
            line = b"" if answered else answer_line(direct.id, result)
        except Exception:
            log.exception("%s failed", direct.tool)
            error = types.ErrorData(code=types.INTERNAL_ERROR, message="Internal server error")
            line = _dumped(types.JSONRPCError(jsonrpc="2.0", id=direct.id, error=error))
        try:
            if is_awaited():
                if not answered:
                    self._finishing[number] = finished
                    await self._send(number, line)
                self._settle(direct.id)
            if notes:
                with anyio.CancelScope(shield=True):
                    await self._dispatcher.in_thread(lambda: [note() for note in notes])
        finally:
            finished.set()
            self._finishing.pop(number, None)

    def _key(self, number: int, again: bool) -> RequestKey:
        return RequestKey(key=f"{self._name}/{number}", again=again)

    def _noted(self, message: types.JSONRPCMessage, number: int | None, again: bool) -> SessionMessage:
        if isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))
        if not isinstance(message, types.JSONRPCRequest) or number is None:
            return SessionMessage(message)
        self._unanswered[message.id] = number
        if message.method == "initialize":
            self._initialize, self._version = message.id, ""
            self.client_name = _introduced((message.params or {}).get("clientInfo"))
        if message.method == wire.LISTEN:
            self._listening.add(message.id)
        metadata = ServerMessageMetadata(request_context=self._key(number, again))
        return SessionMessage(message, metadata=metadata)

    async def _write(self, answers: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with answers:
            async for message in answers:
                content = message.message
                number = None
                if isinstance(content, types.JSONRPCResponse | types.JSONRPCError):
                    number = self._unanswered.get(content.id) if content.id is not None else None
                if isinstance(content, types.JSONRPCResponse) and content.id == self._initialize:
                    self._initialize, self._version = None, str(content.result.get("protocolVersion"))
                await self._send(number, _dumped(content))
                if number is not None and not isinstance(content, types.JSONRPCRequest):
                    self._settle(getattr(content, "id", None))

    async def _send(self, number: int | None, line: bytes) -> None:
        with suppress(OSError):  # the client has disconnected; its requests are completed anyway
            await self._outgoing.send(
                wire.answering(number, line) if number is not None else wire.unnumbered(line)
            )

    def _settle(self, id: types.RequestId | None) -> None:
        if id is not None:
            self._unanswered.pop(id, None)
            self._listening.discard(id)
        self._fewer.set()


def _introduced(info: object) -> str:
    return client_name(str(info.get("name", ""))) if isinstance(info, dict) else ""


def _dumped(message: types.JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def _parsed(text: str) -> Incoming:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
    except Exception as error:
        return error
