"""Databases for rounds of faults: each a copy of one that was prepared once."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import psycopg

from mcp_memory.storage import Database
from mcp_memory.storage.postgres.database import PostgresDatabase
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.faults.released_schemas import put_sample
from tests.postgres_server import PostgresServer

Prepare = Callable[[Database], None]
PATIENCE = 120.0


def open_database(url: str, **options: Any) -> Database:
    if url.startswith("sqlite:///"):
        return SqliteDatabase(Path(url.removeprefix("sqlite:///")), **options)
    return PostgresDatabase(url, connections=2, **options)


class Places(Protocol):
    """Where databases are made."""

    name: str

    def prepared(self, base: str, prepare: Prepare) -> None:
        """Make the database that copies are made of."""

    def sample(self, base: str, number: int) -> None:
        """The same with a database of a released schema, which stays as it is."""

    def copied(self, base: str | None) -> str:
        """The address of a new copy; of an empty database without a base."""

    def settle(self, url: str) -> None:
        """Wait until nothing of a killed process is left."""

    def remove(self, url: str) -> None: ...


class SqlitePlaces:
    name = "sqlite"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)

    def prepared(self, base: str, prepare: Prepare) -> None:
        _prepare(self._url(base), prepare)

    def sample(self, base: str, number: int) -> None:
        put_sample(self._url(base), number)

    def _url(self, base: str) -> str:
        return f"sqlite:///{self._folder / f'{base}.db'}"

    def copied(self, base: str | None) -> str:
        place = self._folder / f"round-{next(self._numbers)}"
        place.mkdir()
        if base is not None:
            shutil.copy(self._folder / f"{base}.db", place / "memory.db")
        return f"sqlite:///{place / 'memory.db'}"

    def settle(self, url: str) -> None:
        """The system has taken the locks away with the process."""

    def remove(self, url: str) -> None:
        shutil.rmtree(Path(url.removeprefix("sqlite:///")).parent)


class PostgresPlaces:
    name = "postgres"

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._admin = psycopg.connect(server.url("postgres"), autocommit=True)
        self._numbers = count(1)

    def url(self, base: str) -> str:
        return self._server.url(base)

    def prepared(self, base: str, prepare: Prepare) -> None:
        self._admin.execute(f'CREATE DATABASE "{base}" TEMPLATE template0')
        _prepare(self.url(base), prepare)
        self.settle(self.url(base))

    def sample(self, base: str, number: int) -> None:
        self._admin.execute(f'CREATE DATABASE "{base}" TEMPLATE template0')
        put_sample(self.url(base), number)
        self.settle(self.url(base))

    def copied(self, base: str | None) -> str:
        name = f"round_{next(self._numbers)}"
        self._admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{base or "template0"}"')
        return self.url(name)

    def settle(self, url: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while self._admin.execute(_CONNECTED, [_name(url)]).fetchone():
            if time.monotonic() > deadline:
                raise AssertionError("a session of a killed process does not end")
            time.sleep(0.002)

    def remove(self, url: str) -> None:
        self._admin.execute(f'DROP DATABASE "{_name(url)}" WITH (FORCE)')

    def close(self) -> None:
        self._admin.close()


_CONNECTED = "SELECT 1 FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend'"


def _name(url: str) -> str:
    return url.split("/")[3].partition("?")[0]


def _prepare(url: str, prepare: Prepare) -> None:
    database = open_database(url)
    prepare(database)
    database.close()


@contextmanager
def postgres_places() -> Iterator[PostgresPlaces]:
    server = PostgresServer().create().start()
    try:
        with closing(PostgresPlaces(server)) as places:
            yield places
    finally:
        server.remove()
