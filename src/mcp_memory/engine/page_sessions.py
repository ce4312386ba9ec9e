"""Logins of the page: with a token, or with a one-time code from a local command."""

import secrets
from dataclasses import dataclass
from datetime import timedelta

from mcp_memory.engine.access import digest
from mcp_memory.engine.context import Topic
from mcp_memory.errors import Forbidden
from mcp_memory.model import EVERY_SPACE, Rights
from mcp_memory.storage import Transaction
from mcp_memory.storage.page_sessions import Kind, PageSession

CODE_LIFETIME = timedelta(minutes=2)
SESSION_LIFETIME = timedelta(hours=12)
OWNER = ""
"""Stands for the token of a user who has direct access to the database."""


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """The logged-in user of the page, and their rights."""

    name: str
    """The name of the token; empty for the owner of the database."""
    spaces: tuple[str, ...] = (EVERY_SPACE,)
    rights: Rights = "write"


class PageSessions(Topic):
    def invite(self) -> str:
        """A short-lived one-time login code, for callers with direct access to the database."""
        return self._begin("code", OWNER, CODE_LIFETIME)

    def redeem(self, code: str) -> str:
        """Exchange a code, which is then used up, for the secret of a new session."""
        refused = "this login code was used or has expired: run `mcp-memory open` again"
        with self._context.reading() as tx:  # guessing must not block writers
            if tx.page_sessions.find("code", digest(code)) is None:
                raise Forbidden(refused)
        with self._context.writing() as tx:
            found = tx.page_sessions.find("code", digest(code))
            if found is None or not tx.page_sessions.remove(found.digest):
                raise Forbidden(refused)
            return self._add(tx, "session", found.credential, SESSION_LIFETIME)

    def log_in(self, token: str, api_token: str) -> str:
        """Exchange a token for the secret of a new session; `api_token` is that of the settings."""
        with self._context.reading() as tx:
            if _holder(tx, digest(token), api_token) is None:
                raise Forbidden("this token is not known here: `mcp-memory token create NAME` makes one")
        return self._begin("session", digest(token), SESSION_LIFETIME)

    def who(self, secret: str, api_token: str) -> LoggedIn | None:
        """The user of the session; None once it has expired or its token is revoked."""
        with self._context.reading(urgent=True) as tx:
            found = tx.page_sessions.find("session", digest(secret))
            return _holder(tx, found.credential, api_token) if found else None

    def log_out(self, secret: str) -> None:
        with self._context.reading() as tx:
            if tx.page_sessions.find("session", digest(secret)) is None:
                return
        with self._context.writing() as tx:
            tx.page_sessions.remove(digest(secret))

    def _begin(self, kind: Kind, credential: str, lifetime: timedelta) -> str:
        with self._context.writing() as tx:
            return self._add(tx, kind, credential, lifetime)

    def _add(self, tx: Transaction, kind: Kind, credential: str, lifetime: timedelta) -> str:
        secret = secrets.token_urlsafe(32)
        tx.page_sessions.sweep()
        tx.page_sessions.add(kind, PageSession(digest(secret), credential, tx.at + lifetime))
        return secret


def _holder(tx: Transaction, credential: str, api_token: str) -> LoggedIn | None:
    if credential == OWNER:
        return LoggedIn("")
    if api_token and secrets.compare_digest(credential, digest(api_token)):
        return LoggedIn("api-token")
    found = tx.access.token(credential)
    if found is None or not found[1].valid_at(tx.at):
        return None
    return LoggedIn(found[1].name, found[1].spaces, found[1].rights)
