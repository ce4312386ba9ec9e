"""Sessions of assistants: read positions and injected memories. Not journaled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mcp_memory.storage.scope import Scope


@dataclass(frozen=True, kw_only=True, slots=True)
class AssistantSession:
    """One conversation of a client."""

    id: str
    client: str
    project: str
    state: Mapping[str, Any] = field(default_factory=dict)
    started_at: datetime | None = None
    seen_at: datetime | None = None


class Sessions:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def find(self, id: str) -> AssistantSession | None:
        row = self._scope.first("session_by_id", id=id)
        return AssistantSession(**{name: row[name] for name in AssistantSession.__slots__}) if row else None

    def put(self, session: AssistantSession) -> None:
        """Store the session, creating it on its first call."""
        self._scope.change(
            "put_session",
            id=session.id,
            client=session.client,
            project=session.project,
            state=dict(session.state),
            at=self._scope.at,
        )

    def last_seen(self) -> dict[str, datetime]:
        """The last call of each client."""
        return {row["client"]: row["seen_at"] for row in self._scope.run("last_seen_clients")}

    def drop(self, before: datetime) -> None:
        """Delete sessions without a call since then."""
        self._scope.change("drop_sessions", before=before)
