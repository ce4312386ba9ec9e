"""What the thin client makes of lines, with a server that answers while they are being sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

from mcp_memory.thin import wire
from mcp_memory.thin.forwarding import Forwarder
from mcp_memory.thin.handshake_cache import HandshakeCache

ANSWER = b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n'


class EagerServer:
    """The other end of a socket: each numbered line is answered before `send` returns."""

    greeting = ""

    def __init__(self) -> None:
        self._answers: Queue[bytes | None] = Queue()
        self._was_heard = threading.Event()
        self.is_open = threading.Event()
        self.sent: list[bytes] = []

    def find_or_start(self) -> EagerServer:
        return self

    def send(self, line: bytes) -> None:
        self.sent.append(line)
        number, _, _ = wire.number_of(line)
        if number is not None:
            self._was_heard.clear()
            self._answers.put(wire.answering(number, ANSWER))
            assert self._was_heard.wait(60), "the client has failed"

    def lines(self) -> Iterator[bytes]:
        self.is_open.set()
        while (line := self._answers.get()) is not None:
            yield line
            self._was_heard.set()

    def close(self) -> None:
        """As sockets have it."""

    def hang_up(self) -> None:
        self._answers.put(None)


def test_an_answer_may_come_before_the_client_has_read_what_it_sent(tmp_path: Path) -> None:
    server, told = EagerServer(), list[bytes]()
    description = HandshakeCache(str(tmp_path / "learned"), str(tmp_path / "shipped"))
    forwarder = Forwarder(server, description, told.append, lambda _: None)  # type: ignore[arg-type]
    failures: list[BaseException] = []

    def run() -> None:
        try:
            forwarder.run()
        except BaseException as error:
            failures.append(error)
            server._was_heard.set()

    threading.Thread(target=run, daemon=True).start()
    assert server.is_open.wait(60)
    call = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}\n'
    no_text = call.replace(b'"x"', b'"\xff"')
    notification = b'{"jsonrpc": "2.0", "method": "m", "params": {"id": "tools/call"}}\n'
    for line in (call, no_text, notification, call):
        forwarder.feed(line)
        assert not failures
    assert told == [ANSWER] * 4
    assert [line.partition(b" ")[2] for line in server.sent] == [call, no_text, notification, call]
    forwarder.finish()
    server.hang_up()
