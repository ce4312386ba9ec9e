"""Lines that a thread or the event loop reads from one client."""

import asyncio
import random
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from mcp_memory.server.shared.incoming import Incoming, Take, Work, incoming

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the event loop alone reads")


@asynccontextmanager
async def connected(
    take: Take, *, is_quiet: Callable[[], bool] = lambda: True, said_before: bytes = b"", longest: int = 2**20
) -> AsyncIterator[tuple[Incoming, socket.socket]]:
    """What a server reads, and the client's end."""
    here, there = socket.socketpair()
    there.sendall(said_before)
    reader, writer = await asyncio.open_connection(sock=here)
    await asyncio.sleep(0)  # the transport begins to read
    lines = incoming(reader, writer, take=take, is_quiet=is_quiet, longest=longest)
    try:
        yield lines, there
    finally:
        there.close()
        await lines.aclose()
        writer.close()


async def lent(lines: Incoming) -> None:
    while not lines.is_lent:
        await asyncio.sleep(0)


class Worker:
    """Takes the lines that begin with `call`, in whichever thread reads; others are for the loop."""

    def __init__(self) -> None:
        self.done: list[bytes] = []
        self.threads: set[str] = set()

    def take(self, line: bytes) -> Work | None:
        return (lambda: self.work(line)) if line.startswith(b"call") else None

    def work(self, line: bytes) -> None:
        self.done.append(line)
        self.threads.add(threading.current_thread().name)


def test_a_thread_does_what_it_takes_and_leaves_the_rest_to_the_loop() -> None:
    worker = Worker()

    async def talk() -> list[bytes]:
        async with connected(worker.take) as (lines, client):
            read = []
            for number in range(20):
                client.sendall(b"call %d\n" % number)
                client.sendall(b"other %d\n" % number)
                while not (line := await lines.line()).startswith(b"other"):
                    worker.done.append(line)  # both had come when the thread looked
                read.append(line)
            return read

    assert asyncio.run(talk()) == [b"other %d\n" % number for number in range(20)]
    assert worker.done == [b"call %d\n" % number for number in range(20)]


def test_the_loop_reads_what_comes_while_the_thread_works() -> None:
    may_end, has_begun = threading.Event(), threading.Event()

    def work() -> None:
        has_begun.set()
        may_end.wait()

    async def talk() -> None:
        async with connected(lambda line: work if line == b"call\n" else None) as (lines, client):
            client.sendall(b"call\n")
            next_line = asyncio.ensure_future(lines.line())
            await asyncio.to_thread(has_begun.wait)
            client.sendall(b"call\n")
            assert await next_line == b"call\n"  # the thread is busy
            assert not lines.is_lent
            client.sendall(b"cancel\n")
            assert await lines.line() == b"cancel\n"

            has_begun.clear()
            may_end.set()
            next_line = asyncio.ensure_future(lines.line())
            await lent(lines)
            client.sendall(b"call\n")
            await asyncio.to_thread(has_begun.wait)
            client.close()
            assert await next_line == b""

    asyncio.run(talk())


def test_nothing_is_lent_while_something_is_in_progress() -> None:
    worker, quiet = Worker(), threading.Event()

    async def talk() -> None:
        async with connected(worker.take, is_quiet=quiet.is_set) as (lines, client):
            client.sendall(b"call 1\n")
            assert await lines.line() == b"call 1\n"
            next_line = asyncio.ensure_future(lines.line())
            await asyncio.sleep(0)
            quiet.set()
            lines.look_again()
            await lent(lines)
            client.sendall(b"call 2\n")
            client.shutdown(socket.SHUT_WR)
            assert await next_line == b""

    asyncio.run(talk())
    assert worker.done == [b"call 2\n"]
    assert worker.threads == {"session"}


def test_what_was_said_before_comes_first() -> None:
    async def talk() -> list[bytes]:
        async with connected(lambda _: None, said_before=b"first\nsecond\nthi") as (lines, client):
            client.sendall(b"rd\n")
            return [await lines.line() for _ in range(3)]

    assert asyncio.run(talk()) == [b"first\n", b"second\n", b"third\n"]


def test_a_client_that_hangs_up_within_a_line_leaves_its_part() -> None:
    async def talk() -> bytes:
        async with connected(lambda _: None) as (lines, client):
            client.sendall(b"half a li")
            client.close()
            return await lines.line()

    assert asyncio.run(talk()) == b"half a li"


def test_a_line_that_is_too_long_is_an_error() -> None:
    async def talk() -> None:
        async with connected(lambda _: None, longest=1000) as (lines, client):
            client.sendall(b"x" * 2000)
            with pytest.raises(ValueError, match="too long"):
                await lines.line()

    asyncio.run(talk())


@pytest.mark.parametrize("is_busy", [False, True])
def test_closing_waits_for_the_thread_and_takes_nothing_more(is_busy: bool) -> None:
    done: list[str] = []
    has_begun, may_end = threading.Event(), threading.Event()

    def work() -> None:
        has_begun.set()
        may_end.wait()
        done.append("ended")

    async def talk() -> None:
        async with connected(lambda _: work) as (lines, client):
            next_line = asyncio.ensure_future(lines.line())
            if is_busy:
                client.sendall(b"call\n")
                await asyncio.to_thread(has_begun.wait)
            else:
                await lent(lines)
            next_line.cancel()
            with suppress(asyncio.CancelledError):
                await next_line
            still_open = list[bool]()

            def end_work() -> None:
                still_open.append(not done)
                may_end.set()

            asyncio.get_running_loop().call_soon(end_work)
        assert still_open == [True]
        assert done == (["ended"] if is_busy else [])

    asyncio.run(talk())


def test_the_loop_reads_on_when_the_thread_has_failed() -> None:
    def fail(line: bytes) -> Work | None:
        raise RuntimeError("cannot take anything")

    async def talk() -> list[bytes]:
        async with connected(fail) as (lines, client):
            client.sendall(b"first\n")
            first = await lines.line()
            client.sendall(b"second\n")
            return [first, await lines.line()]

    assert asyncio.run(talk()) == [b"first\n", b"second\n"]


def test_work_that_fails_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise RuntimeError("cannot be done")

    async def talk() -> bytes:
        async with connected(lambda line: fail if line == b"call\n" else None) as (lines, client):
            client.sendall(b"call\n")
            client.sendall(b"other\n")
            while (line := await lines.line()) == b"call\n":
                pass
            return line

    assert asyncio.run(talk()) == b"other\n"


@pytest.mark.parametrize("seed", range(20))
def test_each_line_is_read_once_and_in_order(seed: int) -> None:
    dice = random.Random(seed)
    said = [
        b"%s %d %s\n" % (dice.choice((b"call", b"other")), n, b"x" * 4 ** dice.randrange(9))
        for n in range(200)
    ]
    read: list[bytes] = []

    def send(client: socket.socket) -> None:
        text = b"".join(said)
        while text:
            size = dice.choice((1, 10, 100, 1_000, 100_000))
            client.sendall(text[:size])
            text = text[size:]
        client.shutdown(socket.SHUT_WR)

    def take(line: bytes) -> Work | None:
        return (lambda: read.append(line)) if line.startswith(b"call") else None

    async def talk() -> None:
        async with connected(take) as (lines, client):
            sending = asyncio.ensure_future(asyncio.to_thread(send, client))
            while line := await lines.line():
                read.append(line)
            await sending

    asyncio.run(talk())
    assert sorted(read, key=lambda line: int(line.split()[1])) == said


def test_the_loop_reads_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def talk() -> list[bytes]:
        async with connected(lambda _: None) as (lines, client):
            client.sendall(b"first\nsecond\n")
            return [await lines.line(), await lines.line()]

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert asyncio.run(talk()) == [b"first\n", b"second\n"]


class _Panic(BaseException):
    """As libraries in other languages raise it."""


def test_a_panic_in_the_thread_ends_nothing() -> None:
    def panic() -> None:
        raise _Panic

    def take(line: bytes) -> Work | None:
        if line == b"not to be taken\n":
            raise _Panic
        return panic if line == b"call\n" else None

    async def talk() -> list[bytes]:
        async with connected(take) as (lines, client):
            next_line = asyncio.ensure_future(lines.line())
            await lent(lines)
            client.sendall(b"call\n")
            client.sendall(b"not to be taken\n")
            while (line := await next_line) == b"call\n":  # if both had come when the thread looked
                next_line = asyncio.ensure_future(lines.line())
            client.sendall(b"third\n")
            return [line, await lines.line()]

    assert asyncio.run(talk()) == [b"not to be taken\n", b"third\n"]
