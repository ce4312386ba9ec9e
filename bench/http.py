"""What the HTTP server bears: requests of many clients at once, and many open event streams.

    python -m bench.http [--clients 16] [--requests 2000] [--streams 1000] [--events 20] [--model none]

Runs the server as a process of its own, on a fresh database, and speaks with it through a real HTTP
client over loopback. Client and server share the machine, so the figures are a lower bound.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from rich.console import Console
from rich.table import Table

PATIENCE = 120.0
"""Seconds until something that hangs is given up."""

AT_ONCE = 50
"""Streams that are opened at the same time: the queue of new connections is not endless."""

Request = Callable[[httpx.AsyncClient, int], Awaitable[httpx.Response]]


@dataclass(frozen=True)
class Server:
    url: str
    process: psutil.Process

    @property
    def megabytes(self) -> float:
        return float(self.process.memory_info().rss) / 2**20


async def store(client: httpx.AsyncClient, number: int) -> httpx.Response:
    text = f"fact {number}: service {number % 97} listens on port {1000 + number}"
    return await client.post("/api/memories", json={"content": text, "tags": [f"tag{number % 10}"]})


async def search(client: httpx.AsyncClient, number: int) -> httpx.Response:
    return await client.get("/api/memories/search", params={"q": f"service {number % 97} port"})


async def listed(client: httpx.AsyncClient, number: int) -> httpx.Response:
    return await client.get("/api/memories", params={"tags": f"tag{number % 10}", "limit": 20})


async def overview(client: httpx.AsyncClient, number: int) -> httpx.Response:
    return await client.get("/api/analytics/overview")


async def health(client: httpx.AsyncClient, number: int) -> httpx.Response:
    return await client.get("/health")


REQUESTS: dict[str, Request] = {
    "POST /api/memories": store,
    "GET /api/memories/search": search,
    "GET /api/memories": listed,
    "GET /api/analytics/overview": overview,
    "GET /health": health,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--events", type=int, default=20)
    parser.add_argument("--model", default="none", help="The embedding provider: none, local or openai.")
    wanted = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), wanted.model) as server:
        console.print(asyncio.run(measure_requests(server, wanted.clients, wanted.requests)))
        console.print(asyncio.run(measure_streams(server, wanted.streams, wanted.events)))


@contextmanager
def serving(folder: Path, model: str) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {
        "DATABASE_URL": f"sqlite:///{folder / 'memory.db'}",
        "EMBEDDING_PROVIDER": model,
        "API_RATE_LIMIT": "0",
    }
    command = [sys.executable, "-m", "mcp_memory", "serve", "--port", str(port)]
    environment = {**os.environ, **{f"MCP_MEMORY_{name}": value for name, value in settings.items()}}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            server = Server(f"http://127.0.0.1:{port}", psutil.Process(process.pid))
            wait_for(server)
            yield server
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(PATIENCE)


def wait_for(server: Server) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{server.url}/health", timeout=PATIENCE).raise_for_status()
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("the server did not start")


async def measure_requests(server: Server, clients: int, count: int) -> Table:
    table = Table(
        "request", "a second", "median ms", "95 % ms", "99 % ms", title=f"{clients} clients at once"
    )
    for name, request in REQUESTS.items():
        started_at = time.perf_counter()
        took = await burden(server.url, request, clients, count)
        rate = count / (time.perf_counter() - started_at)
        cuts = statistics.quantiles(took, n=100)
        table.add_row(name, f"{rate:,.0f}", *(f"{1000 * cuts[place - 1]:.1f}" for place in (50, 95, 99)))
    return table


async def burden(url: str, request: Request, clients: int, count: int) -> list[float]:
    """Seconds that each request took."""
    numbers = iter(range(count))
    took: list[float] = []

    async def one() -> None:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            for number in numbers:
                started_at = time.perf_counter()
                (await request(client, number)).raise_for_status()
                took.append(time.perf_counter() - started_at)

    await asyncio.gather(*(one() for _ in range(clients)))
    return took


async def measure_streams(server: Server, streams: int, events: int) -> Table:
    """Every stream must hear of every memory, once and in order."""
    before = server.megabytes
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE, limits=limits) as client:
        opening, ready = asyncio.Semaphore(AT_ONCE), asyncio.Queue[None]()
        started_at = time.perf_counter()
        following = [asyncio.create_task(follow(client, opening, ready)) for _ in range(streams)]
        for _ in following:
            await ready.get()
        opened = time.perf_counter() - started_at
        held = server.megabytes - before
        sent = [await tell(client, number) for number in range(events)]
        await asyncio.sleep(1)
        stopped_at = time.perf_counter()
        server.process.send_signal(signal.SIGTERM)
        heard = await asyncio.gather(*following)
        server.process.wait(PATIENCE)
        stopping = time.perf_counter() - stopped_at
    return report(sent, heard, opened=opened, held=held, stopping=stopping)


async def follow(
    client: httpx.AsyncClient, opening: asyncio.Semaphore, ready: asyncio.Queue[None]
) -> list[tuple[str, float]]:
    """What was heard until the server hung up: the line with the data, and when."""
    await opening.acquire()
    async with client.stream("GET", "/api/events", params={"types": "memory_created"}) as response:
        response.raise_for_status()
        opening.release()
        ready.put_nowait(None)
        return [
            (line, time.perf_counter()) async for line in response.aiter_lines() if line.startswith("data:")
        ]


async def tell(client: httpx.AsyncClient, number: int) -> tuple[str, float]:
    """The id of a new memory, and when it was sent off."""
    sent_at = time.perf_counter()
    answer = await client.post("/api/memories", json={"content": f"told to all, number {number}"})
    return answer.raise_for_status().json()["id"], sent_at


def report(
    sent: Sequence[tuple[str, float]],
    heard: Sequence[Sequence[tuple[str, float]]],
    *,
    opened: float,
    held: float,
    stopping: float,
) -> Table:
    whole = sum(
        len(one) == len(sent) and all(id in line for (id, _), (line, _) in zip(sent, one, strict=True))
        for one in heard
    )
    delays = [at - sent_at for one in heard for (_, sent_at), (_, at) in zip(sent, one, strict=False)]
    cuts = statistics.quantiles(delays, n=100)
    table = Table("", "", title=f"{len(heard)} event streams, {len(sent)} memories")
    table.add_row("streams that heard all, once, in order", f"{whole} of {len(heard)}")
    table.add_row("from POST to the client, median / 99 %", f"{cuts[49]:.2f} s / {cuts[98]:.2f} s")
    table.add_row("opening all of them", f"{opened:.1f} s")
    table.add_row("memory per stream", f"{1024 * held / len(heard):.0f} kB")
    table.add_row("SIGTERM to exit, streams open", f"{stopping:.1f} s")
    return table


if __name__ == "__main__":
    main()
