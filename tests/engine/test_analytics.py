"""Totals, growth, types, tags and confidence are what the rows say, at the moment one asks."""

from __future__ import annotations

from dataclasses import asdict, fields
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.relating import Triple
from mcp_memory.errors import Invalid
from mcp_memory.inputs import NewRelation
from mcp_memory.model import Memory
from tests.conftest import EngineMaker
from tests.fakes import Clock, HashEmbedder


def remember(engine: Engine, content: str, **given: Any) -> Memory:
    return engine.memories.remember(NewMemory(content=content, **given)).memory


def test_an_empty_memory_has_empty_statistics(engine: Engine) -> None:
    stats = engine.analytics.stats()
    assert (stats.total_memories, stats.average_confidence, stats.low_confidence_count) == (0, 0.0, 0)
    assert (stats.oldest_memory, stats.newest_memory) == (None, None)
    assert stats.memories_by_type == {}
    assert engine.analytics.tags() == {}
    assert sum(part.count for part in engine.analytics.confidence()) == 0


def test_statistics_count_what_lives(engine: Engine, clock: Clock) -> None:
    first_at = clock.now
    remember(engine, "tea is hot", type="fact", tags=("drink", "warm"))
    gone = remember(engine, "snow is cold", type="fact")
    engine.memories.forget(gone.id)
    clock.advance(days=60)
    remember(engine, "use tabs", type="decision", tags=("warm",))
    engine.graph.create_relations(
        [NewRelation(source="A", target="B", type=kind, make_ends=True) for kind in ("knows", "likes")]
    )
    engine.graph.end_relation(Triple("A", "B", "likes"))
    stats = engine.analytics.stats()
    assert (stats.total_memories, stats.total_entities, stats.total_relations) == (2, 2, 1)
    assert stats.memories_by_type == {"decision": 1, "fact": 1}
    assert stats.average_confidence == pytest.approx((0.25 + 1) / 2)
    assert (stats.oldest_memory, stats.newest_memory) == (first_at, clock.now)
    assert stats.low_confidence_count == 1
    overview = engine.analytics.overview()
    assert {field.name: getattr(overview, field.name) for field in fields(stats)} == asdict(stats)
    assert (overview.forgotten_memories, overview.total_tags) == (1, 2)
    assert engine.analytics.types() == {"decision": 1, "fact": 1}
    assert list(engine.analytics.tags().items()) == [("warm", 2), ("drink", 1)]
    assert engine.analytics.tags(limit=1) == {"warm": 2}


@pytest.mark.parametrize(
    ("contents", "hinted"),
    [
        ((), False),
        (("Ana vive en Madrid con su madre", "El servidor está en la oficina", "tea is hot"), True),
        (("Ana vive en Madrid con su madre", "tea is hot", "the office is in the north"), False),
    ],
)
def test_memories_in_a_language_the_model_does_not_know_bring_a_hint(
    make_engine: EngineMaker, contents: tuple[str, ...], hinted: bool
) -> None:
    english, other = (make_engine(model=HashEmbedder(name=name)) for name in ("all-MiniLM-L6-v2", "another"))
    for content in contents:
        remember(english, content)
    hint = english.analytics.overview().search_hint
    assert (hint is not None and "multilingual" in hint) is hinted
    assert other.analytics.overview().search_hint is None


def test_growth_is_counted_by_day_week_and_month(engine: Engine, clock: Clock) -> None:
    for at, content in (
        (datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC), "the last of the year"),
        (datetime(2026, 1, 1, 0, 0, tzinfo=UTC), "happy new year"),
        (
            datetime(2026, 1, 1, 1, 0, tzinfo=timezone(timedelta(hours=5))),
            "written east of here on the last evening",
        ),
        (datetime(2026, 1, 5, 8, 0, tzinfo=UTC), "monday again"),
    ):
        clock.set(at)
        remember(engine, content)
    days = engine.analytics.growth("day", limit=6)
    assert [(growth.start, growth.added, growth.total) for growth in days] == [
        (date(2025, 12, 31), 2, 2),
        (date(2026, 1, 1), 1, 3),
        (date(2026, 1, 2), 0, 3),
        (date(2026, 1, 3), 0, 3),
        (date(2026, 1, 4), 0, 3),
        (date(2026, 1, 5), 1, 4),
    ]
    weeks = engine.analytics.growth("week", limit=2)
    assert [(week.start, week.added) for week in weeks] == [(date(2025, 12, 29), 3), (date(2026, 1, 5), 1)]
    months = engine.analytics.growth("month", limit=2)
    assert [(month.start, month.added) for month in months] == [(date(2025, 12, 1), 2), (date(2026, 1, 1), 2)]
    assert [growth.total for growth in engine.analytics.growth("month", limit=1)] == [4]


@pytest.mark.parametrize(("period", "limit"), [("year", 3), ("day", 0), ("week", 1001)])
def test_growth_in_odd_periods_is_refused(engine: Engine, period: Any, limit: int) -> None:
    with pytest.raises(Invalid):
        engine.analytics.growth(period, limit)


def test_the_histogram_is_over_effective_confidence(engine: Engine, clock: Clock) -> None:
    remember(engine, "tea is hot")
    remember(engine, "snow is cold", confidence=0.5)
    remember(engine, "the user is called Ada", type="identity")
    remember(engine, "nothing is certain", confidence=0)
    counts = [part.count for part in engine.analytics.confidence()]
    assert counts == [1, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    clock.advance(days=30)
    counts = [part.count for part in engine.analytics.confidence(4)]
    assert counts == [1, 1, 1, 1]
    assert [(part.low, part.high) for part in engine.analytics.confidence(4)][1] == (0.25, 0.5)
