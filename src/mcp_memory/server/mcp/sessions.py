"""Limits the open MCP sessions over HTTP, per owner and in total.

A session takes about 45 kB, and many clients never end theirs. So the one that idles longest is ended when
there are too many. Its client gets 404 at its next request, and opens a new one, as the protocol says.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_OF_ONE_OWNER = 500
MOST_SESSIONS = 1_000
SESSION_HEADER = "mcp-session-id"


@dataclass
class _Session:
    owner: AuthenticatedUser
    request_count: int = 0
    """Requests under way; an open stream is one."""


class BoundedSessions:
    """Ends sessions through the SDK's own DELETE, so that it knows no more of them than a client does."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        """The least recently used one first."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session_id = Headers(scope=scope).get(SESSION_HEADER)
        if session_id is not None:
            with self._used(session_id):
                await self._app(scope, receive, send)
            return
        await self._app(scope, receive, self._noting(send, scope["user"]))
        await self._end_surplus(scope)

    @contextmanager
    def _used(self, session_id: str) -> Iterator[None]:
        session = self._sessions.get(session_id)
        if session is None:  # an unknown one, or one that was just ended
            yield
            return
        session.request_count += 1
        try:
            yield
        finally:
            session.request_count -= 1
            if session_id in self._sessions:
                self._sessions.move_to_end(session_id)

    def _noting(self, send: Send, owner: AuthenticatedUser) -> Send:
        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                opened = Headers(raw=message["headers"]).get(SESSION_HEADER)
                if opened:
                    self._sessions[opened] = _Session(owner)
            await send(message)

        return noting

    async def _end_surplus(self, scope: Scope) -> None:
        # By token alone: one that may enter every space has no further sessions for each.
        token = scope["user"].identity
        own = [one for one, session in self._sessions.items() if session.owner.identity == token]
        await self._end(own, len(own) - MOST_OF_ONE_OWNER, scope)
        await self._end(list(self._sessions), len(self._sessions) - MOST_SESSIONS, scope)

    async def _end(self, candidates: list[str], surplus: int, scope: Scope) -> None:
        idle = (one for one in candidates if not self._sessions[one].request_count)
        for session_id, _ in zip(list(idle), range(surplus), strict=False):
            session = self._sessions.pop(session_id)
            headers = [(SESSION_HEADER.encode(), session_id.encode())]
            ending = {**scope, "method": "DELETE", "headers": headers, "user": session.owner}
            await self._app(ending, _nothing, _nowhere)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _nowhere(message: Message) -> None:
    pass
