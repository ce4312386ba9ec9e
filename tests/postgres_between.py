"""What may stand between a client and PostgreSQL: a line that breaks, a pooler with one session for all."""

from __future__ import annotations

import socket
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_TERMINATE, _READY = b"X", b"Z"


class BreakingLine:
    """Passes everything on, until the answer to a COMMIT is to get lost: the next one, or the one after."""

    def __init__(self, url: str) -> None:
        self._server = _socket_of(url)
        self.loses_commit = 0

    def serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(self._server)
            threading.Thread(target=_pass_on, args=(client, server), daemon=True).start()
            while data := server.recv(65536):
                if self.loses_commit and b"COMMIT\0" in data:
                    self.loses_commit -= 1
                    if not self.loses_commit:
                        break
                client.sendall(data)
            # Closing alone would wait for the thread that still reads.
            client.shutdown(socket.SHUT_RDWR)


class LendingPooler:
    """Lends its one session to each transaction in turn, like pgbouncer's
    `pool_mode = transaction` does."""

    def __init__(self, url: str) -> None:
        self._session = socket.socket(socket.AF_UNIX)
        self._session.connect(_socket_of(url))
        told = conninfo_to_dict(url)
        names = f"user\0{told['user']}\0database\0{told['dbname']}\0\0".encode()
        self._session.sendall(struct.pack("!ii", len(names) + 8, 196608) + names)
        self._greeting = b"".join(_until_ready(self._session))
        self._lent = threading.Lock()

    def serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            _exactly(client, struct.unpack("!i", _exactly(client, 4))[0] - 4)
            # As poolers do, with a number of its own for the process that serves.
            client.sendall(_with_other_process(self._greeting))
            while (request := _message(client)) and request[:1] != _TERMINATE:
                with self._lent:
                    self._serve_transaction(client, request)

    def close(self) -> None:
        self._session.close()

    def _serve_transaction(self, client: socket.socket, request: bytes) -> None:
        while True:
            self._session.sendall(request)
            if request[:1] in b"QS":  # a query, or the end of a series of messages
                answer = list(_until_ready(self._session))
                client.sendall(b"".join(answer))
                if answer[-1][-1:] == b"I":
                    return
            request = _message(client)


@contextmanager
def standing_between(url: str, one: BreakingLine | LendingPooler) -> Iterator[str]:
    """The address under which the database is reached through it."""
    # Short: the path of a socket may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="between-") as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/.s.PGSQL.5432")
        listening.listen()
        threading.Thread(target=_accept, args=(listening, one), daemon=True).start()
        try:
            yield make_conninfo(url, host=folder, port=5432)
        finally:
            listening.shutdown(socket.SHUT_RDWR)


def _accept(listening: socket.socket, one: BreakingLine | LendingPooler) -> None:
    with suppress(OSError):
        while True:
            client, _ = listening.accept()
            threading.Thread(target=one.serve, args=(client,), daemon=True).start()


def _socket_of(url: str) -> str:
    told = conninfo_to_dict(url)
    return f"{told['host']}/.s.PGSQL.{told.get('port', 5432)}"


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def _until_ready(session: socket.socket) -> Iterator[bytes]:
    while True:
        message = _message(session)
        yield message
        if message[:1] == _READY:
            return


def _message(source: socket.socket) -> bytes:
    kind = source.recv(1)
    if not kind:
        return b""
    length = _exactly(source, 4)
    return kind + length + _exactly(source, struct.unpack("!i", length)[0] - 4)


def _exactly(source: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        part = source.recv(count - len(got))
        if not part:
            raise OSError("the other side has gone")
        got += part
    return got


def _with_other_process(greeting: bytes) -> bytes:
    place = greeting.index(b"K\0\0\0\x0c")
    return greeting[: place + 5] + struct.pack("!i", 424242) + greeting[place + 9 :]
