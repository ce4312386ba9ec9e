"""Streams the journal to any number of clients, including other processes' writes.

One thread reads new events and hands them to the event loop. A follower is only a cursor into the journal: it
takes recent events from a small shared buffer, and older ones from the journal itself. So a slow client costs
nothing and delays nobody, and no event is lost or sent twice.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import TYPE_CHECKING

import anyio.to_thread

from mcp_memory.model import Caller, Event

if TYPE_CHECKING:
    from mcp_memory.engine import Engine
    from mcp_memory.engine.history import History

log = logging.getLogger(__name__)

HEARTBEAT = 15.0
"""Seconds of silence after which followers get a keep-alive."""

LOOK_EVERY = 0.25
"""Seconds between two reads of the journal without a signal."""

AFTER_TROUBLE = 1.0
"""Backoff in seconds after the journal could not be read."""

READ_AT_ONCE = 500
TOLD_AT_ONCE = 100
RECENT = 1000
RECENT_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class News:
    """One event, ready to be sent."""

    seq: int
    name: str
    text: bytes


@dataclass(slots=True)
class _Window:
    """Recent events of one space, buffered for its followers."""

    floor: int
    """Events after this number are in the buffer."""
    read: int
    """The last event read; only the reading thread advances it."""
    followers: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _recent: deque[News] = field(default_factory=deque)
    _size: int = 0

    def add(self, news: list[News]) -> None:
        for one in news:
            self._recent.append(one)
            self._size += len(one.text)
        while len(self._recent) > RECENT or self._size > RECENT_BYTES:
            oldest = self._recent.popleft()
            self._size -= len(oldest.text)
            self.floor = oldest.seq
        self.wake()

    def since(self, place: int) -> list[News]:
        newer = list(takewhile(lambda one: one.seq > place, reversed(self._recent)))
        return list(islice(reversed(newer), TOLD_AT_ONCE))

    def wake(self) -> None:
        waited_for, self.changed = self.changed, asyncio.Event()
        waited_for.set()


class Feed:
    """Runs with the app; `end` disconnects the followers."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine
        self._windows: dict[str, _Window] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self.told = 0
        """How many events have been sent, to all followers together."""

    @property
    def follower_count(self) -> int:
        return sum(window.followers for window in self._windows.values())

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        try:
            yield
        finally:
            self._end()
            if self._thread is not None:
                await anyio.to_thread.run_sync(self._thread.join)

    def end(self) -> None:
        """Stop the feed; may be called from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        self._stopping.set()
        for window in self._windows.values():
            window.wake()

    async def latest(self, space: str) -> int:
        """The number of the journal's last event."""
        return await anyio.to_thread.run_sync(lambda: self._history(space).last_seq())

    async def follow(
        self, space: str, latest: int, after: int | None = None
    ) -> AsyncGenerator[list[News], None]:
        """New events, or those since a given event; an empty list is a keep-alive."""
        window = self._join(space, latest)
        place = latest if after is None else min(after, latest)
        try:
            while not self._stopping.is_set():
                changed, floor = window.changed, window.floor
                news = window.since(place) if place >= floor else await self._older(space, place)
                if news:
                    place = news[-1].seq
                    self.told += len(news)
                    yield news
                elif place < floor:
                    place = floor  # the events between are no longer kept
                elif not await _within(HEARTBEAT, changed):
                    yield []
        finally:
            self._leave(space, window)

    def _join(self, space: str, latest: int) -> _Window:
        window = self._windows.setdefault(space, _Window(floor=latest, read=latest))
        window.followers += 1
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="events", daemon=True)
            self._thread.start()
        return window

    def _leave(self, space: str, window: _Window) -> None:
        window.followers -= 1
        if not window.followers and self._windows.get(space) is window:
            del self._windows[space]

    async def _older(self, space: str, place: int) -> list[News]:
        """From the journal itself."""
        found = await anyio.to_thread.run_sync(lambda: self._history(space).events_after(place, TOLD_AT_ONCE))
        return [_news(event) for event in found]

    def _watch(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._engine().history.change_signal() as signal:
                    while not self._stopping.is_set():
                        signal.wait(LOOK_EVERY)
                        self._look()
            except Exception:
                # After any failure, such as a restarting database, reading resumes: followers miss nothing.
                log.exception("the journal cannot be read; trying again in %.0f s", AFTER_TROUBLE)
                self._stopping.wait(AFTER_TROUBLE)

    def _look(self) -> None:
        assert self._loop is not None
        for space, window in list(self._windows.items()):
            while found := self._history(space).events_after(window.read, READ_AT_ONCE):
                window.read = found[-1].seq
                self._loop.call_soon_threadsafe(window.add, [_news(event) for event in found])
                if len(found) < READ_AT_ONCE:
                    break

    def _history(self, space: str) -> History:
        return self._engine().acting_for(Caller(space)).history


async def _within(seconds: float, changed: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await changed.wait()
    except TimeoutError:
        return False
    return True


def _news(event: Event) -> News:
    told = {**event.payload, "at": event.at.isoformat(), "client": event.client, "act": event.act}
    data = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    # JSON has no line breaks; a name that came with an import of an earlier release may have.
    name = "".join(event.name.split())
    return News(event.seq, event.name, f"id: {event.seq}\nevent: {name}\ndata: {data}\n\n".encode())
