"""Every view used by keyboard alone, and the keyboard is never left nowhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from mcp_memory.engine import Engine
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Filter
from tests.browser.conftest import Visit, engine_by
from tests.browser.test_search_view import remember
from tests.browser.test_trust_and_recall import capture
from tests.fakes import Clock
from tests.surfaces.rest.serving import Running

FARTHEST = 80
"""Steps with Tab after which something counts as out of reach."""


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime.now(UTC) - timedelta(days=10))


@pytest.fixture
def engine(tmp_path: Path, clock: Clock) -> Engine:
    return engine_by(clock, tmp_path)


def has_keyboard(place: Locator) -> bool:
    return bool(place.evaluate("element => element === document.activeElement"))


def tab_to(page: Page, place: Locator, *, back: bool = False) -> None:
    """Go there as people without a mouse do; every stop on the way must be visible, and show that it is."""
    expect(place).to_be_visible()
    for _ in range(FARTHEST):
        if has_keyboard(place):
            return
        page.keyboard.press("Shift+Tab" if back else "Tab")
        unseen = page.evaluate(UNSEEN)
        assert not unseen, f"the keyboard stands where nothing is seen: {unseen}"
    raise AssertionError(f"{place} is out of reach of the keyboard")


UNSEEN = """() => {
    const one = document.activeElement;
    if (!one || one === document.body) return '';
    const { width, height } = one.getBoundingClientRect();
    const isSeen = width > 0 && height > 0 && getComputedStyle(one).visibility === 'visible';
    return isSeen ? '' : one.outerHTML.slice(0, 200);
}"""


CAMERA = """() => new Promise((moved) => {
    const look = () => {
        const state = window.graphView.getCamera().getState();
        return (MOVED) ? moved(true) : setTimeout(look, 50);
    };
    look();
})"""


def press(page: Page, place: Locator, key: str = "Enter") -> None:
    tab_to(page, place)
    page.keyboard.press(key)


def stands_somewhere(page: Page) -> None:
    expect(page.locator(":focus")).to_have_count(1)


def test_search_edit_and_undo(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "Ann prefers green tea", "The harbour has twelve sensors")
    page = visit(server).page
    box = page.get_by_label("Search this memory")
    expect(box).to_be_focused()
    page.keyboard.type("green tea")
    results = page.get_by_role("list", name="Results").locator("> li")
    expect(results.first).to_contain_text("green tea")
    press(page, page.get_by_role("button", name="Words", exact=True))
    expect(page.get_by_text("Searched by words", exact=True)).to_be_visible()
    press(page, results.first.locator("summary"))
    expect(results.first.get_by_text("It is here because")).to_be_visible()
    tab_to(page, results.first.locator("a.text"), back=True)
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Memory")
    expect(panel.get_by_role("heading").first).to_be_focused()
    press(page, panel.get_by_role("button", name="Edit"))
    expect(panel.get_by_label("What to remember")).to_be_focused()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("Ann prefers black tea")
    press(page, panel.get_by_role("button", name="Save"))
    expect(panel.locator(".body")).to_have_text("Ann prefers black tea")
    expect(panel.get_by_role("heading").first).to_be_focused()
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_visible()
    page.keyboard.press("u")
    expect(panel.locator(".body")).to_have_text("Ann prefers green tea")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(results.first.locator("a.text")).to_be_focused()


def test_memories_are_chosen_tagged_forgotten_and_restored(
    visit: Visit, server: Running, engine: Engine
) -> None:
    remember(engine, "Ann prefers green tea", "The harbour has twelve sensors")
    page = visit(server, "/#/memories").page
    rows = page.get_by_role("region", name="List of memories")
    press(page, rows.get_by_role("checkbox").first, "Space")
    press(page, rows.get_by_role("checkbox").nth(1), "Space")
    tab_to(page, page.get_by_role("button", name="Tag…"), back=True)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Tag", exact=True)).to_be_focused()
    page.keyboard.type("kitchen")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(rows.get_by_text("#kitchen")).to_have_count(2)
    stands_somewhere(page)
    press(page, rows.locator("li a").first)
    panel = page.get_by_role("complementary", name="Memory")
    press(page, panel.get_by_role("button", name="Forget"))
    press(page, panel.get_by_role("button", name="Restore", exact=True))
    expect(panel.get_by_role("button", name="Forget")).to_be_visible()
    stands_somewhere(page)
    press(page, panel.get_by_role("button", name="Remove for good…"))
    page.keyboard.press("Escape")
    expect(panel.get_by_role("button", name="Remove for good…")).to_be_focused()
    page.keyboard.press("Enter")
    press(page, page.get_by_role("dialog").get_by_role("button", name="Remove for good"))
    expect(panel).to_have_count(0)
    stands_somewhere(page)
    assert engine.memories.find(Filter(), limit=9).total == 1


def test_the_graph_is_searched_expanded_and_looked_at_in_the_past(
    visit: Visit, server: Running, engine: Engine, clock: Clock
) -> None:
    engine.graph.create_entities([NewEntity(name=name, type="person") for name in ("Ann", "Ben", "Cid")])
    engine.graph.create_relations([NewRelation(source="Ann", target="Ben", type="knows")])
    clock.set(datetime.now(UTC) - timedelta(minutes=1))
    engine.graph.create_relations([NewRelation(source="Ben", target="Cid", type="knows")])
    page = visit(server, "/#/graph").page
    find = page.get_by_role("combobox", name="Find an entity")
    tab_to(page, find)
    page.keyboard.type("Ben")
    expect(page.get_by_role("option").first).to_contain_text("Ben")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Ben")
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Entity")
    expect(panel.get_by_role("heading", name="Ben")).to_be_focused()
    press(page, panel.get_by_role("button", name="Expand"))
    press(page, panel.get_by_role("link", name="Cid"))
    expect(panel.get_by_role("heading", name="Cid")).to_be_focused()
    slider = page.get_by_role("slider", name="What was known")
    tab_to(page, slider, back=True)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Back to now")).to_be_visible()
    expect(panel.get_by_text("0 relations")).to_be_visible()
    expect(slider).to_be_focused()
    press(page, page.get_by_role("button", name="Back to now"))
    expect(panel.get_by_text("1 relation", exact=True)).to_be_visible()
    tab_to(page, page.get_by_role("button", name="As a list"), back=True)
    page.keyboard.press("Enter")
    press(page, page.get_by_role("list", name="Entities shown").get_by_role("button", name="Ben"))
    expect(panel.get_by_role("heading", name="Ben")).to_be_focused()
    press(page, panel.get_by_role("button", name="Delete…"))
    press(page, page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True))
    expect(panel).to_have_count(0)
    expect(page.get_by_role("img", name="Graph of")).to_be_focused()


def test_the_graph_itself_is_moved_and_zoomed(visit: Visit, server: Running, engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name=name, type="person") for name in ("Ann", "Ben")])
    page = visit(server, "/#/graph").page
    expect(page.get_by_text("2 entities, 0 relations").first).to_be_visible()
    tab_to(page, page.get_by_role("img", name="Graph of 2 entities"))
    for key, moved in (
        ("ArrowRight", "state.x > 0.5"),
        ("ArrowDown", "state.y < 0.5"),
        ("+", "state.ratio < 1"),
        ("0", "state.ratio === 1 && state.x === 0.5"),
    ):
        page.keyboard.press(key)
        assert page.evaluate(CAMERA.replace("MOVED", moved))


def test_captured_memories_are_accepted_and_changes_undone(
    visit: Visit, server: Running, engine: Engine
) -> None:
    capture(engine, "I prefer tabs.", "I never work on Fridays.", "Always answer in French.")
    page = visit(server, "/#/changes").page
    waiting = page.get_by_role("region", name="Captured, not yet confirmed")
    press(page, waiting.get_by_role("button", name="Why? Always answer in French."))
    expect(waiting.get_by_text("Because")).to_be_visible()
    press(page, waiting.get_by_role("button", name="Accept: Always answer in French."))
    expect(waiting.get_by_role("button", name="Accept: I never work on Fridays.")).to_be_focused()
    press(page, waiting.get_by_role("button", name="Drop: I never work on Fridays."))
    expect(waiting.get_by_role("button", name="Drop: I prefer tabs.")).to_be_focused()
    page.keyboard.press("Enter")
    expect(waiting).to_have_count(0)
    stands_somewhere(page)
    undo = page.get_by_role("button", name="Undo: forgot the memory “I prefer tabs.”")
    press(page, undo)
    expect(waiting.get_by_role("button", name="Accept: I prefer tabs.")).to_be_visible()
    stands_somewhere(page)
    shown = page.get_by_role("button", name="Show what changed").first
    press(page, shown)
    expect(page.locator(".details").first).to_be_visible()


def test_what_somebody_else_takes_away_does_not_take_the_keyboard(
    visit: Visit, server: Running, engine: Engine
) -> None:
    capture(engine, "I prefer tabs.", "I never work on Fridays.", "Always answer in French.")
    page = visit(server, "/#/changes").page
    waiting = page.get_by_role("region", name="Captured, not yet confirmed")
    tab_to(page, waiting.get_by_role("button", name="Drop: I never work on Fridays."))
    forget(engine, "I never work on Fridays.")
    expect(waiting.get_by_role("button", name="Drop: I prefer tabs.")).to_be_focused()
    forget(engine, "I prefer tabs.")
    expect(waiting.get_by_role("button", name="Drop: Always answer in French.")).to_be_focused()
    forget(engine, "Always answer in French.")
    expect(waiting).to_have_count(0)
    expect(page.get_by_role("main")).to_be_focused()


def test_in_a_list_that_changes_the_keyboard_stays_with_its_memory(
    visit: Visit, server: Running, engine: Engine, clock: Clock
) -> None:
    for number in range(40):
        clock.advance(minutes=1)
        remember(engine, f"note number {number}")
    page = visit(server, "/#/memories").page
    rows = page.get_by_role("region", name="List of memories")
    mine = rows.get_by_role("link", name="note number 37")
    tab_to(page, mine)
    clock.advance(minutes=1)
    remember(engine, "a new one above")
    expect(rows.locator('[aria-posinset="1"]')).to_contain_text("a new one above")
    expect(mine).to_be_focused()
    forget(engine, "note number 37")
    expect(rows.get_by_role("link", name="note number 36")).to_be_focused()
    rows.evaluate("list => list.scrollTo(0, 1e6)")
    expect(rows.locator('[aria-posinset="40"]')).to_contain_text("note number 0")
    expect(rows).to_be_focused()


def forget(engine: Engine, content: str) -> None:
    (found,) = [one for one in engine.memories.find(Filter(), limit=99).memories if one.content == content]
    engine.memories.forget(found.id)


def test_health_and_the_first_steps(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "Ann prefers green tea")
    page = visit(server, "/#/health").page
    press(page, page.get_by_role("button", name="weeks"))
    expect(page.get_by_role("button", name="weeks")).to_have_attribute("aria-pressed", "true")
    opener = page.get_by_role("button", name="Find duplicates…")
    press(page, opener)
    expect(page.get_by_role("dialog")).to_contain_text("No two memories say the same")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(opener).to_be_focused()
    tab_to(page, page.get_by_role("link", name="Connect & import"), back=True)
    page.keyboard.press("Enter")
    press(page, page.get_by_role("button", name="Over HTTP"))
    press(page, page.get_by_role("button", name="Copy the settings"))
    expect(page.get_by_text("Copied").filter(visible=True).first).to_be_visible()


def test_a_login(visit: Visit, server: Running, engine: Engine) -> None:
    _, token = engine.access.create_token("ann")
    person = visit(server)
    tab_to(person.page, person.page.get_by_label("Token"))
    person.page.keyboard.type(token)
    person.page.keyboard.press("Enter")
    expect(person.page.get_by_label("Search this memory")).to_be_visible()
    person.complaints.clear()  # the browser notes that it was refused before


def test_what_is_found_and_what_happens_is_told_to_a_screen_reader(
    visit: Visit, server: Running, engine: Engine
) -> None:
    remember(engine, "Ann prefers green tea")
    page = visit(server).page
    for landmark in ("banner", "navigation", "main", "search"):
        expect(page.get_by_role(landmark)).to_have_count(1)
    page.get_by_label("Search this memory").fill("tea")
    told = page.get_by_role("status")
    expect(told.filter(has_text="1 match for tea")).to_be_attached()
    page.get_by_label("Search this memory").fill("zzz")
    page.get_by_role("button", name="Words", exact=True).click()
    expect(told.filter(has_text="Nothing found for zzz")).to_be_attached()
    page.goto(f"{server.url}/#/changes")
    expect(page.get_by_role("button", name="Show what changed").first).to_be_visible()
    remember(engine, "Ben prefers coffee")
    expect(told.filter(has_text="Ben prefers coffee")).to_be_attached()
