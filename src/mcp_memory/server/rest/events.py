"""The stream of changes, as Server-Sent Events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from starlette.requests import Request

from mcp_memory.server.events import Feed, News
from mcp_memory.server.principal import principal_of
from mcp_memory.server.rest.dependencies import ANYWHERE, Names

router = APIRouter(prefix="/api/events", tags=["events"], responses=ANYWHERE)

GREETING = b"retry: 1000\n\n"
HEARTBEAT = b": still here\n\n"
LARGEST_SEQ = 2**62

Place = Annotated[int | None, Query(ge=0, le=LARGEST_SEQ)]


@router.get(
    "",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def follow_events(
    request: Request,
    types: Annotated[Names, Query(description="Only events of these types.")] = [],  # noqa: B006
    after: Annotated[Place, Query(description="As Last-Event-ID, for clients that cannot send it.")] = None,
    last_event_id: Annotated[
        int | None, Header(ge=0, le=LARGEST_SEQ, description="Resume after this event.")
    ] = None,
) -> StreamingResponse:
    """Stream changes in the space, by any client, until either side disconnects.

    Without an event to resume after, the stream begins now.
    """
    feed: Feed = request.app.state.feed
    space = principal_of(request).caller.space
    seen = after if last_event_id is None else last_event_id
    return StreamingResponse(
        _stream(feed.follow(space, await feed.latest(space), seen), frozenset(types)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _stream(batches: AsyncIterator[list[News]], types: Collection[str]) -> AsyncIterator[bytes]:
    yield GREETING
    async for news in batches:
        wanted = b"".join(one.text for one in news if not types or one.name in types)
        if wanted or not news:
            yield wanted or HEARTBEAT
