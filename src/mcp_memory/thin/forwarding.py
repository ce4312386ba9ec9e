"""Forwards an MCP session from standard input and output to the shared server, across restarts.

A server may die or be replaced at any moment. Then another is found or started, the handshake is repeated,
and every unanswered request is sent again under its number, so that no write happens twice. The client sees
at most a slow answer.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

from mcp_memory.thin import wire
from mcp_memory.thin.connection import ServerEnded
from mcp_memory.thin.handshake_cache import CHANGED, describes, era_of
from mcp_memory.thin.request import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from mcp_memory.thin.connection import Connector, ServerConnection
    from mcp_memory.thin.handshake_cache import HandshakeCache, Message

LAST_ANSWERS = 30.0
"""Grace period in seconds for requests that were sent before the client disconnected."""

MOST_UNANSWERED = 64
"""Backpressure: with this many unanswered requests, no further ones are read."""

LOOK_EVERY = 1.0
"""Polling interval in seconds for a server that is needed only for change notifications."""

_PARTS_OF_CALL = (b'"tools/call"', b'"id"', b'"method"')


class Request:
    """An unanswered request of the client."""

    def __init__(self, line: bytes, message: Message | None = None) -> None:
        self.line = line
        self._message = message
        self.was_sent = False

    @property
    def message(self) -> Message:
        """Read when it is first needed."""
        if self._message is None:
            self._message = wire.decoded(self.line)
        return self._message

    @property
    def id(self) -> Any:
        return self.message.get("id")

    @property
    def is_urgent(self) -> bool:
        return bool(self.message.get("method") != wire.LISTEN)


class Forwarder:
    """One session. `feed` takes lines of the client; `run` talks to the server in another thread."""

    def __init__(
        self,
        connector: Connector,
        description: HandshakeCache,
        write: Callable[[bytes], None],
        log: Callable[[str], None],
    ) -> None:
        self._connector = connector
        self._description = description
        self._write = write
        self._log = log
        self._state = threading.Condition()
        # Held while lines are sent to the server, to keep their order. The reading side never takes it.
        self._sending = threading.Lock()
        self._connection: ServerConnection | None = None
        self._unanswered: dict[int, Request] = {}
        self._number = 0
        self._era = ""
        self._initialize: Request | None = None
        self._initialized: bytes | None = None
        self._subscriptions: dict[str, bytes] = {}
        self._told: list[Request] = []
        """Requests that were answered from the cache, and are repeated to the server once it runs."""
        self._own: dict[int, Request] = {}
        """Our own requests by number; the client does not see their answers."""
        self._greeted = False

    def feed(self, line: bytes) -> None:
        if self._connection is not None and all(part in line for part in _PARTS_OF_CALL):
            self._take_call(line)
            return
        message = wire.decoded(line)
        is_request = _is_request(message)
        if is_request:
            self._wait_for_room()
        with self._sending:
            if is_request:
                self._take_request(Request(line, message))
            else:
                self._note(message, line)
                self._pass_on(wire.unnumbered(line))

    def _take_call(self, line: bytes) -> None:
        """Send what looks like a call of a tool before it is read, which takes as long as a small call."""
        self._wait_for_room()
        with self._sending:
            request = Request(line)
            number = self._number_and_pass_on(request)
            if not _is_request(request.message):
                # The server ignores the number, or reads what is no text otherwise, and answers.
                with self._state:
                    self._unanswered.pop(number, None)
                self._note(request.message, line)
            else:
                self._note_request(request)

    def _wait_for_room(self) -> None:
        """Stop reading from a client that does not read its answers, to bound memory."""
        if len(self._unanswered) < MOST_UNANSWERED:
            return  # only this thread adds to them
        with self._state:
            self._state.wait_for(lambda: self._urgent_count() < MOST_UNANSWERED)

    def finish(self) -> None:
        """The client has disconnected: wait until all its requests are answered."""
        with self._state:
            self._state.wait_for(lambda: not self._urgent(), LAST_ANSWERS)

    def _take_request(self, request: Request) -> None:
        self._note_request(request)
        if self._connection is None and self._answer_from_description(request):
            return
        self._number_and_pass_on(request)

    def _note_request(self, request: Request) -> None:
        if describes(request.message):
            self._era = era_of(request.message, self._era)
        if request.message["method"] == "initialize":
            self._initialize = request

    def _number_and_pass_on(self, request: Request) -> int:
        with self._state:
            self._number += 1
            number = self._number
            self._unanswered[number] = request
            self._state.notify_all()
        # A partly sent line may have been received.
        request.was_sent = self._connection is not None
        self._pass_on(wire.numbered(number, request.line, again=False))
        return number

    def _answer_from_description(self, request: Request) -> bool:
        known = self._description.answer(request.message, self._era) if describes(request.message) else None
        if known is None:
            return False
        self._told.append(request)
        self._write(known)
        return True

    def _note(self, message: Message, line: bytes) -> None:
        """Messages to repeat to the next server."""
        method = message.get("method")
        if method == "notifications/initialized":
            self._initialized = line
        elif method == "notifications/cancelled":
            self._forget((message.get("params") or {}).get("requestId"))

    def _forget(self, id: Any) -> None:
        with self._state:
            for number in [n for n, request in self._unanswered.items() if request.id == id]:
                del self._unanswered[number]
            self._state.notify_all()

    def _pass_on(self, line: bytes) -> None:
        if self._connection is not None:
            with suppress(OSError):  # disconnected; unanswered requests will be sent again
                self._connection.send(line)

    def run(self) -> None:
        """Keep a connection whenever one is needed. Raises `Refused` and `ServerEnded`."""
        connection: ServerConnection | None = self._connector.find_or_start()
        while True:
            if connection is not None:
                self._converse(connection)
            connection = self._found_again()

    def _converse(self, connection: ServerConnection) -> None:
        if connection.greeting and not self._greeted:
            self._greeted = True
            self._log(f"{connection.greeting} running on stdio")
        try:
            with self._sending:
                self._open(connection)
                self._connection = connection
            for line in connection.lines():
                number, _, rest = wire.number_of(line)
                self._hear(number, rest)
        except OSError:
            pass  # disconnected again; unanswered requests go to the next server
        finally:
            with self._sending:
                self._connection = None
            connection.close()

    def _open(self, connection: ServerConnection) -> None:
        """Restore the session's state on a new server."""
        self._own.clear()
        if self._initialize and self._initialize not in self._unanswered.values():
            self._send_own(connection, self._initialize)
            if self._initialized:
                connection.send(wire.unnumbered(self._initialized))
        for told in self._told:
            if told is not self._initialize:
                self._send_own(connection, told)
        for line in self._subscriptions.values():
            self._send_own(connection, Request(line))
        with self._state:
            unanswered = list(self._unanswered.items())
        for number, request in unanswered:
            again, request.was_sent = request.was_sent, True
            connection.send(wire.numbered(number, request.line, again=again))

    def _send_own(self, connection: ServerConnection, request: Request) -> None:
        self._number += 1
        self._own[self._number] = request
        # Not the client's id, which may be in use at the same time.
        own = {**request.message, "id": f"mcp-memory-{self._number}"}
        connection.send(wire.numbered(self._number, wire.encoded(own), again=False))

    def _hear(self, number: int | None, line: bytes) -> None:
        if number in self._own:
            self._compare(self._own.pop(number), line)
            return
        self._write(line)
        if number is None:
            return
        if request := self._unanswered.get(number):
            self._learn(request, line)
        with self._state:
            self._unanswered.pop(number, None)
            self._state.notify_all()

    def _learn(self, request: Request, line: bytes) -> None:
        method = request.message.get("method")
        if describes(request.message):
            self._learn_description(request, line)
        elif method in ("resources/subscribe", "resources/unsubscribe"):
            uri = str((request.message.get("params") or {}).get("uri"))
            if method == "resources/subscribe":
                self._subscriptions[uri] = request.line
            else:
                self._subscriptions.pop(uri, None)

    def _compare(self, request: Request, line: bytes) -> None:
        """Notify the client if the server's answer differs from the cached one."""
        if request not in self._told:
            return
        self._told.remove(request)
        changed = CHANGED.get(request.message["method"])
        if self._learn_description(request, line) and changed:
            self._write(wire.encoded({"jsonrpc": "2.0", "method": changed}))

    def _learn_description(self, request: Request, line: bytes) -> bool:
        return self._description.learn(request.message, era_of(request.message, self._era), line)

    def _found_again(self) -> ServerConnection | None:
        """A server, started only if a request waits for it; None on timeout."""
        with self._state:
            if not self._urgent():
                listening = bool(self._unanswered or self._subscriptions)
                self._state.wait_for(self._urgent, LOOK_EVERY if listening else None)
            urgent = self._urgent()
        return self._connector.find_or_start() if urgent else self._connector.find()

    def _urgent(self) -> bool:
        return self._urgent_count() > 0

    def _urgent_count(self) -> int:
        return sum(request.is_urgent for request in self._unanswered.values())


def _is_request(message: Message) -> bool:
    return "method" in message and isinstance(message.get("id"), int | str)


def forward(connector: Connector, description: HandshakeCache, incoming: Iterable[bytes]) -> int:
    """The exit code, once the client has disconnected and has its answers."""
    writing = threading.Lock()

    def write(line: bytes) -> None:
        with writing:
            _write_all(line)

    def log(text: str) -> None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    forwarder = Forwarder(connector, description, write, log)
    threading.Thread(target=_run, args=(forwarder, log), name="server", daemon=True).start()
    for line in incoming:
        if line.strip():
            forwarder.feed(line if line.endswith(b"\n") else line + b"\n")
    forwarder.finish()
    return 0


def _run(forwarder: Forwarder, log: Callable[[str], None]) -> None:
    try:
        forwarder.run()
    except Refused as error:
        log(f"Error: {error}")
        os._exit(2 if error.code == "invalid" else 1)
    except ServerEnded as ended:
        os._exit(ended.code)
    except BaseException as error:
        # The client must not wait forever.
        log(f"Error: mcp-memory failed unexpectedly ({type(error).__name__}: {error})")
        os._exit(1)


def _write_all(line: bytes) -> None:
    try:
        while line:
            line = line[os.write(1, line) :]
    except OSError:
        os._exit(0)  # nobody reads any more
