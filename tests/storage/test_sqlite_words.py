"""Words on SQLite: each space weighs them by itself; no narrow filter loses a match."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_memory.events import MemoryCreated
from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.storage.database import Allowed, Connection, WordRow
from mcp_memory.storage.sqlite.database import SqliteDatabase

ANY = Allowed("o.forgotten_at IS NULL", {})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(SqliteDatabase(tmp_path / "memory.db", "NORMAL")).open()
    yield opened
    opened.close()


def remember(store: Store, space: str, contents: list[str]) -> None:
    with store.write(Caller(space), datetime(2026, 1, 1, tzinfo=UTC), space) as tx:
        for number, content in enumerate(contents):
            tx.memories.add(
                id=f"{space}-{number}", content=content, type="fact", kind="generic", origin="memory",
                importance=0.5, tags=["even"] if number % 2 == 0 else [],
            )  # fmt: skip
        tx.journal.record(MemoryCreated(space, "", "fact"))


def found(store: Store, space: str, terms: list[str], allowed: Allowed = ANY, limit: int = 10) -> list[str]:
    with store.read(space, datetime(2026, 1, 1, tzinfo=UTC)) as tx:
        hits = tx.indexes.matching("memory", terms, allowed, limit)
        memories = tx.memories.fetch(seq for seq, _ in hits)
        return [memories[seq].content for seq, _ in hits]


def test_how_rare_a_word_is_follows_from_the_space_alone(store: Store) -> None:
    remember(store, "ours", ["anna tea", "anna coffee", "anna milk", "ben tea cup", "anna juice"])
    remember(store, "theirs", [f"something else {number}" for number in range(200)])
    assert found(store, "ours", ["anna", "tea"])[:2] == ["anna tea", "ben tea cup"]


@pytest.mark.parametrize("count", [150, 1003])
def test_words_written_together_are_one_segment_of_the_index(store: Store, count: int) -> None:
    remember(store, "ours", [f"tea number {number}" for number in range(300)])
    before = segment_count(store)
    with store.database.write() as connection:
        rows = [WordRow(1000 + number, 1, f"cup c{number}", "fact") for number in range(count)]
        store.database.words.put(connection, "memory", rows, new=True)
        segments = segment_count(store, connection)
        assert [row["count"] for row in connection.run(_COUNT_CUPS)] == [count]
    # Each one is a piece of work for later writes, which merge them.
    assert segments - before <= -(-count // 1000)


_COUNT_CUPS = "SELECT count(*) AS count FROM memory_words_1 WHERE memory_words_1 MATCH 'cup'"


def segment_count(store: Store, connection: Connection | None = None) -> int:
    count = "SELECT count(DISTINCT segid) AS count FROM memory_words_1_idx"
    with nullcontext(connection) if connection else store.database.read() as reading:
        # Counting the rows with a word has FTS5 write what it holds back.
        reading.run(_COUNT_CUPS)
        return int(reading.run(count)[0]["count"])


def test_a_space_that_nobody_wrote_to_holds_nothing(store: Store) -> None:
    remember(store, "ours", ["tea"])
    assert found(store, "nobody's", ["tea"]) == []


def test_a_narrow_filter_is_served_from_all_matches(store: Store) -> None:
    remember(store, "ours", [f"tea {'tea ' * (60 - number)}{number}" for number in range(60)])
    last = Allowed("o.id = :wanted", {"wanted": "ours-59"})
    assert found(store, "ours", ["tea"], last, limit=1) == ["tea tea 59"]
