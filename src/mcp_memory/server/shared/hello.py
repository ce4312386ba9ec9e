"""The first message of a client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_memory.errors import Invalid
from mcp_memory.thin import wire


@dataclass(frozen=True, kw_only=True)
class Hello:
    """The client, and its purpose: `session`, or the name of a request."""

    want: str
    version: str
    settings: Mapping[str, str]
    """Settings of the connection, as text."""
    folder: str = ""
    """The client's working directory."""
    pid: int = 0
    session: str = ""
    """Identifies the session, also when it reconnects to another server."""
    request: Mapping[str, Any] = field(default_factory=dict)
    http: Mapping[str, str] | None = None
    """Settings of HTTP, if this client wants it served."""

    @classmethod
    def read(cls, line: bytes) -> Hello:
        """Raises `Invalid`."""
        said = wire.decoded(line)
        if said.get("protocol") != wire.PROTOCOL:
            raise Invalid(f"this server speaks version {wire.PROTOCOL} of the protocol between its parts")
        return cls(
            want=str(said.get("want")),
            version=str(said.get("version")),
            settings=dict(said.get("settings") or {}),
            folder=str(said.get("folder") or ""),
            pid=int(said.get("pid") or 0),
            session=str(said.get("session") or ""),
            request=dict(said.get("request") or {}),
            http=said.get("http"),
        )
