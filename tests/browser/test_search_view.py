"""Searching on the page."""

from __future__ import annotations

from playwright.sync_api import Route, expect

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
    expect(person.results.first.locator("table")).to_contain_text(
        "How well the words of the memory itself fit"
    )


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


def test_modes_and_filters_narrow_what_is_found(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "Ann drinks green tea", type="preference", tags=("drinks",))
    remember(engine, "The tea contract ends in May", type="fact")
    person = visit(server)
    person.search("tea")
    expect(person.results).to_have_count(2)
    person.button("Words", exact=True).click()
    expect(person.button("Words", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(person.results).to_have_count(2)
    person.button("Filters").click()
    person.page.get_by_role("group", name="Tags").get_by_role("button", name="drinks").click()
    expect(person.results).to_have_count(1)
    expect(person.results.first).to_contain_text("green tea")
    assert "mode=keyword" in person.page.url
    person.page.reload()  # the address alone brings it back
    expect(person.results).to_have_count(1)


def test_an_open_memory_shows_how_its_confidence_will_fade(
    visit: Visit, server: Running, engine: Engine
) -> None:
    remember(engine, "Ann prefers green tea")
    person = visit(server)
    person.search("tea")
    person.results.first.locator("a.text").click()
    panel = person.page.get_by_role("complementary", name="Memory")
    expect(panel.get_by_role("img", name="Confidence over the next")).to_be_visible()
    expect(panel.get_by_text("days left unless used")).to_be_visible()


def test_what_is_typed_before_the_script_has_run_is_searched_for(
    visit: Visit, server: Running, engine: Engine
) -> None:
    """The first view comes with the document, for who has been here before."""
    remember(engine, "Ann prefers green tea in the morning", "The server runs on port 8080")
    person = visit(server)
    expect(person.page.get_by_role("heading", name="Lately remembered")).to_be_visible()
    held: list[Route] = []
    person.page.route("**/assets/page-*.js", lambda route: held.append(route))
    person.page.reload(wait_until="commit")
    box = person.page.get_by_label("Search this memory")
    expect(box).to_be_focused()
    person.page.keyboard.type("tea")
    expect(person.results).to_have_count(0)
    for route in held:
        route.continue_()
    expect(person.results.first).to_contain_text("green tea")
    expect(box).to_have_value("tea")
