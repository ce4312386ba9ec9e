"""What is asked for is read from its index: nothing is sorted or walked that is not shown."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from mcp_memory.model import Caller, Filter
from mcp_memory.storage import filters, queries
from mcp_memory.storage.orders import ORDERS
from mcp_memory.storage.sqlite.connection import SqliteConnection
from mcp_memory.storage.sqlite.database import SqliteDatabase
from mcp_memory.storage.store import Store

AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("order", "index"), [("recent", "memory_age"), ("importance", "memory_importance")])
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


@pytest.mark.parametrize(
    "query",
    [
        "entities_by_name",
        "first_relations_touching",
        "relation_seqs_touching",
        "bare_relations_touching",
        "relations_around",
        "events_of_act",
        "newest_events_of_act",
        "events_about",
    ],
)
def test_a_few_rows_are_not_looked_for_in_a_whole_space(tmp_path: Path, query: str) -> None:
    database = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    store = Store(database).open()
    sql = queries.load()[query].format(columns="o.seq", keys=":k0")
    with database.read() as connection:
        params = dict.fromkeys(re.findall(r":(\w+)", sql), 1)
        plan = [row["detail"] for row in connection.run(f"EXPLAIN QUERY PLAN {sql}", params)]
    store.close()
    assert any("SEARCH" in step for step in plan)
    assert not [step for step in plan if step.endswith("(space_id=?)") or step == "SCAN relation"]


NUMBERED = sorted(name for name, sql in queries.load().items() if re.search(r"seq IN \(\{keys\}\)", sql))
SLOTS = {"columns": "o.seq", "where": "1 = 1", "effective": "o.confidence", "table": "entity"}


@pytest.mark.parametrize("query", NUMBERED)
def test_rows_of_some_numbers_are_not_looked_for_in_a_whole_space(tmp_path: Path, query: str) -> None:
    database = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    store = Store(database).open()
    with database.read() as connection:
        keys, bound = connection.listed([1, 2])
        sql = queries.load()[query].format(**SLOTS, keys=keys)
        others = dict.fromkeys(re.findall(r"(?<!:):(\w+)", re.sub("--.*", "", sql)), 1)
        plan = [row["detail"] for row in connection.run(f"EXPLAIN QUERY PLAN {sql}", {**others, **bound})]
    store.close()
    walked = [step for step in plan if step.endswith("(space_id=?)")]
    assert not [step for step in walked if "event_order" not in step], "the largest number is read from it"


def test_an_archived_memory_is_looked_up_by_its_content(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    store = Store(database).open()
    sql = queries.load()["archived_memory_by_hash"].format(columns="o.seq")
    with database.read() as connection:
        plan = connection.run(f"EXPLAIN QUERY PLAN {sql}", {"space_id": 1, "content_hash": b"hash"})
    store.close()
    assert plan[0]["detail"].endswith("memory_archived (space_id=? AND content_hash=?)")


def test_no_statement_is_planned_again_for_other_values(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    store = Store(database).open()
    counts: dict[str, int] = {}

    def note(event: dict[str, Any]) -> None:
        counts[event["sql"]] = event["stmt_status"]["SQLITE_STMTSTATUS_REPREPARE"]

    for content in ("Ana likes tea", "Ben rows on Sundays", "Carla sings"):
        with store.write(Caller(), AT, "act") as tx:
            connection = tx.scope.connection
            assert isinstance(connection, SqliteConnection)
            assert tx.memories.equal_to(content) is tx.memories.archived_with(content) is None
            assert not tx.search_log.names_lately_shown()
            assert tx.memories.known_texts([content]).free_hashes
            connection.raw.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    store.close()
    assert any("archived_at" in sql for sql in counts)
    assert not {sql: count for sql, count in counts.items() if count}
