"""Lines that several threads and the event loop send to one client."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from mcp_memory.server.shared.outgoing import Outgoing


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[Outgoing, asyncio.StreamWriter, socket.socket]]:
    """A connection's outgoing lines, its writer, and the client's end of it."""
    here, there = socket.socketpair()
    here.setblocking(False)
    _, writer = await asyncio.open_connection(sock=here)
    outgoing = Outgoing(writer)
    try:
        yield outgoing, writer, there
    finally:
        outgoing.close()
        writer.close()
        there.close()


def line(sender: str, number: int) -> bytes:
    return f"{sender} {number} ".encode() + b"x" * 50_000 + b"\n"


@contextmanager
def reading(client: socket.socket) -> Iterator[list[bytes]]:
    """The lines that a client reads in the background, until it is hung up."""
    lines: list[bytes] = []
    reader = threading.Thread(target=lambda: lines.extend(client.makefile("rb")))
    reader.start()
    yield lines
    reader.join()


def test_lines_of_threads_and_of_the_loop_arrive_whole_and_in_order() -> None:
    async def talk() -> list[bytes]:
        async with connected() as (outgoing, writer, client):
            loop = asyncio.get_running_loop()

            def work(sender: str) -> None:
                for number in range(100):
                    if not outgoing.send_now(line(sender, number)):
                        asyncio.run_coroutine_threadsafe(outgoing.send(line(sender, number)), loop).result()

            with reading(client) as lines:
                await asyncio.gather(*(asyncio.to_thread(work, sender) for sender in ("a", "b", "c")))
                for number in range(100):
                    await outgoing.send(line("loop", number))
                outgoing.close()
                writer.close()
                await writer.wait_closed()
            return lines

    lines = asyncio.run(talk())
    for sender in ("a", "b", "c", "loop"):
        assert [one for one in lines if one.startswith(f"{sender} ".encode())] == [
            line(sender, number) for number in range(100)
        ]
    assert len(lines) == 400


def test_a_thread_sends_at_once_and_waits_behind_what_a_slow_client_has_not_read() -> None:
    async def talk() -> None:
        async with connected() as (outgoing, _, client):
            assert outgoing.send_now(b"first\n")
            assert client.recv(100) == b"first\n"
            while outgoing.send_now(line("filling", 0)):
                pass
            assert not outgoing.send_now(b"short\n")

    asyncio.run(talk())


@pytest.mark.parametrize("is_closed_here", [True, False])
def test_a_client_that_is_gone_is_no_error_for_a_thread(is_closed_here: bool) -> None:
    async def talk() -> None:
        async with connected() as (outgoing, _, client):
            if is_closed_here:
                outgoing.close()
                assert not outgoing.send_now(b"late\n")
            else:
                client.close()
                assert outgoing.send_now(b"late\n")

    asyncio.run(talk())
