"""Who may come in over HTTP: tokens, each for some spaces, to read or to write."""

import hashlib
import hmac
import re
import secrets

from mcp_memory.engine.context import Topic
from mcp_memory.errors import Conflict, Invalid, NotFound
from mcp_memory.model import EVERY_SPACE, Rights, Token

PREFIX = "mcpm_"
"""Before every secret, so that one that leaked is recognised as one."""

_NAME = re.compile(r"[\w.@-]{1,64}")


class Access(Topic):
    def create_token(
        self, name: str, *, spaces: tuple[str, ...] = (), rights: Rights = "write"
    ) -> tuple[Token, str]:
        """A new token and its secret, which is shown once and kept nowhere. No spaces: the caller's own."""
        if not _NAME.fullmatch(name):
            raise Invalid("a token's name has 1 to 64 letters, digits, dots, dashes or underscores")
        secret = PREFIX + secrets.token_urlsafe(32)
        with self._context.writing() as tx:
            if any(token.name == name for token in tx.access.tokens()):
                raise Conflict(
                    f"there is a token named {name} already: revoke it first, or choose another name"
                )
            tx.access.add_token(name, digest(secret), spaces or (self._context.caller.space,), rights)
            tx.journal.record("token_created", name, name=name, rights=rights)
            [token] = [token for token in tx.access.tokens() if token.name == name]
        return token, secret

    def tokens(self) -> list[Token]:
        with self._context.reading() as tx:
            return tx.access.tokens()

    def revoke_token(self, name: str) -> None:
        with self._context.writing() as tx:
            if not tx.access.remove_token(name):
                raise NotFound(f"there is no token named {name}")
            tx.journal.record("token_revoked", name, name=name)

    def token_of(self, secret: str) -> Token | None:
        """The token that the secret belongs to."""
        wanted = digest(secret)
        with self._context.reading() as tx:
            found = tx.access.token(wanted)
        if found is None or not hmac.compare_digest(found[0], wanted):
            return None
        return found[1]

    def any_tokens(self) -> bool:
        return bool(self.tokens())


def may_enter(token: Token, space: str) -> bool:
    return space in token.spaces or EVERY_SPACE in token.spaces


def digest(secret: str) -> str:
    """The secret is 256 random bits, so that a plain hash cannot be guessed back."""
    return hashlib.sha256(secret.encode()).hexdigest()
