"""What tests share: a database of each kind, an engine on it, and a world that is handed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcp_memory.embedding import Embedder, NoModel
from mcp_memory.engine import Context, Engine, Limits, Tuning
from mcp_memory.model import Caller
from mcp_memory.storage import Database, Store
from mcp_memory.storage.sqlite import SqliteDatabase
from tests.fakes import Clock, HashEmbedder, ids


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever lies in tests/unit is a unit test."""
    for item in items:
        if "unit" in Path(item.path).parent.parts:
            item.add_marker(pytest.mark.unit)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture(params=["sqlite"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    opened = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    yield opened
    opened.close()


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
