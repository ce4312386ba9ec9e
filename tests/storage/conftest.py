"""What tests about both engines at once share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mcp_memory.storage import Store
from mcp_memory.storage.postgres.database import PostgresDatabase
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.postgres_server import PostgresDatabases


@pytest.fixture(scope="module")
def migrated(
    tmp_path_factory: pytest.TempPathFactory, postgres: PostgresDatabases
) -> Iterator[dict[str, Store]]:
    """A store on each engine, for tests that only look."""
    with opened(tmp_path_factory.mktemp("migrated"), postgres) as stores:
        yield stores


@pytest.fixture
def stores(tmp_path: Path, postgres: PostgresDatabases) -> Iterator[dict[str, Store]]:
    """A store on each engine, with nothing in it."""
    with opened(tmp_path, postgres) as stores:
        yield stores


@contextmanager
def opened(folder: Path, postgres: PostgresDatabases) -> Iterator[dict[str, Store]]:
    with postgres.fresh() as url:
        stores = {
            "sqlite": Store(SqliteDatabase(folder / "memory.db", "NORMAL")).open(),
            "postgres": Store(PostgresDatabase(url)).open(),
        }
        yield stores
        for store in stores.values():
            store.close()
