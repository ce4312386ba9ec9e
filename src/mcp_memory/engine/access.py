"""Tokens for HTTP, and idempotent replay of repeated requests."""

import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta
from typing import Any

from mcp_memory.engine.context import Topic, checked_text
from mcp_memory.errors import Conflict, Invalid, NotFound
from mcp_memory.events import TokenCreated, TokenRevoked, TokensNotNeeded
from mcp_memory.model import EVERY_SPACE, Rights, Token, checked_space
from mcp_memory.storage.access import CARRIED_OUT, UNDER_WAY, Answered, Claim

__all__ = ["CARRIED_OUT", "Access", "Answered", "Claim", "digest"]

PREFIX = "mcpm_"
"""Prefix of every secret, so that scanners recognise a leaked one."""

TOKEN_NEEDED = "*token_needed"
"""Database-wide setting: callers must present a token."""

KEY_LENGTH = 200
ABANDONED = timedelta(minutes=1)
"""Lease of a claim. Once it expires without an answer, the worker is presumed dead and a retry may run."""

_NAME = re.compile(r"[\w.@-]{1,64}")


class Access(Topic):
    def create_token(
        self,
        name: str,
        *,
        spaces: tuple[str, ...] = (),
        rights: Rights = "write",
        lifetime: timedelta | None = None,
    ) -> tuple[Token, str]:
        """Create a token. Its secret is shown once and not stored. No spaces: the caller's own.

        Once a token exists, HTTP callers need one, even if all are revoked later.
        """
        if not _NAME.fullmatch(name):
            raise Invalid("a token's name has 1 to 64 letters, digits, dots, dashes or underscores")
        for space in spaces:
            if space != EVERY_SPACE:
                checked_space(space)
        secret = PREFIX + secrets.token_urlsafe(32)
        with self._context.writing() as tx:
            if any(token.name == name for token in tx.access.tokens()):
                raise Conflict(
                    f"there is a token named {name} already: revoke it first, or choose another name"
                )
            expires_at = None if lifetime is None else tx.at + lifetime
            tx.access.add_token(
                name, digest(secret), spaces or (self._context.caller.space,), rights, expires_at
            )
            tx.settings.put(TOKEN_NEEDED, True)
            tx.journal.record(TokenCreated(name, rights))
            [token] = [token for token in tx.access.tokens() if token.name == name]
        return token, secret

    def tokens(self) -> list[Token]:
        with self._context.reading() as tx:
            return tx.access.tokens()

    def revoke_token(self, name: str) -> None:
        with self._context.writing() as tx:
            if not tx.access.remove_token(name):
                raise NotFound(f"there is no token named {name}")
            tx.settings.put(TOKEN_NEEDED, True)
            tx.journal.record(TokenRevoked(name))

    def token_of(self, secret: str) -> Token | None:
        """The token that the secret belongs to."""
        wanted = digest(secret)
        with self._context.reading(urgent=True) as tx:
            found = tx.access.token(wanted)
        if found is None or not hmac.compare_digest(found[0], wanted):
            return None
        return found[1] if found[1].valid_at(self._context.clock()) else None

    def needs_token(self) -> bool:
        """Whether local callers need a token, because one has been created at some time."""
        with self._context.reading(urgent=True) as tx:
            return bool(tx.settings.get(TOKEN_NEEDED, False)) or bool(tx.access.tokens())

    def stop_asking_for_tokens(self) -> None:
        """Let local callers in without a token again. Refused while tokens exist."""
        with self._context.writing() as tx:
            if tx.access.tokens():
                raise Conflict("there are tokens: revoke them all first (`mcp-memory token list`)")
            tx.settings.put(TOKEN_NEEDED, False)
            tx.journal.record(TokensNotNeeded())

    def claim(self, key: str, request: str) -> Claim | Answered:
        """A claim on an idempotency key, or the recorded answer of the first request with it.

        The holder of a claim acts through `Engine.once`, then must `answer` or `release` it. The change and
        the record that this claim made it are one transaction, so it happens once. `request` is a digest of
        the request.
        """
        checked_text(key, "the idempotency key", most=KEY_LENGTH)
        with self._context.noting() as tx:
            found = tx.access.answered(key)
            if found is not None and found.request != request:
                raise Invalid("this idempotency key was used for another request: take a new one")
            if found is None or _abandoned(found, tx.at):
                claim = Claim(key, request, self._context.new_id())
                tx.access.put_claim(claim)
                return claim
        if found.status == UNDER_WAY:
            raise Conflict("a request with this idempotency key is being worked on: ask again in a moment")
        return found

    def answer(self, claim: Claim, status: int, body: Any) -> None:
        """Store a response for idempotent replay."""
        with self._context.noting() as tx:
            if tx.access.held(claim):
                tx.access.put_answered(claim.key, Answered(claim.request, status, body))

    def release(self, claim: Claim) -> None:
        """Release a failed request's claim. It may be retried, unless its change was already committed."""
        with self._context.noting() as tx:
            found = tx.access.held(claim)
            if found is not None and found.status == UNDER_WAY:
                tx.access.remove_answered(claim.key)


def _abandoned(found: Answered, now: datetime) -> bool:
    return found.status == UNDER_WAY and found.at is not None and found.at < now - ABANDONED


def digest(secret: str) -> str:
    """Secrets are 256 random bits, so a plain hash cannot be reversed by guessing."""
    return hashlib.sha256(secret.encode()).hexdigest()
