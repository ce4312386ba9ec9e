"""Lines to one client, sent by the event loop or by the thread that has made the answer.

Passing an answer to the event loop takes a tenth of a millisecond, as much as a small call's own work. So a
thread sends it itself, unless something is queued before it.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading


class Outgoing:
    """Whole lines, in the order in which they are given. Made in the event loop that serves the writer."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._rest = b""
        """What a thread could not send of a line; it goes before all else."""
        self._socket = _own_socket(writer)

    async def send(self, line: bytes) -> None:
        """In the event loop. Waits while the client reads slowly; raises `OSError` if it is gone."""
        self._write(line)
        await self._writer.drain()

    def send_now(self, line: bytes) -> bool:
        """In any thread: send a line without the loop. False if it would have to wait."""
        with self._lock:
            if self._socket is None or self._rest or self._writer.transport.get_write_buffer_size():
                return False
            try:
                sent = self._socket.send(line)
            except BlockingIOError:
                return False
            except OSError:
                return True  # the client is gone
            if sent < len(line):
                self._rest = line[sent:]
                self._loop.call_soon_threadsafe(self._write, b"")
            return True

    def close(self) -> None:
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None

    def _write(self, line: bytes) -> None:
        with self._lock:
            self._writer.write(self._rest + line)
            self._rest = b""


def _own_socket(writer: asyncio.StreamWriter) -> socket.socket | None:
    """The same connection as a socket of our own, which the transport cannot close under a thread's hands."""
    if sys.platform == "win32":
        return None  # its transports send by overlapped writes, whose order with others is not known
    connected: socket.socket = writer.get_extra_info("socket")
    own = connected.dup()
    own.setblocking(False)
    return own
