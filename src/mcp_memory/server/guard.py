"""One ASGI layer before every route: authentication, origin, rate and size limits."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar, TypeVarTuple

import anyio
import anyio.lowlevel
import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_memory.config import Config
from mcp_memory.engine.access import digest
from mcp_memory.engine.page_sessions import LoggedIn
from mcp_memory.errors import Invalid, MemoryServerError, ReadOnly
from mcp_memory.model import EVERY_SPACE, Caller, Token, client_name
from mcp_memory.server.browsers import LOOPBACK, PREFLIGHT_HEADERS, BrowserRules
from mcp_memory.server.cookies import CLIENT_HEADER, CSRF_HEADER, proves_origin, session_secret
from mcp_memory.server.principal import Principal
from mcp_memory.server.problems import answered
from mcp_memory.server.rates import Rates, SecretChecks
from mcp_memory.server.refusals import Refusal

Answer = TypeVar("Answer")
Arguments = TypeVarTuple("Arguments")

SESSION_PATH = "/api/session"
OPEN_PATHS = frozenset({"/", "/health", "/docs", "/favicon.svg"})
"""Public paths: health, and the page that asks for a login."""

OPEN_FOLDER = "/assets/"
"""The page's static files, which hold no memories."""

STREAMED_PATHS = frozenset({"/api/import", "/api/import/preview"})
"""Uploads are streamed to disk, so they may be longer than other bodies."""

MCP_PATH = "/mcp"
SPACE_HEADER = "x-memory-space"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
SHORTEST_TOKEN = 16
"""Minimum length of API_TOKEN; a shorter one could be guessed over a network."""

USUAL_RATE = 1200
BODY_TIMEOUT = 60.0
"""Timeout in seconds between two chunks of a request's body."""

SLOWEST_BODY = 1024
"""Bytes a second that a body must have on average: one that gets a byte a minute would never end."""

GUARD_THREADS = 4
"""Threads that only the guard uses: it must answer while every other thread is busy."""

SECURITY_HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    # The page needs nothing inline and nothing from other hosts.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-resource-policy": "same-origin",
}


class Gatekeeper(Protocol):
    """Looks up tokens."""

    def token_of(self, secret: str) -> Token | None: ...

    def needs_token(self) -> bool:
        """Whether local callers need one."""


class Logins(Protocol):
    """Looks up logins of the page."""

    def who(self, secret: str, api_token: str) -> LoggedIn | None: ...


@dataclass(frozen=True, kw_only=True)
class Policy:
    space: str
    """The space of callers that name none."""
    api_token: str = field(default="", repr=False)
    """The token of the settings, which is valid for everything."""
    token_needed: bool = False
    """Callers need a token even if none was ever created: the server is reachable from other machines."""
    browsers: BrowserRules = field(default_factory=BrowserRules)
    body_limit: int = 4 * 1024 * 1024
    import_limit: int = 256 * 1024 * 1024
    body_timeout: float = BODY_TIMEOUT
    rate_limit: int = 0
    """Requests a minute from one caller; 0: no limit."""
    local_rate_limit: int = 0
    """The same for callers on this machine that need no token."""


def policy(config: Config) -> Policy:
    """The policy of the settings. Raises `Invalid` for an unprotected public address."""
    beyond = config.api_host not in LOOPBACK
    _check_token(config.api_token, config.api_host, beyond)
    named = frozenset(_listed(config.api_allowed_hosts))
    return Policy(
        space=config.space,
        api_token=config.api_token,
        token_needed=beyond,
        browsers=BrowserRules(
            # Where a token is needed, no page can call without it, by whatever name.
            hosts=named if beyond else LOOPBACK | named,
            origins=frozenset(_listed(config.api_allowed_origins)),
        ),
        body_limit=config.api_body_limit,
        import_limit=config.api_import_limit,
        rate_limit=USUAL_RATE if config.api_rate_limit < 0 else config.api_rate_limit,
        local_rate_limit=max(0, config.api_rate_limit),
    )


def _check_token(token: str, host: str, beyond: bool) -> None:
    if beyond and not token:
        raise Invalid(
            f"the address {host} can be reached from other machines: set API_TOKEN to a long "
            "random word, which callers must then send, or listen on 127.0.0.1"
        )
    if token and len(token) < SHORTEST_TOKEN:
        raise Invalid(
            f"API_TOKEN has {len(token)} characters and could be guessed: use at least {SHORTEST_TOKEN} "
            'random ones, such as `python -c "import secrets; print(secrets.token_urlsafe())"` prints'
        )


def _listed(text: str) -> list[str]:
    return [item.strip().lower() for item in text.split(",") if item.strip()]


class Guard:
    """One ASGI layer, so that no route can be added without it."""

    def __init__(
        self,
        app: ASGIApp,
        policy: Policy,
        gatekeeper: Callable[[], Gatekeeper],
        clock: Callable[[], float],
        logins: Callable[[], Logins] | None = None,
    ) -> None:
        """`clock` returns monotonic seconds. Without `logins`, cookies are ignored."""
        self._app = app
        self._policy = policy
        self._gatekeeper = gatekeeper
        self._logins = logins
        self._rates = Rates(policy.rate_limit, clock)
        self._local_rates = Rates(policy.local_rate_limit, clock)
        self._secrets = SecretChecks(clock)
        self._threads: anyio.CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # web sockets are not supported: the server closes them
        headers = Headers(scope=scope)
        guarded = _with_headers(send, scope["path"], self._policy.browsers.cors(headers))
        try:
            self._policy.browsers.check(headers, page=scope["path"] in OPEN_PATHS)
            if self._policy.browsers.is_preflight(scope["method"], headers):
                await Response(status_code=204, headers=dict(PREFLIGHT_HEADERS))(scope, receive, guarded)
                return
            limit = self._body_limit(scope["path"])
            _check_length(headers, limit)
            principal = await self._in_thread(self._principal, scope, headers)
            self._spend(principal, scope)
        except (Refusal, MemoryServerError) as error:
            await answered(Request(scope), error)(scope, receive, guarded)
            return
        scope["principal"] = principal
        body = _counted(receive, limit, self._policy.body_timeout)
        if _is_login(scope):
            guarded = self._noting_wrong_logins(guarded, _address(scope))
        await self._run(scope, body, guarded, principal)

    async def _run(self, scope: Scope, receive: Receive, send: Send, principal: Principal) -> None:
        if not principal.secret:
            await self._app(scope, receive, send)
            return
        with anyio.CancelScope() as serving:
            await self._app(scope, receive, self._rechecked(send, principal, serving))
        if serving.cancelled_caught:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _noting_wrong_logins(self, send: Send, address: str) -> Send:
        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 403:
                with suppress(Refusal):  # the limit was reached meanwhile
                    self._secrets.wrong(address, "")
            await send(message)

        return noting

    def _rechecked(self, send: Send, principal: Principal, serving: anyio.CancelScope) -> Send:
        """Ends a streaming response once its token is no longer valid."""
        begun = False

        async def rechecked(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.body":
                # The first chunk of a stream may come long after the token was checked.
                streams = begun or message.get("more_body", False)
                if streams and not await self._in_thread(self._still_valid, principal.secret):
                    serving.cancel()
                    await anyio.lowlevel.checkpoint()
                begun = True
            await send(message)

        return rechecked

    def _still_valid(self, secret: str) -> bool:
        known = self._is_api_token(secret) or self._gatekeeper().token_of(secret) is not None
        return known or self._logged_in(secret) is not None

    async def _in_thread(self, call: Callable[[*Arguments], Answer], *args: *Arguments) -> Answer:
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(GUARD_THREADS)
        return await anyio.to_thread.run_sync(call, *args, limiter=self._threads)

    def _body_limit(self, path: str) -> int:
        return self._policy.import_limit if path in STREAMED_PATHS else self._policy.body_limit

    def _spend(self, principal: Principal, scope: Scope) -> None:
        # Keyed by token or address, never by anything that a caller can vary with each request.
        if principal.secret:
            self._rates.spend(f"token {digest(principal.secret)}")
        elif (address := _address(scope)) in LOOPBACK:
            self._local_rates.spend(address)
        else:
            self._rates.spend(address)

    def _principal(self, scope: Scope, headers: Headers) -> Principal:
        asked = _in_unicode(headers.get(SPACE_HEADER, ""))
        secret = _bearer(headers)
        if secret:
            return self._bearer_of(secret, asked, scope)
        cookie = session_secret(headers)
        holder = self._logged_in(cookie)
        if holder is not None:
            return self._page_user(holder, cookie, asked, scope, headers)
        if scope["path"] in OPEN_PATHS or scope["path"].startswith(OPEN_FOLDER):
            return Principal(Caller(self._policy.space), "read", via="nobody")
        if self._policy.token_needed or self._policy.api_token or self._gatekeeper().needs_token():
            if scope["path"] == SESSION_PATH:
                if _is_login(scope):
                    self._secrets.before(_address(scope), "")
                return Principal(Caller(self._policy.space), "read", via="nobody")
            raise Refusal(
                401,
                "Send the header `Authorization: Bearer TOKEN`; `mcp-memory token create NAME` makes one.",
                **{"www-authenticate": "Bearer"},
            )
        client = headers.get(CLIENT_HEADER) or headers.get("user-agent", "")
        return Principal(Caller(asked or self._policy.space, client_name(client)))

    def _logged_in(self, secret: str) -> LoggedIn | None:
        return self._logins().who(secret, self._policy.api_token) if secret and self._logins else None

    def _page_user(
        self, holder: LoggedIn, secret: str, asked: str, scope: Scope, headers: Headers
    ) -> Principal:
        """The holder of a login cookie. A change needs the page's CSRF token as well."""
        # To a browser, another port of this machine is the same site, so it sends the cookie there too.
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refusal(403, "Web pages of other origins may not use this login.")
        if scope["method"] not in SAFE_METHODS and not proves_origin(headers, secret):
            raise Refusal(403, f"Send the header `{CSRF_HEADER}` with the `csrf_token` of {SESSION_PATH}.")
        client = f"page ({holder.name})" if holder.name else "page"
        who = Principal(Caller(asked, client), holder.rights, holder.spaces, secret, "page")
        return self._admitted(who, scope)

    def _bearer_of(self, secret: str, asked: str, scope: Scope) -> Principal:
        address, known_as = _address(scope), digest(secret)
        self._secrets.before(address, known_as)
        if self._is_api_token(secret):
            self._secrets.right(known_as)
            return Principal(Caller(asked or self._policy.space, "api-token"), secret=secret, via="token")
        token = self._gatekeeper().token_of(secret)
        if token is None:
            self._secrets.wrong(address, known_as)
            raise Refusal(401, "This token is not known here.", **{"www-authenticate": "Bearer"})
        self._secrets.right(known_as)
        return self._admitted(
            Principal(Caller(asked, token.name), token.rights, token.spaces, secret, "token"), scope
        )

    def _admitted(self, who: Principal, scope: Scope) -> Principal:
        """The principal in the requested space, or its first, if its rights allow the request."""
        space = who.caller.space or (self._policy.space if EVERY_SPACE in who.spaces else who.spaces[0])
        if not who.may_enter(space):
            raise Refusal(403, f"This token is not for the space {space!r}.")
        # What an MCP request does is in its body, so the tools check the rights.
        unsafe = scope["method"] not in SAFE_METHODS and scope["path"] not in (MCP_PATH, SESSION_PATH)
        if who.rights == "read" and unsafe:
            raise Refusal(403, str(ReadOnly()))
        return replace(who, caller=Caller(space, who.caller.client))

    def _is_api_token(self, secret: str) -> bool:
        return bool(self._policy.api_token) and hmac.compare_digest(
            secret.encode(), self._policy.api_token.encode()
        )


def _bearer(headers: Headers) -> str:
    kind, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if kind.lower() == "bearer" else ""


def _in_unicode(value: str) -> str:
    """A header's value: clients send UTF-8, though the standard says Latin-1."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _is_login(scope: Scope) -> bool:
    return (scope["path"], scope["method"]) == (SESSION_PATH, "POST")


def _check_length(headers: Headers, limit: int) -> None:
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"A request may have {limit:,} bytes: send less at once.")


def _counted(receive: Receive, limit: int, patience: float) -> Receive:
    """Aborts a body that exceeds its limit, stalls or trickles."""
    seen, waited, complete = 0, 0.0, False
    clock = asyncio.get_running_loop().time

    async def counted() -> Message:
        nonlocal seen, waited, complete
        if complete:  # the next message can only be the disconnect
            return await receive()
        begun = clock()
        try:
            async with asyncio.timeout(patience - max(0.0, waited - seen / SLOWEST_BODY)):
                message = await receive()
        except TimeoutError:
            # Closed, because any further bytes would be the rest of this body.
            late = f"The body came too slowly: within {patience:g} s nothing, or too little."
            raise Refusal(408, late, connection="close") from None
        waited += clock() - begun
        seen += len(message.get("body", b""))
        complete = not message.get("more_body", False)
        if seen > limit:
            raise _too_large(limit)
        return message

    return counted


def _with_headers(send: Send, path: str, more: Mapping[str, str]) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if "vary" in more:
                headers.add_vary_header(more["vary"])  # the page's files vary by encoding too
            for name, value in {**SECURITY_HEADERS, **more}.items():
                headers.setdefault(name, value)
            if path.startswith("/api"):
                headers.setdefault("cache-control", "no-store")
        await send(message)

    return guarded
