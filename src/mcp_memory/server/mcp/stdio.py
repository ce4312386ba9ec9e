"""Serves one assistant over standard input and output, until it hangs up."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from mcp_memory.model import DEFAULT_SPACE
from mcp_memory.server.free_memory import limit_heaps
from mcp_memory.server.garbage import collect_rarely
from mcp_memory.server.lazy import LazyEngine
from mcp_memory.server.mcp.server import build, greeting
from mcp_memory.server.mcp.tools import ToolSet

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

LAST_ANSWERS = 30.0
"""Grace period in seconds for requests that were sent before the client disconnected."""

MOST_UNANSWERED = 64
"""Backpressure: with this many unanswered requests, no further ones are read."""


def serve(
    sets: Sequence[ToolSet],
    build_engine: Callable[[], Engine],
    *,
    workers: int,
    space: str = DEFAULT_SPACE,
    project: str = "",
    beside: Callable[[LazyEngine], AbstractAsyncContextManager[object]] = lambda _: nullcontext(),
) -> None:
    """Returns when the client has closed its end and every request is answered. `beside` runs meanwhile, in
    the same process with the same engine.
    """
    # Standard output belongs to the protocol; what people should read goes to standard error.
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    limit_heaps()
    collect_rarely()
    engine = LazyEngine(build_engine)
    _leave_when_told(engine)
    try:
        server = build(sets, engine, workers=workers, space=space, project=project)
        anyio.run(_serve, server, sets[0].greeting, engine, beside)
    finally:
        engine.close()
    engine.end_process()


def _leave_when_told(engine: LazyEngine) -> None:
    """Let a signal end the process at once, after running writes are complete and the database is closed. A
    normal exit would wait for the thread that reads standard input, until another line arrives.
    """

    def leave(number: int, _: object) -> None:
        for ending in (signal.SIGINT, signal.SIGTERM):
            signal.signal(ending, signal.SIG_DFL)
        engine.close()
        os._exit(128 + number)

    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, leave)


async def _serve(
    server: Server[Any],
    name: str,
    engine: LazyEngine,
    beside: Callable[[LazyEngine], AbstractAsyncContextManager[object]],
) -> None:
    async with (
        stdio_server() as (incoming, outgoing),
        beside(engine),
        anyio.create_task_group() as tasks,
    ):
        sys.stderr.write(f"{name} running on stdio\n")
        sys.stderr.flush()
        unanswered = _Unanswered(engine.begin)
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        answers, from_server = anyio.create_memory_object_stream[SessionMessage]()
        tasks.start_soon(unanswered.pass_requests, incoming, to_server, outgoing)
        tasks.start_soon(unanswered.pass_answers, from_server, outgoing)
        await server.run(requests, answers, greeting(server))


class _Unanswered:
    """Delays the end of the input until every earlier request is answered. The protocol library drops running
    requests when the input ends, so a script that pipes requests in would not get their answers.
    """

    def __init__(self, on_first_answer: Callable[[], object]) -> None:
        self._on_first_answer: Callable[[], object] | None = on_first_answer
        self._ids: set[types.RequestId] = set()
        self._fewer = anyio.Event()

    async def pass_requests(
        self, incoming: Any, onward: MemoryObjectSendStream[SessionMessage | Exception], outgoing: Any
    ) -> None:
        async with onward:
            async for message in incoming:
                if refused := refusal(message):
                    await outgoing.send(SessionMessage(refused))
                    continue
                self._note_request(message)
                await onward.send(message)
                await self._at_most(MOST_UNANSWERED - 1)
            with anyio.move_on_after(LAST_ANSWERS):
                await self._at_most(0)

    async def _at_most(self, count: int) -> None:
        """Wait until at most this many are unanswered."""
        while len(self._ids) > count:
            self._fewer = anyio.Event()
            await self._fewer.wait()

    async def pass_answers(self, answers: MemoryObjectReceiveStream[SessionMessage], outgoing: Any) -> None:
        async with outgoing:
            async for message in answers:
                await outgoing.send(message)
                if self._on_first_answer is not None:
                    self._on_first_answer()
                    self._on_first_answer = None
                if isinstance(message.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._settle(message.message.id)

    def _note_request(self, message: SessionMessage | Exception) -> None:
        content = message.message if isinstance(message, SessionMessage) else None
        # A request that listens for changes is answered only when it ends.
        if isinstance(content, types.JSONRPCRequest) and content.method != "subscriptions/listen":
            self._ids.add(content.id)
        elif isinstance(content, types.JSONRPCNotification) and content.method == "notifications/cancelled":
            self._settle((content.params or {}).get("requestId"))

    def _settle(self, id: types.RequestId | None) -> None:
        self._ids.discard(id if id is not None else "")
        self._fewer.set()


def refusal(message: SessionMessage | Exception) -> types.JSONRPCError | None:
    """The answer to a request that the protocol library cannot parse and would leave unanswered. It rejects
    JSON with half of a surrogate pair, which programs send that cut an emoji in two.
    """
    if not isinstance(message, ValidationError):
        return None
    try:
        request = json.loads(message.errors(include_url=False)[0]["input"])
    except (TypeError, ValueError, RecursionError):
        return None
    id = request.get("id") if isinstance(request, dict) and "method" in request else None
    if not isinstance(id, int | str) or not str(id).isprintable():
        return None
    said = "the request cannot be read: a text in it holds half of a surrogate pair, which is not Unicode"
    return types.JSONRPCError(
        jsonrpc="2.0", id=id, error=types.ErrorData(code=types.PARSE_ERROR, message=f"{said}; remove it")
    )
