"""Tells clients that a resource they watch has changed, in either era of the protocol."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ServerEvent

log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]


@dataclass
class _Watcher:
    """One connection of the handshake era."""

    session: ServerSession
    greeting: object
    uris: set[str] = field(default_factory=set)


class _Bus(InMemorySubscriptionBus):
    """Knows how many listen."""

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


class Watchers:
    """Clients of the handshake era subscribe; newer ones listen."""

    def __init__(self) -> None:
        self._subscribed: dict[int, _Watcher] = {}
        self._bus = _Bus()
        self.listen = ListenHandler(self._bus)

    @property
    def anyone(self) -> bool:
        return bool(self._subscribed) or self._bus.listener_count > 0

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        # What the client greeted us with is one object for the whole connection, and so names it.
        greeting = context.session.client_params
        watcher = self._subscribed.setdefault(id(greeting), _Watcher(context.session, greeting))
        watcher.uris.add(str(params.uri))
        return types.EmptyResult()

    async def unsubscribe(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        if watcher := self._subscribed.get(id(context.session.client_params)):
            watcher.uris.discard(str(params.uri))
        return types.EmptyResult()

    async def changed(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri=uri))
        for key, watcher in list(self._subscribed.items()):
            if uri in watcher.uris:
                await self._tell(key, watcher, uri)

    async def _tell(self, key: int, watcher: _Watcher, uri: str) -> None:
        try:
            await watcher.session.send_resource_updated(uri)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.info("a client that watched %s is gone", uri)
            self._subscribed.pop(key, None)
