"""What tests share: a database of each kind, an engine on it, and a world that is handed in."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import hypothesis
import pytest

from mcp_memory.embedding import Embedder, NoModel, open_embedder
from mcp_memory.engine import Context, Engine, Limits, Tuning
from mcp_memory.model import Caller
from mcp_memory.storage import Database, Store
from mcp_memory.storage.postgres.database import PostgresDatabase
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.fakes import Clock, HashEmbedder, ids
from tests.postgres_server import PostgresDatabases, postgres_databases
from tests.shared_servers import stop_servers

# A busy machine is no reason to fail.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever lies in tests/unit is a unit test."""
    for item in items:
        if "unit" in Path(item.path).parent.parts:
            item.add_marker(pytest.mark.unit)


@pytest.fixture(scope="session", autouse=True)
def _own_runtime_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Servers that tests start are found by tests alone, and none is left behind."""
    folder = Path(tempfile.mkdtemp(prefix="mcp-memory-"))
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    yield
    stop_servers(folder)
    stop_servers(tmp_path_factory.getbasetemp())
    shutil.rmtree(folder)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """The real model, loaded once."""
    cache_dir = tmp_path_factory.mktemp("cache")
    opened = open_embedder("local", "all-MiniLM-L6-v2", 384, models_dir=cache_dir, cache_dir=cache_dir)
    if isinstance(opened, NoModel):
        pytest.skip(opened.reason)
    return opened


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresDatabases]:
    """A PostgreSQL server of this test run's own, or the one `TEST_DATABASE_URL` names."""
    with postgres_databases() as databases:
        yield databases


@pytest.fixture
def postgres_url(postgres: PostgresDatabases) -> Iterator[str]:
    """A database with our schema and nothing in it."""
    with postgres.fresh() as url:
        yield url


@pytest.fixture
def emptied_postgres_url(postgres: PostgresDatabases) -> Iterator[str]:
    with postgres.emptied() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """One of each kind, in turn."""
    with closing(open_database(request.param, request, tmp_path)) as opened:
        yield opened


def open_database(kind: str, request: pytest.FixtureRequest, folder: Path) -> Database:
    """The one database of that kind that a test has, opened once more."""
    if kind == "sqlite":
        return SqliteDatabase(folder / "memory.db", "NORMAL")
    return PostgresDatabase(request.getfixturevalue("emptied_postgres_url"))


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database).open()


EngineMaker = Callable[..., Engine]


@pytest.fixture
def make_engine(store: Store, clock: Clock, embedder: HashEmbedder) -> EngineMaker:
    """An engine on the test's store; what is given replaces the usual parts."""

    def make(
        *,
        model: Embedder | NoModel | None = None,
        limits: Limits | None = None,
        tuning: Tuning | None = None,
        caller: Caller | None = None,
    ) -> Engine:
        return Engine(
            Context(
                store=store,
                embedder=embedder if model is None else model,
                clock=clock,
                new_id=ids(),
                limits=limits or Limits(),
                tuning=tuning or Tuning(),
                caller=caller or Caller(client="test"),
            )
        )

    return make


@pytest.fixture
def engine(make_engine: EngineMaker) -> Engine:
    return make_engine()
