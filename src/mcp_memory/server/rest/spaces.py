"""The spaces that a caller may work in."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request

from mcp_memory.server.principal import principal_of
from mcp_memory.server.rest.dependencies import ANYWHERE, Acting
from mcp_memory.server.shapes.shape import Shape

router = APIRouter(prefix="/api/spaces", tags=["spaces"], responses=ANYWHERE)


class Space(Shape):
    name: str
    current: bool = Field(description="The one that this request works in.")


class Spaces(Shape):
    items: list[Space]


@router.get("")
def list_spaces(request: Request, engine: Acting) -> Spaces:
    """List the spaces that the caller may enter.

    The header `X-Memory-Space` chooses one; a new one begins with its first change.
    """
    principal = principal_of(request)
    names = [name for name in engine.inventory.spaces() if principal.may_enter(name)]
    return Spaces(items=[Space(name=name, current=name == principal.caller.space) for name in names])
