"""Facts about the memory as a whole, for the page."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request

from mcp_memory.engine import about
from mcp_memory.server.connected import ConnectedAssistant
from mcp_memory.server.principal import principal_of
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.shapes.shape import Shape, drawn

router = APIRouter(prefix="/api/about", tags=["operations"], responses=ANYWHERE)


@drawn(about.ActiveClient)
class ActiveClient(Shape):
    """A client that changed something recently, by its name in the journal."""


@drawn(ConnectedAssistant, without="space")
class ConnectedNow(Shape):
    pass


@drawn(about.About, without="clients")
class About(Shape):
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
