"""What the tests of the REST API share: one server on a socket, and a space for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import count
from pathlib import Path

import httpx
import pytest

from mcp_memory import wiring
from mcp_memory.engine import Context, Engine
from mcp_memory.model import Caller
from mcp_memory.storage import Database, Store
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.fakes import HashEmbedder
from tests.surfaces.rest.serving import Running, running

SPACES = count(1)


def engine_on(path: Path, clock: Callable[[], datetime] = wiring.now) -> Engine:
    return engine_of(SqliteDatabase(path, "NORMAL"), clock)


def engine_of(database: Database, clock: Callable[[], datetime] = wiring.now) -> Engine:
    return Engine(
        Context(
            store=Store(database).open(),
            embedder=HashEmbedder(),
            clock=clock,
            new_id=wiring.new_id,
            caller=Caller(client="test"),
        )
    )


@pytest.fixture(scope="session")
def database_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rest") / "memory.db"


@pytest.fixture(scope="session")
def server(database_path: Path) -> Iterator[Running]:
    with running(engine_on(database_path)) as here:
        yield here


@pytest.fixture
def space() -> str:
    return f"test {next(SPACES)}"


@pytest.fixture
def client(server: Running, space: str) -> Iterator[httpx.Client]:
    """Works in a space of the test's own."""
    with server.client(**{"X-Memory-Space": space}) as client:
        yield client
