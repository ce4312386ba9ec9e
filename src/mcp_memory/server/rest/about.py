"""Facts about the memory as a whole, for the page."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request

from mcp_memory.server.principal import principal_of
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.shapes.shape import Shape

router = APIRouter(prefix="/api/about", tags=["operations"], responses=ANYWHERE)


class ActiveClient(Shape):
    """A client that changed something recently, by its name in the journal."""

    name: str
    change_count: int
    last_at: datetime


class ConnectedNow(Shape):
    name: str = Field(description="The name it gave at its handshake; empty before that.")
    tools: str = Field(description="Its tool sets.")
    seconds: float = Field(description="For how long it has been connected.")


class About(Shape):
    database: str
    size_bytes: int = Field(description="Of the whole database, on disk.")
    half_life_days: float = Field(description="Days until the confidence of an unused memory halves.")
    prune_threshold: float = Field(description="A memory below this effective confidence has faded.")
    command: list[str] = Field(
        description="Starts the program for this memory on the server's machine: for clients' settings."
    )
    connected: list[ConnectedNow] = Field(
        description="Assistants that are connected to this space now, through the shared server."
    )
    clients: list[ActiveClient] = Field(description="In this space, most recent first.")


@router.get("")
def read_about(request: Request, engine: Acting) -> About:
    """Read the memory's size, its decay, how to connect to it, and its recent clients."""
    space = principal_of(request).caller.space
    connected = [one for one in request.app.state.connected() if one.space == space]
    return About.of(engine.overseeing.about(), command=request.app.state.command, connected=connected)
