"""Who has come in over HTTP, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from mcp_memory.errors import Forbidden
from mcp_memory.model import EVERY_SPACE, Caller, Rights


@dataclass(frozen=True, slots=True)
class Principal:
    caller: Caller
    rights: Rights = "write"
    spaces: tuple[str, ...] = (EVERY_SPACE,)

    def must_write(self) -> None:
        if self.rights != "write":
            raise Forbidden("this token may only read: ask for one that may write")

    def may_enter(self, space: str) -> bool:
        return space in self.spaces or EVERY_SPACE in self.spaces


def visitor_of(connection: HTTPConnection) -> Principal:
    """Whom the guard let in."""
    visitor = connection.scope["visitor"]
    assert isinstance(visitor, Principal)
    return visitor
