"""How memories fade and are kept, as a client sees it when time passes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_memory.engine import Engine
from mcp_memory.storage import Database
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.fakes import Clock
from tests.surfaces.speaking import Conversation, Json, conversation_with


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """One kind is enough to see how tools answer."""
    opened = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    yield opened
    opened.close()


@pytest.fixture
def memory(engine: Engine) -> Iterator[Conversation]:
    with conversation_with(engine, "graph", "memory", "agent", details=True) as opened:
        yield opened


def recalled(memory: Conversation, query: str = "tea", **more: Any) -> list[Json]:
    found: list[Json] = memory.call("recall_memories", query=query, search_mode="keyword", **more)["memories"]
    return found


def test_initial_confidence(memory: Conversation) -> None:
    assert memory.call("store_memory", content="tea is hot")["confidence"] == 1.0
    [found] = recalled(memory)
    assert (found["confidence"], found["effective_confidence"]) == (1.0, 1.0)


@pytest.mark.parametrize(("days", "left"), [(15, 0.7071), (30, 0.5), (60, 0.25), (90, 0.125)])
def test_confidence_decay_over_time(memory: Conversation, clock: Clock, days: int, left: float) -> None:
    memory.call("store_memory", content="tea is hot")
    clock.advance(days=days)
    [found] = recalled(memory)
    assert found["effective_confidence"] == pytest.approx(left, abs=0.001)
    assert found["score"] == pytest.approx(left, abs=0.001), "the match times the effective confidence"
    assert found["confidence"] == 1.0, "what is stored does not decay"


def test_access_reinforcement(memory: Conversation, clock: Clock) -> None:
    memory.call("store_memory", content="tea is hot", confidence=0.6)
    clock.advance(days=15)
    [before] = recalled(memory)
    assert (before["access_count"], before["last_accessed_at"]) == (0, None)
    [after] = recalled(memory)
    assert (after["access_count"], after["last_accessed_at"]) == (1, clock.now.isoformat())
    assert after["effective_confidence"] == pytest.approx(0.7), "0.1 more, and no age"


def test_confidence_cap_at_1(memory: Conversation) -> None:
    memory.call("store_memory", content="tea is hot", confidence=0.95)
    recalled(memory)
    assert recalled(memory)[0]["confidence"] == 1.0


def test_filter_by_confidence_that_has_decayed(memory: Conversation, clock: Clock) -> None:
    memory.call("store_memory", content="green tea is hot")
    clock.advance(days=40)
    memory.call("store_memory", content="black tea is cold")
    assert [found["content"] for found in recalled(memory, min_confidence=0.5)] == ["black tea is cold"]


def test_prune_low_confidence_memories(memory: Conversation, engine: Engine, clock: Clock) -> None:
    memory.call("store_memory", content="tea is hot")
    memory.call("store_memory", content="I am called Tea", memory_type="identity")
    clock.advance(days=200)
    memory.call("store_memory", content="tea is cold")
    assert memory.call("get_memory_stats")["low_confidence_count"] == 1
    engine.maintenance.run_due()
    assert {found["content"] for found in recalled(memory)} == {"tea is cold", "I am called Tea"}
    pruning = next(
        change
        for change in memory.call("list_changes")["changes"]
        if change["summary"].startswith("archived")
    )
    memory.call("undo_change", change_id=pruning["change_id"])
    assert len(recalled(memory)) == 3
    engine.maintenance.prune()
    assert len(recalled(memory)) == 3, "what was wanted back does not fade away again at once"


def test_identities_and_what_the_graph_tools_wrote_do_not_fade(memory: Conversation, clock: Clock) -> None:
    memory.call("memory_save", content="I am called Tea", memory_type="identity")
    memory.call(
        "create_entities",
        entities=[{"name": "Cup", "entityType": "thing", "observations": ["is full of tea"]}],
    )
    clock.advance(days=3650)
    assert [found["effective_confidence"] for found in recalled(memory)] == [1.0, 1.0]


def test_delete_by_a_date_and_by_what_confidence_has_become(memory: Conversation, clock: Clock) -> None:
    old = memory.call("store_memory", content="tea is hot")["id"]
    clock.advance(days=40)
    memory.call("store_memory", content="tea is cold")
    for condition in ({"before_date": clock.now.date().isoformat()}, {"min_confidence_below": 0.5}):
        assert memory.call("delete_memories", **condition, dry_run=True)["deleted_ids"] == [old]


def test_time_filters_of_a_search(memory: Conversation, clock: Clock) -> None:
    memory.call("store_memory", content="tea is hot")
    between = clock.advance(days=1).isoformat()
    clock.advance(days=1)
    memory.call("store_memory", content="tea is cold")
    assert [found["content"] for found in recalled(memory, after_date=between)] == ["tea is cold"]
    assert [found["content"] for found in recalled(memory, before_date=between)] == ["tea is hot"]


def test_recent_and_most_accessed_follow_what_happened(memory: Conversation, clock: Clock) -> None:
    for content in ("first tea", "second tea", "third tea"):
        memory.call("memory_save", content=content)
        clock.advance(hours=1)

    def contents(**more: Any) -> list[str]:
        return [found["content"] for found in memory.call("memory_recall", **more)["memories"]]

    assert contents(mode="recent") == ["third tea", "second tea", "first tea"]
    recalled(memory, "second")
    most = contents(mode="recent", sort_by="most_accessed", max_results=3)
    assert most[0] == "second tea"


def test_a_change_can_be_undone_for_thirty_days(memory: Conversation, engine: Engine, clock: Clock) -> None:
    memory.call("store_memory", content="tea is hot")
    gone = memory.call("delete_memories", before_date="2100-01-01")
    clock.advance(days=31)
    engine.maintenance.run_due()
    [change] = [
        one for one in memory.call("list_changes")["changes"] if one["change_id"] == gone["change_id"]
    ]
    assert change["undoable"] is False
