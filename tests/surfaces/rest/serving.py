"""A real server on a real socket, and a client that speaks with it."""

from __future__ import annotations

import faulthandler
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.types import ASGIApp

from mcp_memory.config import Config
from mcp_memory.engine import Engine
from mcp_memory.server.app import build_app
from mcp_memory.server.connections import BoundedProtocol
from mcp_memory.server.lazy import LazyEngine
from mcp_memory.server.serving import Server, server

# Only a server that hangs ever waits this long; it turns a hang into a failure. Seconds.
PATIENCE = 120.0


@dataclass
class Running:
    server: Server
    port: int
    thread: threading.Thread

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, **headers: str) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(PATIENCE)
        if self.thread.is_alive():
            faulthandler.dump_traceback(2)  # where every thread waits
        assert not self.thread.is_alive(), "the server did not stop"


@contextmanager
def running(
    engine: Engine,
    config: Config | None = None,
    protocol: type[BoundedProtocol] | None = None,
    behind: Callable[[ASGIApp], ASGIApp] = lambda app: app,
) -> Iterator[Running]:
    """A server that does nothing by itself: the chores are in other hands while it runs.

    `behind`: puts another layer before the app.
    """
    with engine.scheduled_maintenance.signals() as (candidacy, _):
        candidacy.leads()  # or another server here does: either way this one does not
        app = behind(build_app(config or Config(tools="graph"), LazyEngine(lambda: engine)))
        with _running(app, protocol) as here:
            yield here


@contextmanager
def _running(app: ASGIApp, protocol: type[BoundedProtocol] | None) -> Iterator[Running]:
    uvicorn_server = server(app, "127.0.0.1", 0, "error", protocol=protocol)
    thread = threading.Thread(target=uvicorn_server.run, daemon=True)
    thread.start()
    while not uvicorn_server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.005)
    port = uvicorn_server.servers[0].sockets[0].getsockname()[1]
    here = Running(uvicorn_server, port, thread)
    try:
        yield here
    finally:
        here.stop()


@dataclass(frozen=True)
class Told:
    """One event, as a client sees it."""

    id: str
    name: str
    data: dict[str, Any]


class Listener:
    """Reads an event stream; events arrive in order, comments are passed over."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def __iter__(self) -> Iterator[Told]:
        fields: dict[str, str] = {}
        for line in self._lines:
            if line.startswith(":"):
                continue
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                yield Told(fields["id"], fields["event"], json.loads(fields["data"]))
                fields = {}
            else:
                fields = {}

    def take(self, count: int) -> list[Told]:
        found: list[Told] = []
        for told in self:
            found.append(told)
            if len(found) == count:
                break
        return found


@contextmanager
def listening(client: httpx.Client, **params: Any) -> Iterator[Listener]:
    """Follow the events; from here on nothing is missed."""
    headers = {"last-event-id": str(params.pop("last_event_id"))} if "last_event_id" in params else {}
    with client.stream("GET", "/api/events", params=params, headers=headers) as response:
        assert response.status_code == 200, response.read()
        yield Listener(response)
