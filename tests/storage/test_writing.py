"""Rows written one by one, or many in one go."""

from __future__ import annotations

import gc
import weakref
from datetime import UTC, datetime, timedelta, timezone

import pytest

from mcp_memory.errors import Conflict
from mcp_memory.events import EntityCreated, MemoryCreated, MemoryPurged, TokenCreated
from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.storage.rows import unpacked
from tests.consistency import troubles

AT = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
MANY = 50
"""More than are written one by one anywhere."""


def observed(store: Store, count: int) -> list[str]:
    """What an entity with so many observations, written in one go, says of them."""
    texts = {f"id {number}": f"fact number {number}" for number in range(count)}
    with store.write(Caller(), AT, "act") as tx:
        entity = tx.entities.add(id="e", name="Ada", type="person")
        hashes = tx.memories.known_texts(texts.values()).free_hashes
        memories = tx.memories.add_observations(texts, hashes, kind="generic")
        tx.entities.link_all([(entity, memory) for memory in memories])
        tx.journal.record_rows(MemoryCreated, memories)
    with store.read("default", AT) as tx:
        [node] = tx.entities.nodes([tx.entities.get("Ada")])
        assert list(node.observations) == memories
        return node.texts


@pytest.mark.parametrize("count", [1, 2, MANY])
def test_rows_written_in_one_go_are_numbered_in_their_order(store: Store, count: int) -> None:
    assert observed(store, count) == [f"fact number {number}" for number in range(count)]
    assert troubles(store) == []


def test_a_row_that_changes_where_it_was_added_is_indexed_as_it_became(store: Store) -> None:
    with store.write(Caller(), AT, "act") as tx:
        hashes = tx.memories.known_texts(["green tea", "black tea"]).free_hashes
        texts = {"changed": "green tea", "removed": "black tea"}
        changed, removed = tx.memories.add_observations(texts, hashes, kind="generic")
        tx.memories.revise(changed, "correction", content="white coffee")
        tx.memories.change(removed, forgotten_at=AT, forgotten_reason="asked")
        tx.journal.record(MemoryCreated(changed.id, "white coffee", changed.type))
    with store.read("default", AT) as tx:
        found = {
            word: [seq for seq, _ in tx.indexes.matching("memory", [word], tx.memories.current, 5)]
            for word in ("tea", "coffe")
        }
        assert found == {"tea": [], "coffe": [changed.seq]}
        assert [pending.seq for pending in tx.indexes.pending("memory", 5)] == [changed.seq]
    assert troubles(store) == []


def test_what_a_write_keeps_in_memory_does_not_wait_for_the_garbage_collector(store: Store) -> None:
    gc.disable()
    try:
        with store.write(Caller(), AT, "act") as tx:
            entity = tx.entities.add(id="e", name="Ada", type="person")
            tx.entities.change(entity, type="engineer")
            tx.journal.record(EntityCreated("e", "Ada", "person"))
        ended = weakref.ref(tx)
        del tx
        assert ended() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("count", [1, 2, MANY])
def test_rows_written_in_one_go_can_be_taken_back(store: Store, count: int) -> None:
    observed(store, count)
    with store.write(Caller(), AT, "undo") as tx:
        tx.undo.revert("act")
    with store.read("default", AT) as tx:
        assert tx.entities.count() == 0
        assert not tx.memories.fetch_ids([f"id {number}" for number in range(count)])
        assert tx.indexes.count_pending() == 0
    assert troubles(store) == []
    with store.write(Caller(), AT, "redo") as tx:
        tx.undo.revert("undo")
    with store.read("default", AT) as tx:
        [node] = tx.entities.nodes([tx.entities.get("Ada")])
        assert node.texts == [f"fact number {number}" for number in range(count)]
        assert len(tx.indexes.matching("memory", ["fact"], tx.memories.current, 100)) == count
    assert troubles(store) == []


def test_each_row_is_told_of_in_its_own_event(store: Store) -> None:
    observed(store, MANY)
    with store.database.read() as connection:
        told = connection.run("SELECT before FROM event WHERE name = 'memory_created' ORDER BY seq")
    assert [unpacked(event["before"])[-1]["table"] for event in told] == ["entity_memory"] * MANY
    assert [len(event["before"]) for event in told[1:]] == [1] * (MANY - 1)


def test_a_number_that_a_row_has_is_not_given_again_after_many(store: Store) -> None:
    observed(store, MANY)
    with store.write(Caller(), AT, "more") as tx:
        hashes = tx.memories.known_texts(["later"]).free_hashes
        later = tx.memories.add_observations({"z": "later"}, hashes, kind="generic")
        assert later[0].seq > max(memory.seq for memory in tx.memories.fetch_ids(["id 49"]).values())
        tx.journal.record(MemoryCreated("z", "", "fact"))


def test_events_that_say_no_more_than_which_row_are_journaled_for_each(store: Store) -> None:
    with store.write(Caller(), AT, "act") as tx:
        hashes = tx.memories.known_texts(["one", "two"]).free_hashes
        memories = tx.memories.add_observations({"a": "one", "b": "two"}, hashes, kind="generic")
        tx.journal.record_rows(MemoryPurged, memories)
    with store.read("default", AT) as tx:
        events = [(event.name, event.subject) for event in tx.journal.of_act("act")]
        assert events == [("memory_purged", "a"), ("memory_purged", "b")]


def test_a_column_is_either_of_each_row_or_the_same_in_all(store: Store) -> None:
    ends: dict[str, list[float]] = {"entity_seq": [1], "memory_seq": [1], "relevance": [0.5]}
    with (
        store.write(Caller(), AT, "act") as tx,
        pytest.raises(TypeError, match="relevance cannot be both"),
    ):
        tx.scope.rows.insert_all("entity_memory", ends, {"relevance": 1.0, "created_at": AT})


def test_what_is_written_is_seen_by_the_next_look_of_its_transaction(store: Store) -> None:
    with store.write(Caller(), AT, "act") as tx:
        tx.settings.put("key", 1)
        assert tx.settings.get("key") == 1
        tx.settings.put("key", 2)
        tx.settings.put("other", 3)
        assert (tx.settings.get("key"), tx.settings.get("other")) == (2, 3)


def write_links_to_nothing(store: Store, count: int) -> None:
    with store.write(Caller(), AT, "act") as tx:
        tx.settings.put("key", "kept")
        ends = {"entity_seq": [1] * count, "memory_seq": [1] * count}
        tx.scope.rows.insert_all("entity_memory", ends, {"relevance": 1.0, "created_at": AT})


@pytest.mark.parametrize("count", [1, 2, MANY])
def test_a_row_that_is_refused_takes_the_whole_transaction_with_it(store: Store, count: int) -> None:
    with pytest.raises(Conflict):
        write_links_to_nothing(store, count)
    with store.read("default", AT) as tx:
        assert tx.settings.get("key", "not kept") == "not kept"


def write_tag_of_nothing(store: Store) -> None:
    with store.write(Caller(), AT, "act") as tx:
        tx.settings.put("key", "kept")
        tx.scope.change_many("put_memory_tag", [{"tag": "a", "memory_seq": 1}])
        tx.settings.put("key", "kept again")


def test_a_change_that_is_refused_late_takes_the_whole_transaction_with_it(store: Store) -> None:
    with pytest.raises(Conflict):
        write_tag_of_nothing(store)
    with store.write(Caller(), AT, "act") as tx:
        assert tx.settings.get("key", "not kept") == "not kept"
        tx.settings.put("key", "kept")
    with store.read("default", AT) as tx:
        assert tx.settings.get("key") == "kept"


def test_a_space_may_have_any_name(store: Store) -> None:
    name = 'it\'s 100 % \\ "odd"; ünïcode'
    with store.write(Caller(name), AT, "act") as tx:
        tx.entities.add(id="e", name="Ada", type="person")
        tx.journal.record(EntityCreated("e", "Ada", "person"))
    with store.read(name, AT) as tx:
        assert tx.entities.get("Ada").id == "e"


@pytest.mark.parametrize(
    "subject",
    ["0192f3a0-0000-7000-8000-00000000abcd", "0192F3A0-0000-7000-8000-00000000ABCD", "laptop", "0" * 32, ""],
)
def test_an_id_of_an_event_is_found_as_it_was_given(store: Store, subject: str) -> None:
    act = "0192f3a0-1111-7000-8000-000000000001"
    with store.write(Caller(), AT, act) as tx:
        tx.journal.record(TokenCreated(subject, "read"))
    with store.read("default", AT) as tx:
        [event] = tx.journal.of_act(act)
        assert (event.act, event.subject) == (act, subject or act)
        assert tx.journal.about(event.subject) == [event]
        assert [one.act for one in tx.journal.acts(5)] == [act]
        assert tx.journal.acts_like("0192f3a0-11") == tx.journal.acts_like("0001") == [act]


@pytest.mark.parametrize(
    "at",
    [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC),
        datetime(2026, 3, 29, 2, 30, 0, 1, timezone(timedelta(hours=2))),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC),
    ],
)
def test_a_time_is_kept_to_the_microsecond_and_in_order(store: Store, at: datetime) -> None:
    with store.write(Caller(), at, "act") as tx:
        entity = tx.entities.add(id="e", name="Ada", type="person")
        tx.journal.record(EntityCreated(entity.id, "Ada", "person"))
    with store.read("default", AT) as tx:
        assert tx.entities.get("Ada").created_at == at
        [event] = tx.journal.latest(1)
        assert (event.at, event.at.utcoffset()) == (at, timedelta(0))
        assert [last for _, _, last in tx.journal.clients(1)] == [at]
