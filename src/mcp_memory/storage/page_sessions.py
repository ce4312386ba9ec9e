"""Logins of the page, and one-time login codes."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

from mcp_memory.storage.scope import Scope

Kind = Literal["code", "session"]


@dataclass(frozen=True, slots=True)
class PageSession:
    digest: str
    """Digest of the secret, which itself is not stored."""
    credential: str
    """The digest of the token it was opened with; empty for the owner of the database."""
    expires_at: datetime


class PageSessions:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def add(self, kind: Kind, session: PageSession) -> None:
        self._scope.change("add_page_session", kind=kind, **asdict(session))

    def find(self, kind: Kind, digest: str) -> PageSession | None:
        """One that has not expired."""
        row = self._scope.first("page_session_by_digest", kind=kind, digest=digest, at=self._scope.at)
        return PageSession(row["digest"], row["credential"], row["expires_at"]) if row else None

    def remove(self, digest: str) -> bool:
        return self._scope.change("remove_page_session", digest=digest) > 0

    def sweep(self) -> None:
        """Remove expired sessions and codes."""
        self._scope.change("remove_expired_page_sessions", at=self._scope.at)
