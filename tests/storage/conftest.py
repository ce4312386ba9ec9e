"""What tests about both engines at once share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_memory.storage import Store
from mcp_memory.storage.postgres import PostgresDatabase
from mcp_memory.storage.sqlite import SqliteDatabase
from tests.postgres_server import PostgresDatabases


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresDatabases) -> Iterator[dict[str, Store]]:
    """One of each engine with our schema, for tests that only look."""
    path: Path = tmp_path_factory.mktemp("migrated") / "memory.db"
    with postgres.fresh() as url:
        stores = {
            "sqlite": Store(SqliteDatabase(path, "NORMAL")).open(),
            "postgres": Store(PostgresDatabase(url)).open(),
        }
        yield stores
        for store in stores.values():
            store.close()
