"""Lines from one client, read by the event loop, or by a thread that carries out what they ask for.

From the socket through the event loop to a worker thread, a call takes a quarter of a millisecond: more than
a small call's own work. So while nothing of a client is in progress, the loop lends the socket to a thread,
which reads a plain call and carries it out itself. Any other line it leaves to the loop. The loop also takes
the socket back when the client says more before a call is finished, so that others run beside it, and it can
be cancelled.
"""

from __future__ import annotations

import asyncio
import logging
import select
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import anyio

log = logging.getLogger(__name__)

CHUNK = 256 * 1024

Work = Callable[[], None]
Take = Callable[[bytes], Work | None]
"""Called in the thread: what a line asks for, if the thread is to do it."""


class Incoming:
    """Read by the event loop alone. Make and use it there."""

    is_lent = False
    """Whether a thread reads. If none does, the loop may wait for what a thread is doing."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def line(self) -> bytes:
        """The next line for the loop; without a line break at its end when the client has hung up. Raises
        `OSError`, and `ValueError` if it is too long. Once this was cancelled, nothing more can be read.
        """
        return await self._reader.readline()

    def look_again(self) -> None:
        """Nothing of the client is in progress any more."""

    async def aclose(self) -> None:
        """Read nothing more, and wait until the thread has finished its call."""


class LentIncoming(Incoming):
    """Read by a thread too. What both use is changed by the one that reads, or under the lock."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        take: Take,
        is_quiet: Callable[[], bool],
        longest: int,
    ) -> None:
        """`is_quiet` tells in either thread whether nothing of the client is in progress. A line has at most
        `longest` bytes.
        """
        super().__init__(reader)
        assert isinstance(writer.transport, asyncio.Transport)
        self._transport = writer.transport
        connected: socket.socket = writer.get_extra_info("socket")
        self._take = take
        self._is_quiet = is_quiet
        self._longest = longest
        self._loop = asyncio.get_running_loop()
        self._is_begun = False
        self._buffer = bytearray()
        self._searched = 0
        """Bytes of the buffer in which there is no line break."""
        self._lock = threading.Lock()
        self._is_working = False
        self._watch = select.epoll()
        """Tells the loop of bytes to read: while it reads itself, and while the thread is busy."""
        self._socket = connected.dup()  # which the transport cannot close under the thread's hands
        self._socket.setblocking(False)
        self._loop.add_reader(self._watch.fileno(), self._bytes_came)
        self._news: asyncio.Future[None] | None = None
        """What the loop waits for in `line`."""
        self._go = threading.Semaphore(0)
        self._is_closed = False
        self._has_failed = False
        self._thread: threading.Thread | None = None
        self._ended = asyncio.Event()

    async def line(self) -> bytes:
        if not self._is_begun:
            await self._begin()
        while not (end := self._end_of_line()):
            await (self._lend() if self._may_lend() else self._until_news())
            if not self._end_of_line() and not self._receive():
                return bytes(self._buffer)
        line = bytes(self._buffer[:end])
        del self._buffer[:end]
        self._searched = 0
        return line

    def look_again(self) -> None:
        if not self.is_lent:
            self._wake_loop()

    async def aclose(self) -> None:
        self._is_closed = True
        self._take_back()
        if self._thread is not None:
            self._shut()
            self._go.release()
            with anyio.CancelScope(shield=True):
                await self._ended.wait()
        self._loop.remove_reader(self._watch.fileno())
        self._watch.close()
        self._socket.close()

    async def _begin(self) -> None:
        """Read from the socket from now on; what the transport has read comes first."""
        self._is_begun = True
        self._transport.pause_reading()
        with suppress(TimeoutError):
            async with asyncio.timeout(0):
                while data := await self._reader.read(CHUNK):
                    self._buffer += data

    def _end_of_line(self) -> int:
        """The length of the first line; 0 while it is not complete."""
        end = self._buffer.find(b"\n", self._searched) + 1
        if not end:
            self._searched = len(self._buffer)
            if self._searched > self._longest:
                raise ValueError("a line is too long")
        return end

    def _receive(self) -> bool:
        """Read what is there. False when the client has hung up."""
        try:
            data = self._socket.recv(CHUNK)
        except BlockingIOError:
            return True
        self._buffer += data
        return bool(data)

    def _may_lend(self) -> bool:
        return not self._is_working and not self._has_failed and self._is_quiet()

    async def _lend(self) -> None:
        """Let the thread read, until it meets something for the loop or is busy when bytes come."""
        if self._thread is None:
            thread = threading.Thread(target=self._serve, name="session", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no more threads
                self._has_failed = True
                return
            self._thread = thread
        with self._lock:
            self.is_lent = True
        self._go.release()
        try:
            while self.is_lent:
                self._news = self._loop.create_future()
                await self._news
        except BaseException:
            self._take_back()
            raise

    async def _until_news(self) -> None:
        """Wait for bytes, or for the moment at which the thread may read."""
        self._news = self._loop.create_future()
        self._watch.register(self._socket, select.EPOLLIN)
        try:
            await self._news
        finally:
            self._watch.unregister(self._socket)

    def _bytes_came(self) -> None:
        with self._lock:
            if self.is_lent and not self._is_working:
                return  # the thread has seen them
            if self.is_lent:
                self.is_lent = False
                self._watch.unregister(self._socket)
        self._wake_loop()

    def _wake_loop(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    def _take_back(self) -> None:
        """If the thread still reads. Nothing can be read any more, by nobody: the session ends."""
        with self._lock:
            if not self.is_lent:
                return
            self.is_lent = False
            if self._is_working:
                self._watch.unregister(self._socket)
        self._shut()

    def _shut(self) -> None:
        """Wake the thread if it waits for bytes."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RD)

    def _serve(self) -> None:
        """The thread."""
        try:
            while True:
                self._go.acquire()
                if self._is_closed:
                    return
                self._read_and_work()
        except BaseException:  # libraries in other languages raise those
            log.exception("the event loop alone reads from now on")
            self._has_failed = True
            self._give_back()
        finally:
            self._tell_loop(self._ended.set)

    def _read_and_work(self) -> None:
        bytes_come = select.poll()
        bytes_come.register(self._socket, select.POLLIN)
        while True:
            bytes_come.poll()
            with self._lock:
                if not self.is_lent:
                    return
                work, goes_on = self._next_work()
                if not goes_on:
                    self._give_back()
                    return
                if work is None:
                    continue
                self._is_working = True
            try:
                work()
            except BaseException:
                log.exception("a call failed")
            with self._lock:
                self._is_working = False
                if self.is_lent:
                    self._watch.unregister(self._socket)
                    self.is_lent = self._is_quiet()
                if not self.is_lent:
                    self._tell_loop(self._wake_loop)  # which may lend it again
                    return

    def _next_work(self) -> tuple[Work | None, bool]:
        """What the bytes that came ask for, and whether the thread goes on reading. With work, the loop
        watches for further bytes.
        """
        try:
            there = self._receive()
            end = self._end_of_line()
        except (OSError, ValueError):
            return None, False  # the loop meets the same, and handles it
        if not end:
            return None, there
        if end < len(self._buffer):
            return None, False
        self._watch.register(self._socket, select.EPOLLIN)
        work: Work | None = None
        try:
            work = self._take(bytes(self._buffer))
        finally:
            if work is None:
                self._watch.unregister(self._socket)
        if work is not None:
            self._buffer.clear()
            self._searched = 0
        return work, work is not None

    def _give_back(self) -> None:
        self.is_lent = False
        self._tell_loop(self._wake_loop)

    def _tell_loop(self, what: Work) -> None:
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(what)


def incoming(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    *,
    take: Take,
    is_quiet: Callable[[], bool],
    longest: int,
) -> Incoming:
    if sys.platform != "linux":
        return Incoming(reader)  # what a loop watches through `epoll` is to be tried elsewhere first
    return LentIncoming(reader, writer, take=take, is_quiet=is_quiet, longest=longest)
