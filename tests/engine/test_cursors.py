"""Long lists are walked page by page: nothing is shown twice or left out, whatever happens meanwhile."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Invalid
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Filter, Memory
from mcp_memory.storage.orders import ORDERS
from tests.fakes import Clock

Pages = Callable[..., tuple[list[str], int, str | None]]
"""What a list shows on one page, by name; how many there are; where the next one begins."""


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


@pytest.fixture
def web(engine: Engine) -> Engine:
    """A hub that knows twelve others, of two types."""
    others = [NewEntity(name=f"n{number:02}", type="odd" if number % 2 else "even") for number in range(12)]
    engine.graph.create_entities([NewEntity(name="hub", type="even"), *others])
    engine.graph.create_relations(
        [NewRelation(source="hub", target=one.name, type=f"knows_{one.type}") for one in others]
    )
    return engine


def entities(engine: Engine, **wanted: object) -> tuple[list[str], int, str | None]:
    page = engine.entities.find(**wanted)  # type: ignore[arg-type]
    return [one.entity.name for one in page.entities], page.total, page.cursor


def relations(engine: Engine, **wanted: object) -> tuple[list[str], int, str | None]:
    page = engine.inventory.relations(**wanted)  # type: ignore[arg-type]
    return [one.target for one in page.relations], page.total, page.cursor


def relations_of_hub(engine: Engine, **wanted: object) -> tuple[list[str], int, str | None]:
    page = engine.inventory.relations_of("hub", **wanted)  # type: ignore[arg-type]
    return [one.target for one in page.relations], page.total, page.cursor


LISTS = pytest.mark.parametrize("listed", [entities, relations, relations_of_hub])


@LISTS
@pytest.mark.parametrize("wanted", [{}, {"type": "odd"}, {"type": "knows_even"}])
def test_entities_and_relations_are_walked_the_same_way(
    web: Engine, listed: Pages, wanted: dict[str, str]
) -> None:
    whole, total, cursor = listed(web, limit=100, **wanted)
    assert (total, cursor) == (len(whole), None)
    seen, _, cursor = listed(web, limit=5, **wanted)
    while cursor:
        page, total, cursor = listed(web, limit=5, cursor=cursor, **wanted)
        assert total == len(whole)
        seen += page
    assert seen == whole


@LISTS
def test_entities_that_go_meanwhile_move_no_page(web: Engine, listed: Pages) -> None:
    whole, _, _ = listed(web, limit=100)
    _, _, cursor = listed(web, limit=5)
    web.graph.delete_entities([whole[3], whole[4], whole[6]])
    following, _, _ = listed(web, limit=3, cursor=cursor)
    assert following == [whole[5], whole[7], whole[8]]


def test_entities_of_the_past_are_walked_by_cursor(web: Engine, clock: Clock) -> None:
    then = clock()
    clock.advance(hours=1)
    web.graph.delete_entities(["n03", "n07"])
    whole, _, _ = entities(web, limit=100, as_of=then)
    first, _, cursor = entities(web, limit=6, as_of=then)
    rest, total, _ = entities(web, limit=100, cursor=cursor, as_of=then)
    assert first + rest == whole
    assert total == len(whole) == 13


@LISTS
@pytest.mark.parametrize(
    "cursor",
    ["x", "a" * 500, made_up(), made_up("recent", 1), made_up("stored", "1"), made_up("stored", 2**70)],
)
def test_a_made_up_cursor_of_entities_is_refused(web: Engine, listed: Pages, cursor: str) -> None:
    with pytest.raises(Invalid, match="not one of ours"):
        listed(web, limit=5, cursor=cursor)


@LISTS
def test_entities_begin_at_an_offset_or_at_a_cursor(web: Engine, listed: Pages) -> None:
    _, _, cursor = listed(web, limit=5)
    with pytest.raises(Invalid, match="one of them"):
        listed(web, limit=5, offset=5, cursor=cursor)
