"""Notifies clients of changes to subscribed resources, by any process and in both protocol eras.

The journal is the source of truth. Each watched space has a cursor up to which its watchers have been
notified; this server's tools advance it at once, and the feed when another process writes.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
import mcp_types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ServerEvent

from mcp_memory.server.events import AFTER_TROUBLE, Feed

log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]

MOST_WATCHED = 1_000
"""Resources that one connection may subscribe to."""

LONGEST_URI = 8_192

MOST_WATCHERS = 1_000
"""Connections of one space that subscribe; the oldest are dropped first, such as those that have ended."""

TELL_PATIENCE = 10.0
"""Seconds until a client that takes no notification loses its subscriptions: every writer waits for it."""


@dataclass(frozen=True, slots=True)
class ChangedResources:
    """URIs of resources that may have changed, and the journal position that covers."""

    place: int
    uris: tuple[str, ...] = ()


Look = Callable[[str, int | None], Awaitable[ChangedResources]]
"""Changes in a space since a position; None: only the current position."""


@dataclass
class _Watcher:
    """One connection of the handshake era."""

    session: ServerSession
    greeting: object
    uris: set[str] = field(default_factory=set)


class _Bus(InMemorySubscriptionBus):
    """Counts its listeners."""

    def __init__(self) -> None:
        super().__init__()
        self.listener_count = 0

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        unsubscribe = super().subscribe(listener)
        self.listener_count += 1
        gone = False

        def leave() -> None:
            nonlocal gone
            self.listener_count -= not gone
            gone = True
            unsubscribe()

        return leave


class _Audience:
    """The watchers of one space. Clients of the handshake era subscribe; newer ones listen."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.telling_count = 0
        self.turn = anyio.Lock()
        self.following = anyio.CancelScope()
        self.bus = _Bus()
        self.listen = ListenHandler(self.bus)
        self._subscribed: dict[int, _Watcher] = {}

    @property
    def is_empty(self) -> bool:
        return not self._subscribed and not self.bus.listener_count

    def add(self, session: ServerSession, uri: str) -> None:
        # The handshake's parameters are one object per connection, and so identify it.
        greeting = session.client_params
        watcher = self._subscribed.setdefault(id(greeting), _Watcher(session, greeting))
        if len(uri) > LONGEST_URI or len(watcher.uris | {uri}) > MOST_WATCHED:
            limits = f"{MOST_WATCHED:,} resources, with URIs of {LONGEST_URI:,} characters"
            raise MCPError(types.INVALID_PARAMS, f"A connection can subscribe to {limits}")
        watcher.uris.add(uri)
        while len(self._subscribed) > MOST_WATCHERS:
            del self._subscribed[next(iter(self._subscribed))]

    def remove(self, session: ServerSession, uri: str) -> None:
        key = id(session.client_params)
        if watcher := self._subscribed.get(key):
            watcher.uris.discard(uri)
            if not watcher.uris:
                del self._subscribed[key]

    async def tell(self, uri: str) -> None:
        await self.bus.publish(ResourceUpdated(uri=uri))
        for key, watcher in list(self._subscribed.items()):
            if uri not in watcher.uris:
                continue
            try:
                with anyio.fail_after(TELL_PATIENCE):
                    await watcher.session.send_resource_updated(uri)
            except TimeoutError:
                log.warning("a client that watched %s does not read: its subscriptions end", uri)
                self._subscribed.pop(key, None)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                log.info("a client that watched %s is gone", uri)
                self._subscribed.pop(key, None)


class Watchers:
    def __init__(self, feed: Feed, look: Look) -> None:
        self._feed = feed
        self._look = look
        self._audiences: dict[str, _Audience] = {}
        self._opening = anyio.Lock()
        self._tasks: anyio.abc.TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def subscribe(self, space: str, session: ServerSession, uri: str) -> None:
        (await self._audience(space)).add(session, uri)

    def unsubscribe(self, space: str, session: ServerSession, uri: str) -> None:
        if audience := self._audiences.get(space):
            audience.remove(session, uri)
            self._dismiss_if_empty(space, audience)

    async def listen(
        self, space: str, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        audience = await self._audience(space)
        try:
            return await audience.listen(context, params)
        finally:
            self._dismiss_if_empty(space, audience)

    def are_watching(self, space: str) -> bool:
        return space in self._audiences

    def telling_count(self, space: str) -> int:
        """Number of notifications to the watchers of a space."""
        audience = self._audiences.get(space)
        return audience.telling_count if audience else 0

    async def tell(self, space: str, otherwise: Iterable[str] = (), since: int = 0) -> None:
        """Notify of everything new in the space, each resource once. If nothing is new and the count is
        unchanged, notify of the others.
        """
        audience = self._audiences.get(space)
        if audience is None:
            return
        async with audience.turn:
            uris = await self._news(space, audience)
            # The feed may have been faster than the tool whose write it reported.
            if not uris and audience.telling_count == since:
                uris = tuple(otherwise)
            audience.telling_count += bool(uris)
            for uri in uris:
                await audience.tell(uri)
        self._dismiss_if_empty(space, audience)

    async def _news(self, space: str, audience: _Audience) -> tuple[str, ...]:
        try:
            news = await self._look(space, audience.place)
        except MCPError as error:
            # The write is committed, and the feed will report it.
            log.warning("cannot see what changed in %s: %s", space, error)
            return ()
        audience.place = news.place
        return news.uris

    async def _audience(self, space: str) -> _Audience:
        assert self._tasks is not None, "watchers are served while the server runs"
        async with self._opening:
            if space not in self._audiences:
                audience = _Audience((await self._look(space, None)).place)
                self._audiences[space] = audience
                self._tasks.start_soon(self._follow, space, audience)
            return self._audiences[space]

    async def _follow(self, space: str, audience: _Audience) -> None:
        with audience.following:
            while True:
                try:
                    async with aclosing(self._feed.follow(space, audience.place)) as following:
                        async for _ in following:
                            await self.tell(space)
                    return
                except Exception:
                    # Otherwise the error would end the whole server.
                    log.exception("watchers of %s cannot be told; trying again", space)
                    await anyio.sleep(AFTER_TROUBLE)

    def _dismiss_if_empty(self, space: str, audience: _Audience) -> None:
        if audience.is_empty and self._audiences.get(space) is audience:
            del self._audiences[space]
            audience.following.cancel()
