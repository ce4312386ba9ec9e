"""Statistics over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from mcp_memory.engine import analytics
from mcp_memory.engine.analytics import MOST_BINS, MOST_PERIODS, MOST_TAGS, Period
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.shapes.analytics import Overview
from mcp_memory.server.shapes.shape import Shape, drawn

router = APIRouter(prefix="/api/analytics", tags=["analytics"], responses=ANYWHERE)


@drawn(analytics.Growth)
class GrownBy(Shape):
    pass


class Growth(Shape):
    period: Period
    items: list[GrownBy]


class TypeCount(Shape):
    memory_type: str
    count: int


class Types(Shape):
    items: list[TypeCount]


class TagCount(Shape):
    tag: str
    count: int


class Tags(Shape):
    items: list[TagCount]


@drawn(analytics.Bin)
class Bin(Shape):
    pass


class Histogram(Shape):
    items: list[Bin]


@router.get("/overview")
def read_overview(engine: Acting) -> Overview:
    """Count memories, entities and relations."""
    return Overview.of(engine.analytics.overview())


@router.get("/growth")
def count_growth(
    engine: Acting,
    period: Period = "day",
    limit: Annotated[int, Query(ge=1, le=MOST_PERIODS, description="How many periods.")] = 30,
) -> Growth:
    """Count memories by day, week (from Monday) or month. Oldest first, without gaps."""
    return Growth.of(period=period, items=engine.analytics.growth(period, limit))


@router.get("/types")
def count_types(engine: Acting) -> Types:
    """Count memories of each type, the most frequent first."""
    found = engine.analytics.types()
    return Types(items=[TypeCount(memory_type=name, count=count) for name, count in found.items()])


@router.get("/tags")
def count_tags(engine: Acting, limit: Annotated[int, Query(ge=1, le=MOST_TAGS)] = 100) -> Tags:
    """Count memories with each tag, the most frequent first."""
    found = engine.analytics.tags(limit)
    return Tags(items=[TagCount(tag=name, count=count) for name, count in found.items()])


@router.get("/confidence")
def count_confidence(engine: Acting, bins: Annotated[int, Query(ge=1, le=MOST_BINS)] = 10) -> Histogram:
    """Count memories by effective confidence."""
    return Histogram.of(items=engine.analytics.confidence(bins))
