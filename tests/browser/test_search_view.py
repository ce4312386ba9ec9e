"""Searching on the page."""

from __future__ import annotations

from playwright.sync_api import expect

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from tests.browser.conftest import Visit
from tests.surfaces.rest.serving import Running


def remember(engine: Engine, *texts: str, **more: object) -> None:
    for text in texts:
        engine.memories.remember(NewMemory(content=text, **more))  # type: ignore[arg-type]


def test_results_come_as_one_types_with_matching_words_marked(
    visit: Visit, server: Running, engine: Engine
) -> None:
    remember(engine, "Ann prefers green tea in the morning", "The server runs on port 8080")
    person = visit(server)
    person.search("tea")
    expect(person.results).to_have_count(1)
    expect(person.results.first.locator("mark")).to_have_text("tea")
    person.search("port")
    expect(person.results.first).to_contain_text("8080")


def test_why_a_result_is_here_opens_to_numbers(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "Ann prefers green tea")
    person = visit(server)
    person.search("green tea")
    person.results.first.locator("summary").click()
    expect(person.results.first.locator("table")).to_contain_text("effective confidence")


def test_whatever_a_memory_contains_is_shown_as_text(visit: Visit, server: Running, engine: Engine) -> None:
    hostile = (
        '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> '
        "<b>bold</b> javascript:alert(1) {@html 1}"
    )
    remember(engine, hostile, tags=("<i>tag</i>",), entity_names=("<svg/onload=window.hacked=1>",))
    person = visit(server)
    person.search("bold")
    expect(person.results.first).to_contain_text('<img src=x onerror="window.hacked=1"><script>')
    person.results.first.locator("a.text").click()
    expect(person.page.get_by_role("complementary", name="Memory")).to_contain_text("<b>bold</b>")
    for view, shown in (("memories", "<img"), ("health", "#<i>tag</i>")):
        person.go(view)
        person.sees(shown)
    person.go("changes")
    person.button("Show what changed").click()
    person.sees("<img")
    assert person.page.evaluate("window.hacked") is None
    assert person.page.locator("main img[src=x], main svg[onload], main b").count() == 0
