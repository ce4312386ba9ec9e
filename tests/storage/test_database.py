"""What every database promises the store."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from mcp_memory.errors import Conflict, MemoryServerError
from mcp_memory.events import ArchiveImported, MemoryCreated
from mcp_memory.model import Caller, Memory
from mcp_memory.storage import Database, Store
from mcp_memory.storage.database import Columns
from tests.fakes import Clock

AT = datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=UTC)


def put(store: Store, key: str, value: Any, *, durable: bool = True) -> None:
    with store.write(Caller(), AT, "act", durable=durable) as tx:
        tx.settings.put(key, value)


def got(store: Store, key: str) -> Any:
    with store.read("default", AT) as tx:
        return tx.settings.get(key)


def keep(store: Store, content: str, id: str = "", space: str = "default", **more: Any) -> Memory:
    with store.write(Caller(space), AT, id or content) as tx:
        memory = tx.memories.add(
            id=id or f"{space}-{content}", content=content, type="fact", origin="memory", importance=0.5,
            kind="generic", **more,
        )  # fmt: skip
        tx.journal.record(MemoryCreated(memory.id, memory.content, memory.type))
    return memory


@pytest.mark.parametrize(
    "value",
    [
        {"nested": [1, 2.5, None, True, {"a": "ü 🎉 \\ \" ' %s :name"}]},
        [],
        {"big": 2**60, "tiny": 1e-300, "empty": ""},
    ],
)
def test_json_comes_back_as_it_went_in(store: Store, value: Any) -> None:
    put(store, "key", value)
    assert got(store, "key") == value


def test_text_comes_back_as_it_went_in(store: Store) -> None:
    text = "100 % of :names, 'quoted' \"twice\", back\\slash, tab\t, line\nend, Ünïcode 東京 🎉 %(name)s"
    memory = keep(store, text, id="x", source="50 %")
    with store.read("default", AT) as tx:
        assert tx.memories.get("x") == memory
        assert tx.memories.get("x").content == text


def test_times_come_back_in_utc_to_the_microsecond(store: Store) -> None:
    there = AT.astimezone(timezone(timedelta(hours=-7)))
    with store.write(Caller(), there, "act") as tx:
        tx.memories.add(
            id="x", content="x", type="fact", origin="memory", importance=0.5, kind="generic", pinned=True
        )
        tx.journal.record(MemoryCreated("x", "", "fact"))
    with store.read("default", AT) as tx:
        memory = tx.memories.get("x")
    assert memory.created_at == AT
    assert memory.created_at.utcoffset() == timedelta(0)
    assert memory.created_at.isoformat() == AT.isoformat()


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    def fail() -> None:
        with store.write(Caller("new"), AT, "act") as tx:
            tx.settings.put("key", [1])
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail()
    assert got(store, "key") is None
    assert store.spaces() == []
    put(store, "key", [2])
    assert got(store, "key") == [2]


def test_what_need_not_survive_a_power_cut_is_kept_all_the_same(store: Store) -> None:
    put(store, "key", [1], durable=False)
    assert got(store, "key") == [1]


@pytest.mark.seed("001 concurrency")
def test_a_reader_sees_one_moment_while_others_write(store: Store) -> None:
    put(store, "key", [1])
    with store.read("default", AT) as tx:
        assert tx.settings.get("key") == [1]
        put(store, "key", [2])
        assert tx.settings.get("key") == [1]
    assert got(store, "key") == [2]


def test_a_reader_cannot_write(store: Store) -> None:
    with (
        pytest.raises(MemoryServerError),
        store.database.read() as connection,
    ):
        connection.change("INSERT INTO space (name, created_at) VALUES ('x', :at)", {"at": AT})
    assert store.spaces() == []


def test_a_row_that_must_be_unique_is_a_conflict(store: Store) -> None:
    keep(store, "same", id="one")
    with pytest.raises(Conflict):
        keep(store, "same", id="two")
    with pytest.raises(Conflict):
        keep(store, "other", id="one")
    keep(store, "other", id="two")


def test_wrong_sql_is_a_bug_and_is_not_hidden(store: Store) -> None:
    with pytest.raises(Exception, match="no_such_table") as caught, store.database.read() as connection:
        connection.run("SELECT * FROM no_such_table")
    assert not isinstance(caught.value, MemoryServerError)


def test_only_parameters_are_taken_for_parameters(database: Database) -> None:
    with database.read() as connection:
        [row] = connection.run(
            "-- it's :not one\nSELECT ':no %s %' AS text, CAST(:yes AS TEXT) AS bound, 7 % 4 AS rest,"
            " '\\' AS slash, 'it''s :x' AS quote",
            {"yes": "%s :yes"},
        )
    assert row == {"text": ":no %s %", "bound": "%s :yes", "rest": 3, "slash": "\\", "quote": "it's :x"}


def test_changes_are_counted(store: Store) -> None:
    for number in range(3):
        keep(store, f"memory {number}")
    with store.database.write() as connection:
        assert connection.change("UPDATE memory SET version = 2 WHERE seq <= 2") == 2
        assert connection.change("UPDATE memory SET version = 2 WHERE seq > 99") == 0


def test_of_many_who_look_and_then_write_only_one_writes(store: Store) -> None:
    """Each looks whether the memory is there and adds it if not: without a lock, several would."""
    start = threading.Barrier(6)

    def remember(number: int) -> bool:
        start.wait()
        with store.write(Caller("crowded"), AT, f"act {number}") as tx:
            if tx.memories.equal_to("the same"):
                return False
            tx.memories.add(
                id=str(number),
                content="the same",
                type="fact",
                origin="memory",
                importance=0.5,
                kind="generic",
            )
            tx.journal.record(MemoryCreated(str(number), "", "fact"))
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(remember, range(6))) == [False] * 5 + [True]


def test_events_of_a_space_can_be_followed_by_their_numbers(store: Store) -> None:
    """A reader that has read up to a number has missed nothing below it."""
    writers, each = 4, 25
    running = threading.Event()
    running.set()
    keep(store, "first", space="followed")

    def write(writer: int) -> None:
        for number in range(each):
            keep(store, f"{writer} {number}", space="followed")

    seen: list[int] = []
    with ThreadPoolExecutor(writers) as pool:
        work = [pool.submit(write, writer) for writer in range(writers)]
        while running.is_set() or len(seen) <= writers * each:
            if all(done.done() for done in work):
                running.clear()
            with store.read("followed", AT) as tx:
                seen += [event.seq for event in tx.journal.after(seen[-1] if seen else 0, 1000)]
        for done in work:
            done.result()
    assert len(seen) == writers * each + 1
    assert seen == sorted(set(seen))


def test_the_bell_rings_when_something_was_written(store: Store) -> None:
    keep(store, "first")
    with store.database.change_signal() as bell:
        assert bell.wait(60)  # what was there before it listened
        assert not bell.wait(0)
        keep(store, "second")
        assert bell.wait(30)
        assert not bell.wait(0)


def test_the_bell_wakes_who_waits(store: Store, clock: Clock) -> None:
    keep(store, "first")
    with store.database.change_signal() as bell, ThreadPoolExecutor(1) as pool:
        bell.wait(5)
        waiting = pool.submit(bell.wait, 60)
        keep(store, "second")
        assert waiting.result(60)


def test_one_leads_and_another_takes_over(store: Store) -> None:
    with store.database.leader_election() as second:
        with store.database.leader_election() as first:
            assert first.leads()
            assert first.leads()
            assert not second.leads()
        assert second.leads()


def test_memories_come_in_the_order_asked_for_however_many_they_are(store: Store) -> None:
    with store.write(Caller(), AT, "act") as tx:
        memories = [
            tx.memories.add(
                id=f"id {number}", content=f"fact {number}", type="fact", origin="memory", importance=0.5,
                kind="generic",
            )
            for number in range(600)
        ]  # fmt: skip
        tx.journal.record(ArchiveImported())
    backwards = [memory.seq for memory in reversed(memories)]
    with store.read("default", AT) as tx:
        assert list(tx.memories.fetch([*backwards, *backwards, 10**9])) == backwards
        assert list(tx.memories.fetch_ids(memory.id for memory in reversed(memories))) == [
            memory.id for memory in reversed(memories)
        ]


@pytest.mark.parametrize("shared", [(), ("act", "space_id", "at", "before")])
def test_many_new_rows_come_back_as_they_went_in(store: Store, shared: tuple[str, ...]) -> None:
    at = datetime(2026, 3, 1, 12, 30, tzinfo=timezone(timedelta(hours=2)))
    columns = ("seq", "space_id", "act", "name", "subject", "payload", "client", "at", "before", "undone_at")
    rows = [
        {
            "seq": number, "space_id": 1, "act": "act", "name": 'tab\t, "quote", \\N', "subject": "日本 🎉",
            "payload": {"number": number, "text": "a\\b\n"}, "client": "", "at": at, "before": [{"x": 1.5}],
            "undone_at": at if number % 2 else None,
        }
        for number in range(1, 6)
    ]  # fmt: skip
    with store.database.write() as connection:
        connection.change("INSERT INTO space (seq, name, created_at) VALUES (1, 'default', :at)", {"at": at})
        for some in (rows[:1], rows[1:], []):
            own = {name: [row[name] for row in some] for name in columns if name not in shared}
            connection.insert_all("event", own, {name: rows[0][name] for name in shared})
    with store.database.read() as connection:
        assert connection.run(f"SELECT {', '.join(columns)} FROM event ORDER BY seq") == rows


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 63, 64, 65, 128, 191, 192, 193, 194, 500])
def test_any_number_of_rows_can_be_inserted(store: Store, count: int, at_once: bool) -> None:
    numbers = list(range(1, count + 1))
    at = datetime(2026, 3, 1, tzinfo=UTC)
    with store.database.write() as connection:
        own: Columns = {"seq": numbers, "name": [f"space {number}" for number in numbers]}
        connection.insert_all("space", own, {"created_at": at}, at_once=at_once)
    with store.database.read() as connection:
        found = connection.tuples("SELECT seq, name, created_at FROM space ORDER BY seq")
    assert found == [(number, f"space {number}", at) for number in numbers]


def test_many_new_rows_of_which_one_cannot_be_kept_change_nothing(store: Store) -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    with pytest.raises(Conflict), store.database.write() as connection:
        connection.insert_all("space", {"name": ["one", "two", "one"]}, {"created_at": at})
    assert store.spaces() == []
