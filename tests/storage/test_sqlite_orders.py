"""The first memories of an order are read from its index: nothing is sorted that is not shown."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcp_memory.model import Filter
from mcp_memory.storage import filters
from mcp_memory.storage.orders import ORDERS
from mcp_memory.storage.sqlite.database import SqliteDatabase
from mcp_memory.storage.store import Store

AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("order", "index"), [("recent", "memory_created"), ("importance", "memory_importance")]
)
@pytest.mark.parametrize("superseded", [None, False])
def test_an_order_uses_its_own_index(tmp_path: Path, order: str, index: str, superseded: bool | None) -> None:
    database = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    store = Store(database).open()
    allowed = filters.where(Filter(superseded=superseded), 1, AT, timedelta(days=1), ordered=True)
    sql = f"SELECT o.seq FROM memory o WHERE {allowed.condition} ORDER BY {ORDERS[order].sql} LIMIT 10"
    with database.read() as connection:
        plan = connection.run(f"EXPLAIN QUERY PLAN {sql}", allowed.params)
    store.close()
    assert index in plan[0]["detail"]
