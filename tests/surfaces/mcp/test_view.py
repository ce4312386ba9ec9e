"""Results inside a conversation: what clients with the extension MCP Apps are told, and others are not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, MCPError
from mcp.client import advertise
from mcp_types import TextResourceContents, Tool

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.server.mcp import view
from mcp_memory.server.mcp.server import build
from mcp_memory.server.mcp.sets import tool_sets
from mcp_memory.text.budget import tokens
from mcp_memory.thin.handshake_cache import HandshakeCache, era_of
from tests.surfaces.rest.conftest import engine_on

SHOWS = {"mimeTypes": [view.MIME_TYPE]}
MOST_TOKENS = 1_600
DOCUMENT = "<!doctype html><title>a view</title>"


class Session:
    """A client that is connected, for tests that do not run in its loop."""

    def __init__(self, call: Any, client: Client) -> None:
        self._call, self._client = call, client

    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self._call(self._client.list_tools).tools}

    def look_again(self, tool: str, **arguments: Any) -> Any:
        wanted = {"tool": tool, "arguments": arguments}
        return self._call(self._client.call_tool, view.LOOK_AGAIN, wanted)

    def document(self) -> TextResourceContents:
        [contents] = self._call(self._client.read_resource, view.URI).contents
        assert isinstance(contents, TextResourceContents)
        return contents

    @property
    def server_extensions(self) -> Any:
        return self._client.server_capabilities.extensions


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return engine_on(tmp_path / "memory.db")


@pytest.fixture
def built(tmp_path: Path) -> view.View:
    """A page that was built, whether or not it is here."""
    (tmp_path / "app.html").write_text(DOCUMENT, encoding="utf-8")
    return view.View(tmp_path)


@contextmanager
def session(engine: Engine, shown: view.View, *sets: str, announced: bool = True) -> Iterator[Session]:
    server = build(tool_sets(sets or ("essentials",)), lambda: engine, workers=2, view=shown)
    client = Client(server, extensions=[advertise(view.EXTENSION, SHOWS)] if announced else None)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client) as opened:
        yield Session(portal.call, opened)


def test_only_a_client_that_shows_views_is_told_of_them(engine: Engine, built: view.View) -> None:
    with session(engine, built, announced=False) as plain:
        assert all(tool.meta is None for tool in plain.tools().values())
        assert view.LOOK_AGAIN not in plain.tools()
    with session(engine, built) as showing:
        tools = showing.tools()
        assert tools["memory_recall"].meta == {"ui": {"resourceUri": view.URI}}
        assert tools["open_nodes"].meta == {"ui": {"resourceUri": view.URI}}
        assert tools["memory_save"].meta is None
        assert tools[view.LOOK_AGAIN].meta == {"ui": {"visibility": ["app"]}}


def test_the_model_pays_for_no_more_tools_than_without_views(engine: Engine, built: view.View) -> None:
    with session(engine, built) as showing:
        seen = [tool for tool in showing.tools().values() if "visibility" not in str(tool.meta)]
    paid = [{"name": t.name, "description": t.description, "inputSchema": t.input_schema} for t in seen]
    assert len(seen) == 8
    assert sum(map(tokens, paid)) <= MOST_TOKENS


def test_the_document_is_a_resource_that_loads_nothing(engine: Engine, built: view.View) -> None:
    with session(engine, built) as showing:
        document = showing.document()
        assert showing.server_extensions == {view.EXTENSION: {}}
    assert (document.mime_type, document.text) == (view.MIME_TYPE, DOCUMENT)
    assert document.meta == {"ui": {"csp": {}, "prefersBorder": True}}


def test_a_result_is_looked_at_again_with_its_reasons_and_without_counting_as_use(
    engine: Engine, built: view.View
) -> None:
    kept = engine.memories.remember(NewMemory(content="Ann prefers tea")).memory
    with session(engine, built) as showing:
        again = showing.look_again("memory_recall", query="tea")
    [found] = again.structured_content["memories"]
    assert found["explanation"]["keyword"] == 1.0
    assert engine.unrecorded().memories.get(kept.id).access_count == 0


def test_nothing_is_changed_by_looking_again(engine: Engine, built: view.View) -> None:
    with session(engine, built) as showing:
        refused = showing.look_again("memory_save", content="x")
    assert refused.is_error
    assert "has no view: choose one of" in json.loads(refused.content[0].text)["error"]


def test_without_a_built_page_there_is_no_view(engine: Engine, tmp_path: Path) -> None:
    with session(engine, view.View(tmp_path / "nothing")) as showing:
        assert all(tool.meta is None for tool in showing.tools().values())
        assert not showing.server_extensions
        with pytest.raises(MCPError, match="not found"):
            showing.document()


def test_the_drop_in_set_has_no_view(engine: Engine, built: view.View) -> None:
    with session(engine, built, "anthropic") as showing:
        assert all(tool.meta is None for tool in showing.tools().values())


def test_lists_for_clients_that_show_views_are_remembered_apart(tmp_path: Path) -> None:
    """Else one kind of client would be answered with the list of the other while a server starts."""
    cache = HandshakeCache(str(tmp_path))
    asks = {"id": 1, "method": "tools/list"}

    def greeting(**extensions: Any) -> dict[str, Any]:
        capabilities = {"extensions": extensions}
        return {"params": {"protocolVersion": "2025-11-25", "capabilities": capabilities}}

    plain_era, showing_era = era_of(greeting(), ""), era_of(greeting(**{view.EXTENSION: SHOWS}), "")
    cache.learn(asks, showing_era, b'{"jsonrpc":"2.0","id":1,"result":{"tools":["with views"]}}\n')
    assert cache.answer(asks, plain_era) is None
    assert b"with views" in (cache.answer(asks, showing_era) or b"")
