"""Stands before every route: who may come in, from where, how often, and with how much."""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_memory.config import Config
from mcp_memory.errors import Invalid, MemoryServerError
from mcp_memory.model import EVERY_SPACE, Caller, Token, client_name
from mcp_memory.server.principal import Principal
from mcp_memory.server.problems import answered

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
OPEN_PATHS = frozenset({"/", "/health"})
"""What anyone may see: that there is a server, and whether it is well."""

STREAMED_PATHS = frozenset({"/api/import"})
"""Bodies that are worked on while they arrive, however long they are."""

MCP_PATH = "/mcp"
SPACE_HEADER = "x-memory-space"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
MOST_CALLERS = 10_000
"""Callers whose rate is remembered; the longest silent one is forgotten first."""

SECURITY_HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
}


class Gatekeeper(Protocol):
    """Knows tokens."""

    def token_of(self, secret: str) -> Token | None: ...

    def any_tokens(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Policy:
    space: str
    """Where a caller works who names no space."""
    api_token: str = ""
    """One token for everything, from the settings."""
    token_needed: bool = False
    """Also where no token was ever made: the server is reached from other machines."""
    hosts: frozenset[str] = LOOPBACK
    """Names it may be called by; empty: any."""
    origins: frozenset[str] = frozenset()
    """Pages of other origins that may call it."""
    body_limit: int = 4 * 1024 * 1024
    rate_limit: int = 0
    """Requests a minute from one caller; 0: no limit."""


def policy(config: Config) -> Policy:
    """Who may come in. Raises `Invalid` for an address beyond this machine that nothing protects."""
    beyond = config.api_host not in LOOPBACK
    if beyond and not config.api_token:
        raise Invalid(
            f"the address {config.api_host} can be reached from other machines: set API_TOKEN to a long "
            "random word, which callers must then send, or listen on 127.0.0.1"
        )
    named = frozenset(_listed(config.api_allowed_hosts))
    return Policy(
        space=config.space,
        api_token=config.api_token,
        token_needed=beyond,
        # Where a token is needed, no page can call without it, by whatever name.
        hosts=named if beyond else LOOPBACK | named,
        origins=frozenset(_listed(config.api_allowed_origins)),
        body_limit=config.api_body_limit,
        rate_limit=config.api_rate_limit,
    )


def _listed(text: str) -> list[str]:
    return [item.strip().lower() for item in text.split(",") if item.strip()]


class Refusal(HTTPException):
    """A request that does not come in."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(status, detail, headers)


class Guard:
    """One ASGI layer, so that no route can be added without it."""

    def __init__(
        self, app: ASGIApp, policy: Policy, gatekeeper: Callable[[], Gatekeeper], clock: Callable[[], float]
    ) -> None:
        """`clock` counts seconds, from anywhere."""
        self._app = app
        self._policy = policy
        self._gatekeeper = gatekeeper
        self._rates = Rates(policy.rate_limit, clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets here: the server closes what nobody accepts
        guarded = _with_headers(send, scope["path"])
        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            self._check_origin(headers)
            self._check_length(headers, scope["path"])
            scope["visitor"] = await anyio.to_thread.run_sync(self._visitor, scope, headers)
            self._rates.spend(scope["visitor"].caller.client or _address(scope))
        except (Refusal, MemoryServerError) as error:
            await answered(Request(scope), error)(scope, receive, guarded)
            return
        if scope["path"] not in STREAMED_PATHS:
            receive = _counted(receive, self._policy.body_limit)
        await self._app(scope, receive, guarded)

    def _check_host(self, headers: Headers) -> None:
        # A page in a browser can make its own name lead to this machine; then the name gives it away.
        if self._policy.hosts and _name(headers.get("host", "")) not in self._policy.hosts:
            raise Refusal(
                421,
                "This server does not go by that name. Set API_ALLOWED_HOSTS to add it.",
            )

    def _check_origin(self, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is None or origin in self._policy.origins:
            return
        place = _place(origin)
        if not place or place != headers.get("host"):
            raise Refusal(403, "Web pages of other origins may not call this server.")

    def _check_length(self, headers: Headers, path: str) -> None:
        length = headers.get("content-length", "0")
        if path in STREAMED_PATHS:
            return
        if not length.isdecimal() or int(length) > self._policy.body_limit:
            raise _too_large(self._policy.body_limit)

    def _visitor(self, scope: Scope, headers: Headers) -> Principal:
        asked = _in_unicode(headers.get(SPACE_HEADER, ""))
        secret = _bearer(headers)
        if secret and self._policy.api_token and _equal(secret, self._policy.api_token):
            return Principal(Caller(asked or self._policy.space, "api-token"))
        if secret:
            return self._bearer_of(secret, asked, scope["path"], scope["method"])
        if scope["path"] in OPEN_PATHS:
            return Principal(Caller(self._policy.space), "read")
        if self._policy.token_needed or self._policy.api_token or self._gatekeeper().any_tokens():
            raise Refusal(
                401,
                "Send the header `Authorization: Bearer TOKEN`; `mcp-memory token create NAME` makes one.",
                **{"www-authenticate": "Bearer"},
            )
        return Principal(Caller(asked or self._policy.space, client_name(headers.get("user-agent", ""))))

    def _bearer_of(self, secret: str, asked: str, path: str, method: str) -> Principal:
        token = self._gatekeeper().token_of(secret)
        if token is None:
            raise Refusal(401, "This token is not known here.", **{"www-authenticate": "Bearer"})
        space = asked or (self._policy.space if EVERY_SPACE in token.spaces else token.spaces[0])
        if space not in token.spaces and EVERY_SPACE not in token.spaces:
            raise Refusal(403, f"This token is not for the space {space!r}.")
        # What an MCP request does is in its body; the tools themselves see to the rights there.
        if token.rights == "read" and method not in SAFE_METHODS and path != MCP_PATH:
            raise Refusal(403, "This token may only read: ask for one that may write.")
        return Principal(Caller(space, token.name), token.rights, token.spaces)


@dataclass
class Rates:
    """A bucket for each caller that fills evenly and holds ten seconds' worth, but at least ten."""

    a_minute: int
    clock: Callable[[], float]
    _levels: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def spend(self, caller: str) -> None:
        if not self.a_minute:
            return
        now, a_second = self.clock(), self.a_minute / 60
        most = max(10.0, a_second * 10)
        level, since = self._levels.get(caller, (most, now))
        level = min(most, level + (now - since) * a_second)
        if level < 1:
            wait = max(1, round((1 - level) / a_second))
            raise Refusal(429, f"Try again in {wait} s.", **{"retry-after": str(wait)})
        self._levels[caller] = (level - 1, now)
        self._levels.move_to_end(caller)
        if len(self._levels) > MOST_CALLERS:
            self._levels.popitem(last=False)


def _bearer(headers: Headers) -> str:
    kind, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if kind.lower() == "bearer" else ""


def _in_unicode(value: str) -> str:
    """What a header says: clients send UTF-8, though the rules of old say Latin-1."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def _name(host: str) -> str:
    """The name in a Host header, without its port; empty if it makes no sense."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _place(origin: str) -> str:
    """The name and port in an Origin header; empty if it makes no sense."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _equal(secret: str, other: str) -> bool:
    return hmac.compare_digest(secret.encode(), other.encode())


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"A request may have {limit:,} bytes: send less at once.")


def _counted(receive: Receive, limit: int) -> Receive:
    """Stops a body that is longer than it said, or did not say how long it is."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise _too_large(limit)
        return message

    return counted


def _with_headers(send: Send, path: str) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            if path.startswith("/api"):
                headers.setdefault("cache-control", "no-store")
        await send(message)

    return guarded
