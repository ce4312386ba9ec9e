"""axe-core finds nothing serious, in light and dark, on a laptop and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from mcp_memory.engine import Engine
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Caller
from tests.browser.conftest import Visit
from tests.browser.test_search_view import remember
from tests.browser.test_trust_and_recall import capture
from tests.browser.visitor import Visitor
from tests.surfaces.rest.conftest import engine_on
from tests.surfaces.rest.serving import Running, running

PHONE = {"width": 390, "height": 844}
LAPTOP = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    engine = engine_on(tmp_path_factory.mktemp("furnished") / "memory.db").acting_for(Caller(client="ann"))
    remember(engine, "Ann prefers green tea", tags=("drinks",), entity_names=("Ann",))
    remember(engine, "The server runs in Oslo", entity_names=("Server",))
    engine.graph.create_entities([NewEntity(name="Ann", type="person", observations=("is tall",))])
    engine.graph.create_relations([NewRelation(source="Ann", target="Server", type="runs", make_ends=True)])
    tests = [f"The {part} engine test number {n} failed" for n in range(14) for part in ("left", "right")]
    pump = ("The pump was replaced in May this year", "The pump was replaced in May this year again")
    engine.graph.create_entities(
        [
            NewEntity(name="Rocket", type="project", observations=tuple(tests)),
            NewEntity(name="Pump", type="part", observations=pump),
        ]
    )
    capture(engine, "I prefer tabs.", "Always answer in French.")
    with running(engine) as here:
        yield here


def opened(person: Visitor, view: str) -> None:
    """Each view with as much of it open as there is."""
    person.go(view)
    expect(person.page.locator("h1").first).to_be_attached()
    if view.startswith("search"):
        person.results.first.locator("summary").click()
    elif view == "memories":
        person.page.get_by_role("region", name="List of memories").locator("li a").first.click()
        expect(person.page.get_by_role("complementary", name="Memory")).to_be_visible()
    elif view.startswith("graph"):
        expect(person.page.get_by_role("complementary", name="Entity")).to_contain_text("Ann")
    elif view == "changes":
        person.button("Show what changed").first.click()
        captured = person.page.get_by_role("region", name="Captured, not yet confirmed")
        captured.get_by_role("button", name="Why?").first.click()
        expect(captured.get_by_text("Because")).to_be_visible()
    elif view == "health":
        expect(person.page.locator("canvas")).to_have_count(2)


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["1280", "390"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_shuts_anybody_out(
    visit: Visit, furnished: Running, dark: bool, size: dict[str, int]
) -> None:
    person = visit(furnished, dark=dark, size=size)
    found = {}
    for view in ("search?q=tea", "memories", "graph?entity=Ann", "changes", "health", "start"):
        opened(person, view)
        if faults := person.serious_faults():
            found[view] = faults
        width = person.page.evaluate("document.documentElement.scrollWidth")
        assert width <= size["width"], f"{view} is wider than the screen"
    assert found == {}


def dialogs_over_memories(person: Visitor) -> Iterator[str]:
    """One after the other, opened as a person would."""
    page = person.page
    person.go("memories")
    person.button("Remember something").click()
    yield "remember"
    page.keyboard.press("Escape")
    person.button("Filters").click()
    expect(page.get_by_role("group", name="Type")).to_be_visible()
    yield "filters"
    for place in (0, 1):
        page.get_by_role("region", name="List of memories").get_by_role("checkbox").nth(place).check()
    for name in ("Tag…", "Merge…"):
        person.button(name).click()
        yield name
        page.keyboard.press("Escape")
    page.get_by_role("region", name="List of memories").locator("li a").first.click()
    panel = page.get_by_role("complementary", name="Memory")
    for name in ("Link to a memory…", "Remove for good…"):
        panel.get_by_role("button", name=name).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        yield name
        page.keyboard.press("Escape")
    panel.get_by_role("button", name="Edit").click()
    yield "edit"


def dialogs_elsewhere(person: Visitor) -> Iterator[str]:
    page = person.page
    person.go("graph?entity=Ann")
    panel = page.get_by_role("complementary", name="Entity")
    for name in ("Relate to…", "Delete…"):
        panel.get_by_role("button", name=name).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        yield name
        page.keyboard.press("Escape")
    panel.get_by_role("button", name="Edit", exact=True).click()
    yield "edit an entity"
    for name, act in (("Rocket", "Propose a split…"), ("Pump", "Find duplicates…")):
        person.go(f"graph?entity={name}")
        expect(panel.get_by_role("heading", name=name)).to_be_visible()
        panel.get_by_role("button", name=act).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        yield act
        page.keyboard.press("Escape")
    person.go("graph")
    person.button("As a list").click()
    page.get_by_label("Find an entity").fill("Rocket")
    expect(page.get_by_role("option").first).to_be_visible()
    yield "the graph as a list, and what is found in it"
    person.go("health")
    for name in ("Find duplicates…", "Faded memories…"):
        person.button(name).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        yield name
        page.keyboard.press("Escape")
    person.go("search?q=tea&as=prompt")
    expect(page.get_by_role("region", name="What the assistant would be told")).to_be_visible()
    yield "what the assistant is told"
    person.go("memories?tags=nothing")
    person.sees("No memory passes these filters")
    yield "nothing found"


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["1280", "390"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("places", [dialogs_over_memories, dialogs_elsewhere])
def test_nothing_that_opens_shuts_anybody_out(
    visit: Visit,
    furnished: Running,
    dark: bool,
    size: dict[str, int],
    places: Callable[[Visitor], Iterator[str]],
) -> None:
    person = visit(furnished, dark=dark, size=size)
    assert {name: faults for name in places(person) if (faults := person.serious_faults())} == {}


EVERY_LOOK = [(dark, size) for dark in (False, True) for size in (LAPTOP, PHONE)]


def test_a_new_memory_shuts_nobody_out(visit: Visit, server: Running) -> None:
    for dark, size in EVERY_LOOK:
        person = visit(server, dark=dark, size=size)
        person.sees("Nothing is remembered yet")
        assert person.serious_faults() == []
        for view in ("memories", "graph", "changes", "health"):
            person.go(view)
            expect(person.page.locator("h1").first).to_be_attached()
            assert person.serious_faults() == []


def test_the_login_shuts_nobody_out(visit: Visit, server: Running, engine: Engine) -> None:
    engine.access.create_token("ann")
    for dark, size in EVERY_LOOK:
        person = visit(server, dark=dark, size=size)
        expect(person.page.get_by_label("Token")).to_be_visible()
        assert person.serious_faults() == []
        person.page.get_by_label("Token").fill("wrong")
        person.button("Log in").click()
        expect(person.page.get_by_role("alert")).to_be_visible()
        assert person.serious_faults() == []
        person.complaints.clear()  # the browser notes that it was refused


def test_the_keyboard_suffices(visit: Visit, furnished: Running) -> None:
    person = visit(furnished, "/#/health")
    expect(person.page.get_by_role("heading", name="Health")).to_be_visible()
    person.page.keyboard.press("/")
    expect(person.page.get_by_label("Search this memory")).to_be_focused()
    person.page.keyboard.type("tea")
    expect(person.results.first).to_contain_text("tea")
    person.page.keyboard.press("ArrowDown")
    person.page.keyboard.press("Enter")
    panel = person.page.get_by_role("complementary", name="Memory")
    expect(panel).to_contain_text("green tea")
    person.page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    person.page.keyboard.press("4")
    expect(person.page.get_by_role("heading", name="Changes")).to_be_visible()
