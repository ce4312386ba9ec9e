"""Long lists are walked page by page: nothing is shown twice or left out, whatever happens meanwhile."""

from __future__ import annotations

import base64
import json

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Invalid
from mcp_memory.model import Filter, Memory
from mcp_memory.storage.orders import ORDERS
from tests.fakes import Clock


@pytest.fixture
def shelf(engine: Engine, clock: Clock) -> Engine:
    """Memories of which many share an importance, a moment or a number of reads."""
    for number in range(23):
        new = NewMemory(
            content=f"Book {number} is about {'history' if number % 2 else 'cooking'}",
            importance=(number % 3) / 2,
            confidence=0.4 + (number % 4) / 8,
            tags=("odd",) if number % 2 else (),
        )
        memory = engine.memories.remember(new).memory
        if number % 4 == 0:
            clock.advance(hours=1)
            engine.memories.get(memory.id)
    return engine


def walked(engine: Engine, order: str, filter: Filter | None = None, **more: object) -> list[Memory]:
    found: list[Memory] = []
    cursor: str | None = None
    while True:
        page = engine.memories.find(filter or Filter(), order=order, limit=5, cursor=cursor, **more)  # type: ignore[arg-type]
        found += page.memories
        cursor = page.cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_pages_by_cursor_are_the_list_in_one(shelf: Engine, order: str) -> None:
    whole = shelf.memories.find(Filter(), order=order, limit=100)
    assert whole.cursor is None
    assert [one.id for one in walked(shelf, order)] == [one.id for one in whole.memories]
    assert len(whole.memories) == whole.total == 23


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_filters_and_the_past_are_walked_the_same_way(shelf: Engine, clock: Clock, order: str) -> None:
    then = clock()
    odd = shelf.memories.find(Filter(tags=("odd",)), order=order, limit=100).memories
    assert [one.id for one in walked(shelf, order, Filter(tags=("odd",)))] == [one.id for one in odd]
    before = shelf.memories.find(Filter(), order=order, limit=100, as_of=then).memories
    clock.advance(hours=1)
    for one in before[:7]:
        shelf.memories.delete([one.id])
    assert [one.id for one in walked(shelf, order, as_of=then)] == [one.id for one in before]


def test_what_comes_and_goes_meanwhile_moves_nothing_else(shelf: Engine, clock: Clock) -> None:
    whole = [one.id for one in shelf.memories.find(Filter(), limit=100).memories]
    first = shelf.memories.find(Filter(), limit=5)
    clock.advance(hours=1)
    shelf.memories.remember(NewMemory(content="A parcel came"))
    shelf.memories.delete([whole[4], whole[7]])  # the one the cursor stands on, and one further down
    second = shelf.memories.find(Filter(), limit=5, cursor=first.cursor)
    assert [one.id for one in second.memories] == [whole[5], whole[6], *whole[8:11]]


def test_the_weakest_stay_in_their_order_while_time_goes_by(shelf: Engine, clock: Clock) -> None:
    """Pinned memories do not fade, so an hour later another one could be the next."""
    whole = [one.id for one in shelf.memories.find(Filter(), order="weakest", limit=100).memories]
    shelf.memories.pin(whole[12])
    whole = [one.id for one in shelf.memories.find(Filter(), order="weakest", limit=100).memories]
    seen: list[str] = []
    cursor: str | None = None
    while len(seen) < len(whole):
        page = shelf.memories.find(Filter(), order="weakest", limit=5, cursor=cursor)
        seen += [one.id for one in page.memories]
        cursor = page.cursor
        clock.advance(days=20)
    assert seen == whole


def test_a_cursor_of_another_order_is_refused(shelf: Engine) -> None:
    cursor = shelf.memories.find(Filter(), order="recent", limit=5).cursor
    with pytest.raises(Invalid, match="order 'recent'"):
        shelf.memories.find(Filter(), order="weakest", limit=5, cursor=cursor)


def test_offset_and_cursor_exclude_each_other(shelf: Engine) -> None:
    page = shelf.memories.find(Filter(), limit=5, offset=5)
    with pytest.raises(Invalid, match="one of them"):
        shelf.memories.find(Filter(), limit=5, offset=5, cursor=page.cursor)


def made_up(*told: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "é",
        "AAAA",
        "a" * 500,
        made_up(),
        made_up("recent", "2026-01-01T00:00:00+00:00", ["2026-01-01T00:00:00", 1]),
        made_up("recent", "2026-01-01T00:00:00+00:00", [1, 1]),
        made_up("recent", "2026-01-01T00:00:00+00:00", ["2026-01-01T00:00:00+00:00"]),
        made_up("recent", "2026-01-01T00:00:00+00:00", ["2026-01-01T00:00:00+00:00", "1"]),
        made_up("recent", "2026-01-01T00:00:00+00:00", ["2026-01-01T00:00:00+00:00", 2**70]),
        made_up("recent", "2026-01-01T00:00:00+00:00", ["2026-01-01T00:00:00+00:00", float("nan")]),
        made_up("recent", "yesterday", ["2026-01-01T00:00:00+00:00", 1]),
    ],
)
def test_a_cursor_that_is_none_is_refused(shelf: Engine, cursor: str) -> None:
    with pytest.raises(Invalid, match="not one of ours"):
        shelf.memories.find(Filter(), limit=5, cursor=cursor)


def test_a_cursor_from_the_far_future_is_harmless(shelf: Engine) -> None:
    later = made_up("weakest", "9999-01-01T00:00:00+00:00", [0.0, 0])
    assert shelf.memories.find(Filter(), order="weakest", limit=5, cursor=later).memories
