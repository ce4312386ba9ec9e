"""What the tests of the REST API share: a server on a socket, on a SQLite file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from mcp_memory.engine import Engine
from mcp_memory.storage import Database
from mcp_memory.storage.sqlite import SqliteDatabase
from tests.surfaces.rest.serving import Running, running


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    yield opened
    opened.close()


@pytest.fixture
def server(engine: Engine) -> Iterator[Running]:
    with running(engine) as here:
        yield here


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client
