"""Tokens, logins and idempotency keys."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mcp_memory.errors import Conflict
from mcp_memory.model import Rights, Token
from mcp_memory.storage.database import Row
from mcp_memory.storage.scope import Scope

UNDER_WAY = 0
"""Status of a request that is in progress."""

CARRIED_OUT = 1
"""Status of a completed request whose answer is not stored."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker's claim on an idempotency key."""

    key: str
    request: str
    id: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The stored outcome of a request with an idempotency key, for replay."""

    request: str
    """Digest of the request; a different one under the same key is an error."""
    status: int
    body: Any
    at: datetime | None = None
    """When it was stored."""


class Access:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def add_token(
        self, name: str, digest: str, spaces: tuple[str, ...], rights: Rights, expires_at: datetime | None
    ) -> None:
        self._scope.change(
            "add_token", name=name, digest=digest, spaces=list(spaces), rights=rights, at=self._scope.at,
            expires_at=expires_at,
        )  # fmt: skip

    def tokens(self) -> list[Token]:
        return [_token(row) for row in self._scope.run("tokens")]

    def token(self, digest: str) -> tuple[str, Token] | None:
        """Together with the stored digest."""
        row = self._scope.first("token_by_digest", digest=digest)
        return (row["digest"], _token(row)) if row else None

    def remove_token(self, name: str) -> bool:
        return self._scope.change("remove_token", name=name) > 0

    def answered(self, key: str) -> Answered | None:
        row = self._scope.first("answered_by_key", key=key)
        return Answered(row["request"], row["status"], row["body"], row["at"]) if row else None

    def put_claim(self, claim: Claim) -> None:
        """Replaces an abandoned claim."""
        self.put_answered(claim.key, Answered(claim.request, UNDER_WAY, {"claim": claim.id}))

    def carry_out(self, claim: Claim, act: str) -> None:
        """Record, in its own transaction, that an act carried out the request. `Conflict` if another did."""
        found = self.held(claim)
        if found is None or found.status != UNDER_WAY:
            raise Conflict("a request with this idempotency key was done meanwhile: ask again for its answer")
        done = {"claim": claim.id, "act": act}
        self.put_answered(claim.key, Answered(claim.request, CARRIED_OUT, done))

    def held(self, claim: Claim) -> Answered | None:
        """The record of the key, if this claim still holds it and it is not answered."""
        found = self.answered(claim.key)
        if found is None or found.status not in (UNDER_WAY, CARRIED_OUT) or found.body["claim"] != claim.id:
            return None
        return found

    def put_answered(self, key: str, answered: Answered) -> None:
        """Replace the record of the key."""
        self._scope.change(
            "put_answered", key=key, request=answered.request, status=answered.status, body=answered.body,
            at=self._scope.at,
        )  # fmt: skip

    def add_done(self, key: str, call: str, acts: list[str]) -> None:
        """Record the acts that carried out a request. `Conflict` if the key has a record already."""
        self._scope.change("add_answered", **self._done(key, call, acts))

    def put_done(self, key: str, call: str, acts: list[str]) -> None:
        self._scope.change("put_answered", **self._done(key, call, acts))

    def _done(self, key: str, call: str, acts: list[str]) -> dict[str, Any]:
        body = {"claim": call, "acts": acts}
        return {"key": key, "request": "", "status": CARRIED_OUT, "body": body, "at": self._scope.at}

    def remove_answered(self, key: str) -> None:
        self._scope.change("remove_answered", key=key)

    def forget_answered(self, before: datetime) -> int:
        return self._scope.change("forget_answered", before=before)


def _token(row: Row) -> Token:
    return Token(row["name"], tuple(row["spaces"]), row["rights"], row["created_at"], row["expires_at"])
