"""Subscribers of a resource are notified of every change, by any process."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from queue import Queue
from typing import Any, cast

import anyio
import anyio.to_thread
import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ResourceUpdatedNotification
from typing_extensions import TypedDict

from mcp_memory.config import Config
from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import Caller
from mcp_memory.server.events import Feed
from mcp_memory.server.mcp import watchers
from mcp_memory.server.mcp.server import build
from mcp_memory.server.mcp.tools import ADDS, Resource, ToolSet, tool
from mcp_memory.server.mcp.watchers import ChangedResources, Watchers
from tests.surfaces.rest.conftest import engine_on
from tests.surfaces.rest.serving import Running, running
from tests.surfaces.speaking import PATIENCE, Conversation, conversation

GRAPH = "memory://knowledge-graph"
ADA, BEA, END = (f"memory://entity/{name}" for name in ("Ada", "Bea", "End"))
ENTITIES = [{"name": name, "entityType": "person"} for name in ("Ada", "Bea", "End")]

# Handshake-era subscriptions are tested beside the newer ones.
pytestmark = pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning")


class Ear:
    """Records the resources that a handshake-era client is notified of."""

    def __init__(self) -> None:
        self._told: Queue[str] = Queue()

    async def __call__(self, message: object) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self._told.put(str(message.params.uri))

    @property
    def count(self) -> int:
        """How many notes nobody has looked at yet."""
        return self._told.qsize()

    def until(self, last: str) -> list[str]:
        """All that was told, up to and with this one."""
        told = [self._told.get(timeout=PATIENCE)]
        while told[-1] != last:
            told.append(self._told.get(timeout=PATIENCE))
        return told


class Written(TypedDict):
    told: bool


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'memory.db'}"
    given: str = request.getfixturevalue("postgres_url")
    return given


@contextmanager
def assistant(folder: Path, url: str, ear: Ear | None = None) -> Iterator[Conversation]:
    """One with a server process of its own; of the handshake era, if it has an ear for it."""
    options: Any = {"DATABASE_URL": url, "EMBEDDING_PROVIDER": "none"}
    mode = "legacy" if ear else "auto"
    with conversation(folder, "--tools", "graph", mode=mode, hears=ear, **options) as opened:
        yield opened


def subscribe(watcher: Conversation, *uris: str) -> None:
    for uri in uris:
        watcher.portal.call(watcher.client.session.subscribe_resource, uri)


def add(writer: Conversation, name: str, text: str) -> None:
    writer.call("add_observations", name=name, observations=[text])


def test_who_subscribed_hears_what_another_process_writes_and_nothing_twice(tmp_path: Path, url: str) -> None:
    ear = Ear()
    with assistant(tmp_path, url, ear) as here, assistant(tmp_path, url) as there:
        there.call("create_entities", entities=ENTITIES)
        subscribe(here, ADA, END)
        add(there, "Ada", "written elsewhere")
        add(there, "Bea", "of no interest")
        add(there, "End", "the first time")
        assert ear.until(END) == [ADA, END]
        add(here, "Ada", "written here")
        add(here, "End", "the second time")
        assert ear.until(END) == [ADA, END]
        add(there, "End", "the third time")
        assert ear.until(END) == [END]


def test_who_listens_hears_what_another_process_writes(tmp_path: Path, url: str) -> None:
    with assistant(tmp_path, url) as here, assistant(tmp_path, url) as there:
        there.call("create_entities", entities=ENTITIES)
        listening = here.client.listen(resource_subscriptions=[ADA, GRAPH])
        with here.portal.wrap_async_context_manager(listening) as events:
            for text in ("once", "again"):
                add(there, "Ada", text)
                assert {here.portal.call(anext, events).uri for _ in range(2)} == {ADA, GRAPH}


def test_who_unsubscribed_hears_no_more(tmp_path: Path, url: str) -> None:
    ear = Ear()
    with assistant(tmp_path, url, ear) as here, assistant(tmp_path, url) as there:
        there.call("create_entities", entities=ENTITIES)
        subscribe(here, ADA)
        here.portal.call(here.client.session.unsubscribe_resource, ADA)
        add(there, "Ada", "while nobody listens")
        subscribe(here, END)
        add(there, "Ada", "still not")
        add(there, "End", "now")
        assert ear.until(END) == [END]


def test_an_entity_is_told_of_when_a_memory_about_it_is_edited_and_the_edit_undone(tmp_path: Path) -> None:
    ear, url = Ear(), f"sqlite:///{tmp_path / 'memory.db'}"
    with assistant(tmp_path, url, ear) as here:
        here.call("create_entities", entities=ENTITIES)
        subscribe(here, ADA, END)
        elsewhere = engine_on(tmp_path / "memory.db")
        draft = NewMemory(content="Ada likes tea", entity_names=("Ada",))
        memory = elsewhere.memories.remember(draft).memory
        assert ear.until(ADA) == [ADA]
        elsewhere.memories.update(memory.id, {"content": "Ada likes coffee"})
        assert ear.until(ADA) == [ADA]
        elsewhere.history.undo_last()
        assert ear.until(ADA) == [ADA]
        elsewhere.close()


def test_a_write_that_was_told_of_before_its_tool_answered_is_not_told_of_again(tmp_path: Path) -> None:
    ear, heard, engine = Ear(), threading.Event(), engine_on(tmp_path / "memory.db")

    @tool(title="Write", annotations=ADDS)
    def write(engine: Engine) -> Written:
        """Answer only when the watcher has heard of it from the feed."""
        engine.memories.remember(NewMemory(content="the feed is faster"))
        return {"told": heard.wait(PATIENCE)}

    async def note(message: Any) -> None:
        await ear(message)
        heard.set()

    shelf = Resource(
        uri="memory://shelf", name="s", title="S", description="", mime_type="text/plain", read=lambda _: ""
    )
    server = build([ToolSet(name="t", tools=[write], resources=[shelf])], lambda: engine, workers=2)

    async def talk() -> Any:
        options: Any = {"message_handler": note, "read_timeout_seconds": PATIENCE}
        async with Client(server, mode="legacy", **options) as client:
            await client.session.subscribe_resource(shelf.uri)
            return await client.call_tool("write", {})

    assert anyio.run(talk).structured_content == {"told": True}
    engine.close()
    assert ear.count == 1


def test_over_http_a_watcher_hears_of_its_own_space_only(tmp_path: Path) -> None:
    ear, elsewhere = Ear(), engine_on(tmp_path / "memory.db")
    with (
        running(engine_on(tmp_path / "memory.db"), Config(tools="graph")) as server,
        over_http(server, "mine", ear) as here,
        over_http(server, "yours") as there,
    ):
        for writer in (here, there):
            writer.call("create_entities", entities=ENTITIES)
        subscribe(here, ADA, END)
        elsewhere.acting_for(Caller("yours")).graph.add_observations("Ada", ["next door"])
        elsewhere.acting_for(Caller("mine")).graph.add_observations("End", ["at home"])
        assert ear.until(END) == [END]
        add(there, "Ada", "also next door")
        add(here, "End", "at home again")
        assert ear.until(END) == [END]
    elsewhere.close()


@contextmanager
def over_http(server: Running, space: str, ear: Ear | None = None) -> Iterator[Conversation]:
    """An assistant that shares a server with others."""

    @asynccontextmanager
    async def connected() -> AsyncIterator[Client]:
        async with httpx2.AsyncClient(headers={"X-Memory-Space": space}, timeout=PATIENCE) as http:
            transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
            options: Any = {"message_handler": ear, "read_timeout_seconds": PATIENCE}
            async with Client(transport, mode="legacy", **options) as client:
                yield client

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(connected()) as client:
        listed = portal.call(client.list_tools).tools
        yield Conversation(portal, client, {tool.name: tool for tool in listed})


class Listening:
    """As much of a client's session as is told something."""

    def __init__(self) -> None:
        self.client_params = object()
        self.told = anyio.Event()

    async def send_resource_updated(self, uri: str) -> None:
        self.told.set()


class Deaf(Listening):
    """A client that takes no notification."""

    tries = 0

    async def send_resource_updated(self, uri: str) -> None:
        self.tries += 1
        await anyio.sleep_forever()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_failure_to_tell_of_a_change_ends_neither_the_server_nor_the_watching(engine: Engine) -> None:
    looks = 0

    async def look(space: str, place: int | None) -> ChangedResources:
        nonlocal looks
        looks += 1
        if looks == 2:
            raise RuntimeError("something unforeseen")
        return ChangedResources(engine.history.last_seq(), (GRAPH,))

    async def watch() -> None:
        feed, session = Feed(lambda: engine), Listening()
        watchers = Watchers(feed, look)
        async with feed.running(), watchers.running():
            await watchers.subscribe("default", cast(Any, session), GRAPH)
            await anyio.to_thread.run_sync(lambda: engine.memories.remember(NewMemory(content="Ada sails")))
            with anyio.fail_after(PATIENCE):
                await session.told.wait()

    anyio.run(watch)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_client_that_takes_no_notification_delays_writers_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchers, "TELL_PATIENCE", 0.01)
    deaf, there = Deaf(), Listening()

    async def look(space: str, place: int | None) -> ChangedResources:
        return ChangedResources(engine.history.last_seq())

    async def watch() -> None:
        feed = Feed(lambda: engine)
        told = Watchers(feed, look)
        async with feed.running(), told.running():
            for session in (deaf, there):
                await told.subscribe("default", cast(Any, session), GRAPH)
            with anyio.fail_after(PATIENCE):
                for _ in range(3):
                    await told.tell("default", otherwise=[GRAPH], since=told.telling_count("default"))
                await there.told.wait()

    anyio.run(watch)
    assert deaf.tries == 1


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_subscriptions_are_limited(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchers, "MOST_WATCHED", 3)
    monkeypatch.setattr(watchers, "MOST_WATCHERS", 2)
    first, second, third = sessions = [Listening() for _ in range(3)]

    async def look(space: str, place: int | None) -> ChangedResources:
        return ChangedResources(engine.history.last_seq())

    async def watch() -> None:
        feed = Feed(lambda: engine)
        told = Watchers(feed, look)
        async with feed.running(), told.running():
            for session in sessions:
                for uri in (ADA, BEA, END, END):
                    await told.subscribe("default", cast(Any, session), uri)
                for further in (GRAPH, "memory://entity/" + "x" * 10_000):
                    with pytest.raises(MCPError, match="can subscribe to 3 resources"):
                        await told.subscribe("default", cast(Any, session), further)
            await told.tell("default", otherwise=[ADA], since=0)

    anyio.run(watch)
    assert [session.told.is_set() for session in (first, second, third)] == [False, True, True]
