"""An MCP session with one thin client, over the shared server's socket."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass
from functools import partial

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
from mcp_memory.server.shared.incoming import incoming
from mcp_memory.server.shared.outgoing import Outgoing
from mcp_memory.thin import wire

log = logging.getLogger(__name__)

Parsed = SessionMessage | Exception


class ClientSession:
    """Request numbers are the client's; each answer carries the number of its request."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, dispatcher: Dispatcher, name: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._loop = asyncio.get_running_loop()
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
        self._finishing: dict[int, asyncio.Event] = {}
        """Calls that were answered and whose use is still to be noted: the client's next one is to see it."""
        self.client_name = ""
        """The client's name from the handshake."""

    async def run(self) -> None:
        """Serve until the client hangs up or the session is drained."""
        to_server, requests = anyio.create_memory_object_stream[Parsed]()
        answers, from_server = anyio.create_memory_object_stream[SessionMessage]()
        read = partial(incoming, take=self._take, is_quiet=self._is_quiet, longest=wire.LONGEST_LINE)
        with closing(Outgoing(self._writer)) as self._outgoing:
            async with (
                aclosing(read(self._reader, self._writer)) as self._incoming,
                anyio.create_task_group() as tasks,
            ):
                self._tasks = tasks
                tasks.start_soon(self._read, to_server)
                tasks.start_soon(self._write, from_server)
                await self._server.run(requests, answers, greeting(self._server))
                tasks.cancel_scope.cancel()

    def drain(self) -> None:
        """Accept no further requests, and end once running ones are answered."""
        self._reading.cancel()

    async def _read(self, onward: MemoryObjectSendStream[Parsed]) -> None:
        async with onward:
            with self._reading, suppress(OSError, ValueError):
                while (line := await self._incoming.line()).endswith(b"\n"):
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

    async def _receive(self, line: bytes, onward: MemoryObjectSendStream[Parsed]) -> None:
        number, again, text = _split(line)
        if number is not None and (call := self._direct(text)):
            assert self._tasks is not None
            self._tasks.start_soon(self._answer, self._accept(call, number, again))
            return
        message = _parsed(text)
        if refused := refusal(message):
            await self._send(number, _dumped(refused))
            return
        if isinstance(message, SessionMessage):
            message = self._noted(message.message, number, again)
        await onward.send(message)

    def _take(self, line: bytes) -> Work | None:
        """The work for a line, if it is a call that the thread which reads can answer."""
        number, again, text = _split(line)
        call = self._direct(text) if number is not None else None
        if number is None or call is None or not self._dispatcher.begin_here(call.tool):
            return None
        return partial(self._answer_here, self._accept(call, number, again))

    def _is_quiet(self) -> bool:
        """Whether nothing is in progress, and the next line may be a plain call."""
        if self._version not in VERSIONS or self._finishing:
            return False
        return not self._unanswered.keys() - self._listening

    def _direct(self, text: str) -> DirectCall | None:
        """The call on a line, if it can be answered without the protocol library."""
        call = read_call(text) if self._version in VERSIONS else None
        if call is None or not self._dispatcher.offers(call.tool):
            return None
        return None if call.wants_progress and self._dispatcher.reports_progress(call.tool) else call

    def _accept(self, direct: DirectCall, number: int, again: bool) -> _Accepted:
        self._unanswered[direct.id] = number
        # Now, while the use of what the client saw last may still be noted.
        self._dispatcher.foresee(direct.tool, direct.arguments)
        caller = self._dispatcher.local_caller(self.client_name)
        return _Accepted(
            direct.id, number, Call(direct.tool, direct.arguments, caller, self._key(number, again))
        )

    def _is_awaited(self, accepted: _Accepted) -> bool:
        return self._unanswered.get(accepted.id) == accepted.number  # else the client has cancelled it

    async def _answer(self, accepted: _Accepted) -> None:
        for finishing in list(self._finishing.values()):
            await finishing.wait()
        notes: list[Work] = []
        finished, answered = asyncio.Event(), False

        def answer(result: types.CallToolResult) -> None:
            nonlocal answered
            self._finishing[accepted.number] = finished
            line = accepted.line(result)
            answered = not self._is_awaited(accepted) or self._outgoing.send_now(line)

        try:
            result = await self._dispatcher.answer(accepted.call, notes=notes, at_once=answer)
            line = b"" if answered else accepted.line(result)
        except Exception:
            line = accepted.failure()
        try:
            if self._is_awaited(accepted):
                if not answered:
                    self._finishing[accepted.number] = finished
                    await self._send_line(line)
                self._settle(accepted.id)
            if notes:
                with anyio.CancelScope(shield=True):
                    await self._dispatcher.in_thread(lambda: [note() for note in notes])
        finally:
            finished.set()
            self._finishing.pop(accepted.number, None)
            self._incoming.look_again()

    def _answer_here(self, accepted: _Accepted) -> None:
        """The same in the thread that has read the call. It does not wait: the client may be slow."""
        notes: list[Work] = []
        finished = asyncio.Event()
        try:
            line = accepted.line(self._dispatcher.answer_here(accepted.call, notes))
        except BaseException:  # nobody else would answer
            line = accepted.failure()
        self._finishing[accepted.number] = finished
        try:
            if self._is_awaited(accepted):
                if self._outgoing.send_now(line):
                    self._unanswered.pop(accepted.id, None)
                else:
                    self._tell_loop(lambda: self._send_later(accepted, line))
            for note in notes:
                note()
        finally:
            self._finishing.pop(accepted.number, None)
            if not self._incoming.is_lent:
                self._tell_loop(lambda: self._note_finished(finished))

    def _send_later(self, accepted: _Accepted, line: bytes) -> None:
        async def send() -> None:
            await self._send_line(line)
            if self._is_awaited(accepted):
                self._settle(accepted.id)

        if self._tasks is not None and not self._tasks.cancel_scope.cancel_called:
            self._tasks.start_soon(send)

    def _note_finished(self, finished: asyncio.Event) -> None:
        finished.set()
        self._fewer.set()

    def _tell_loop(self, what: Work) -> None:
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(what)

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

    async def _send(self, number: int | None, message: bytes) -> None:
        await self._send_line(
            wire.answering(number, message) if number is not None else wire.unnumbered(message)
        )

    async def _send_line(self, line: bytes) -> None:
        with suppress(OSError):  # the client has disconnected; its requests are completed anyway
            await self._outgoing.send(line)

    def _settle(self, id: types.RequestId | None) -> None:
        if id is not None:
            self._unanswered.pop(id, None)
            self._listening.discard(id)
        self._fewer.set()
        self._incoming.look_again()


@dataclass(frozen=True, slots=True)
class _Accepted:
    """A plain call, until it is answered."""

    id: types.RequestId
    number: int
    call: Call

    def line(self, result: types.CallToolResult) -> bytes:
        return wire.answering(self.number, answer_line(self.id, result))

    def failure(self) -> bytes:
        """Called where the error is handled."""
        log.exception("%s failed", self.call.tool)
        error = types.ErrorData(code=types.INTERNAL_ERROR, message="Internal server error")
        return wire.answering(
            self.number, _dumped(types.JSONRPCError(jsonrpc="2.0", id=self.id, error=error))
        )


def _split(line: bytes) -> tuple[int | None, bool, str]:
    number, again, message = wire.number_of(line)
    return number, again, message.decode("utf-8", "replace")


def _introduced(info: object) -> str:
    return client_name(str(info.get("name", ""))) if isinstance(info, dict) else ""


def _dumped(message: types.JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def _parsed(text: str) -> Parsed:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
    except Exception as error:
        return error
