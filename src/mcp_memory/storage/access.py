"""Acts on who may come in, and on what repeated requests were answered."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mcp_memory.model import Rights, Token
from mcp_memory.storage.database import Row
from mcp_memory.storage.scope import Scope


@dataclass(frozen=True, slots=True)
class Answered:
    """What a request with an idempotency key was answered."""

    request: str
    """A digest of the request; another one under the same key is a mistake."""
    status: int
    body: Any
    at: datetime | None = None
    """When it was kept."""


class Access:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def add_token(self, name: str, digest: str, spaces: tuple[str, ...], rights: Rights) -> None:
        self._scope.change(
            "add_token", name=name, digest=digest, spaces=list(spaces), rights=rights, at=self._scope.at
        )

    def tokens(self) -> list[Token]:
        return [_token(row) for row in self._scope.run("tokens")]

    def token(self, digest: str) -> tuple[str, Token] | None:
        """With the digest that is stored."""
        row = self._scope.first("token_by_digest", digest=digest)
        return (row["digest"], _token(row)) if row else None

    def remove_token(self, name: str) -> bool:
        return self._scope.change("remove_token", name=name) > 0

    def answered(self, key: str) -> Answered | None:
        row = self._scope.first("answered_by_key", key=key)
        return Answered(row["request"], row["status"], row["body"], row["at"]) if row else None

    def put_answered(self, key: str, answered: Answered) -> None:
        """In place of what was kept for the key before."""
        self._scope.change(
            "put_answered", key=key, request=answered.request, status=answered.status, body=answered.body,
            at=self._scope.at,
        )  # fmt: skip

    def remove_answered(self, key: str) -> None:
        self._scope.change("remove_answered", key=key)

    def forget_answered(self, before: datetime) -> int:
        return self._scope.change("forget_answered", before=before)


def _token(row: Row) -> Token:
    return Token(row["name"], tuple(row["spaces"]), row["rights"], row["created_at"])
