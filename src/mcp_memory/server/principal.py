"""The principal of an HTTP request: on whose behalf it acts, and what it may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from starlette.requests import HTTPConnection

from mcp_memory.model import EVERY_SPACE, Caller, Rights


@dataclass(frozen=True, slots=True)
class Principal:
    caller: Caller
    rights: Rights = "write"
    spaces: tuple[str, ...] = (EVERY_SPACE,)
    secret: str = ""
    """Its credential, which is checked again during a long response."""
    via: Literal["open", "token", "page", "nobody"] = "open"
    """How it was authenticated. `open`: no token is required; `page`: by a login cookie; `nobody`: not yet.
    """

    def __repr__(self) -> str:
        return f"Principal({self.caller!r}, {self.rights!r}, {self.spaces!r})"

    def may_enter(self, space: str) -> bool:
        return space in self.spaces or EVERY_SPACE in self.spaces


def principal_of(connection: HTTPConnection) -> Principal:
    """The principal that the guard admitted."""
    principal = connection.scope["principal"]
    assert isinstance(principal, Principal)
    return principal
