"""For operators: the server's health and its metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.to_thread
from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from pydantic import Field
from starlette.requests import Request

from mcp_memory import __version__
from mcp_memory.engine.inventory import Condition, Counts
from mcp_memory.engine.scheduled_maintenance import MaintenanceRun
from mcp_memory.server.metrics import family, gauge, sample
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.shapes.shape import Shape, drawn

if TYPE_CHECKING:
    from mcp_memory.server.events import Feed
    from mcp_memory.server.metrics import Requests
    from mcp_memory.server.workers import Background

router = APIRouter(tags=["operations"], responses=ANYWHERE)

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


@drawn(MaintenanceRun, without="space")
class Job(Shape):
    """The last run of a background job."""


class Work(Shape):
    leads: bool = Field(description="Whether this process is the leader, which does the background work.")
    jobs: list[Job]


@drawn(Condition, pending_count="pending_vectors")
class Health(Shape):
    status: Literal["ok", "degraded"] = Field(description="`degraded`: searches cannot use meaning.")
    version: str
    background: Work


HEALTH_THREADS = anyio.CapacityLimiter(2)
"""Threads that only the health check uses: it must answer while every other thread is busy."""


@router.get("/health")
async def read_health(request: Request, engine: Acting) -> Health:
    """Report whether the database is reachable, how searches run, and the background work."""
    condition = await anyio.to_thread.run_sync(engine.inventory.condition, limiter=HEALTH_THREADS)
    return Health.of(
        condition,
        status="ok" if condition.mode == "hybrid" else "degraded",
        version=__version__,
        background=_work(request.app.state.engine.background),
    )


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def read_metrics(request: Request, engine: Acting) -> PlainTextResponse:
    """Metrics in the text format of Prometheus."""
    requests: Requests = request.app.state.requests
    lines = [
        *_things(engine.caller.space, engine.inventory.counts(), engine.inventory.condition()),
        *_following(request.app.state.feed),
        *requests.lines(),
    ]
    return PlainTextResponse("\n".join([*lines, ""]), media_type=PROMETHEUS)


def _work(background: Background | None) -> Work:
    if background is None:
        return Work(leads=False, jobs=[])
    return Work.of(background, jobs=list(background.runs.values()))


def _things(space: str, counts: Counts, condition: Condition) -> Iterator[str]:
    things = {name: getattr(counts, name) for name in ("memories", "entities", "relations", "observations")}
    yield from gauge(
        "mcp_memory_things",
        "What is remembered in the space.",
        [({"space": space, "kind": kind}, count) for kind, count in things.items()],
    )
    yield from gauge("mcp_memory_pending_vectors", "Pending vectors.", [({}, condition.pending_count)])
    by_meaning = float(condition.mode == "hybrid")
    yield from gauge("mcp_memory_by_meaning", "1: searches can use meaning.", [({}, by_meaning)])


def _following(feed: Feed) -> Iterator[str]:
    yield from gauge("mcp_memory_event_followers", "Open event streams.", [({}, feed.follower_count)])
    yield from family("mcp_memory_events_sent_total", "counter", "Events sent, to all followers together.")
    yield sample("mcp_memory_events_sent_total", feed.told)
