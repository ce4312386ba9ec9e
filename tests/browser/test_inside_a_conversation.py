"""Results shown inside a conversation (MCP Apps), in the protocol's own host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from mcp_memory.config import Config
from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.inputs import NewEntity, NewRelation
from tests.browser.inspector import PROGRAM, Host, inspecting
from tests.surfaces.rest.conftest import engine_on
from tests.surfaces.rest.serving import running

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> tea is served'
pytestmark = pytest.mark.skipif(
    not PROGRAM.exists(), reason="the inspector is not installed: run tools/npm_tools.py"
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = engine_on(tmp_path_factory.mktemp("host") / "memory.db")
    engine.memories.remember(NewMemory(content="Ann prefers green tea", type="preference"))
    engine.memories.remember(NewMemory(content=HOSTILE))
    engine.graph.create_entities(
        [
            NewEntity(name="Teahouse", type="place", observations=("tea is drunk here",)),
            NewEntity(name="Harbour", type="town", observations=("smells of salt",)),
            NewEntity(name="Coast", type="region"),
        ]
    )
    engine.graph.create_relations(
        [
            NewRelation(source="Teahouse", target="Harbour", type="stands_in"),
            NewRelation(source="Harbour", target="Coast", type="lies_on"),
        ]
    )
    return engine


@pytest.fixture(scope="module")
def host_url(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with (
        running(engine, Config()) as server,
        inspecting(server, tmp_path_factory.mktemp("inspector")) as url,
    ):
        yield url


@pytest.fixture
def host(host_url: str, chromium: Browser) -> Iterator[Host]:
    context = chromium.new_context(color_scheme="light", locale="en-GB", reduced_motion="reduce")
    context.set_default_timeout(30_000)
    yield Host(context.new_page(), host_url)
    context.close()


def test_what_was_recalled_is_shown_as_text_with_the_reasons(host: Host) -> None:
    host.open("Recall Memories", "query", "green tea")
    results = host.view.get_by_role("list", name="What was remembered").locator("> li")
    expect(results.first).to_contain_text("Ann prefers green tea")
    expect(results.first.locator("mark").first).to_have_text("green")
    results.first.locator("summary").click()
    expect(results.first.locator("table")).to_contain_text("Closeness in meaning")
    hostile = results.filter(has_text="onerror")
    expect(hostile).to_contain_text(HOSTILE)
    assert hostile.evaluate("() => [window.hacked, document.querySelectorAll('img').length]") == [None, 0]


def test_an_entity_that_was_mentioned_opens_as_a_graph_and_back(host: Host) -> None:
    host.open("Recall Memories", "query", "tea is drunk here")
    host.view.get_by_role("link", name="Teahouse").click()
    expect(host.view.get_by_role("heading", name="Teahouse")).to_be_visible()
    expect(host.view.get_by_role("img", name="Graph of 2 entities")).to_be_visible()
    host.view.get_by_role("button", name="Harbour").click()
    expect(host.view.get_by_text("smells of salt")).to_be_visible()
    expect(host.view.get_by_role("img", name="Graph of 3 entities")).to_be_visible()
    host.view.get_by_role("button", name="Results").click()
    expect(host.view.get_by_role("list", name="What was remembered")).to_be_visible()


def test_looking_does_not_count_as_use(host: Host, engine: Engine) -> None:
    kept = engine.memories.remember(NewMemory(content="The lighthouse keeper retires in June")).memory
    host.open("Recall Memories", "query", "lighthouse keeper")
    expect(host.view.locator("summary").first).to_be_visible()  # it has looked again
    assert engine.unrecorded().memories.get(kept.id).access_count == 1  # the assistant's own call


def test_it_is_light_or_dark_as_the_host_is(host: Host) -> None:
    host.open("Recall Memories", "query", "green tea")
    root = host.view.locator("html")
    expect(root).to_have_attribute("data-theme", "light")
    host.page.get_by_role("button", name="Toggle color scheme").click()
    expect(root).to_have_attribute("data-theme", "dark")
