"""The graph on the page: expanded hop by hop, looked at in the past, edited."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from mcp_memory.engine import Engine
from mcp_memory.inputs import NewEntity, NewRelation
from tests.browser.conftest import Visit, engine_by
from tests.browser.visitor import Visitor
from tests.fakes import Clock
from tests.surfaces.rest.serving import Running

LARGE = 3100
"""More entities than the page draws with every frame."""
MOST_CLICKS = 30
"""While the layout goes on, an entity may have left its place when it is clicked."""
ZOOMED_AND_RESTED = """(ratio) => new Promise((rested) => {
    const look = () => {
        const isZoomed = window.graphView.getCamera().getState().ratio < ratio;
        const isStill = !document.querySelector('.canvas.moving');
        return isZoomed && isStill ? rested(true) : setTimeout(look, 50);
    };
    look();
})"""
SOMETHING_IN_SIGHT = """() => {
    const view = window.graphView;
    const { width, height } = view.getDimensions();
    const middle = (id) => {
        const { x, y } = view.framedGraphToViewport(view.getNodeDisplayData(id));
        return [Math.hypot(x - width / 2, y - height / 2), x, y];
    };
    const [, x, y] = view.getGraph().nodes().map(middle).sort((one, other) => one[0] - other[0])[0];
    return [x, y];
}"""
ENDED_IS_SHOWN = """() => new Promise((shown) => {
    const look = () => window.graphView.getGraph().someEdge((_, edge) => edge.ended)
        ? shown(true) : setTimeout(look, 50);
    look();
})"""


def chain(engine: Engine, *names: str) -> None:
    """Entities, each of which knows the next."""
    engine.graph.create_entities([NewEntity(name=name, type="person") for name in names])
    engine.graph.create_relations(
        [NewRelation(source=one, target=other, type="knows") for one, other in pairwise(names)]
    )


def panel(person: Visitor) -> Locator:
    return person.page.get_by_role("complementary", name="Entity")


def shows(person: Visitor, entities: int) -> None:
    expect(person.page.get_by_text(f"{entities} entit").first).to_be_visible()


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime.now(UTC) - timedelta(days=10))


@pytest.fixture
def engine(tmp_path: Path, clock: Clock) -> Engine:
    return engine_by(clock, tmp_path)


def test_the_graph_is_expanded_hop_by_hop(visit: Visit, server: Running, engine: Engine) -> None:
    chain(engine, "Ann", "Ben", "Cid", "Dee")
    person = visit(server, "/#/graph?entity=Ann")
    shows(person, 2)
    for name, shown in (("Ben", 3), ("Cid", 4)):
        panel(person).get_by_role("link", name=name).click()
        expect(panel(person).get_by_role("heading", name=name)).to_be_visible()
        panel(person).get_by_role("button", name="Expand").click()
        shows(person, shown)


def test_a_small_graph_is_shown_at_once_and_filtered_by_type(
    visit: Visit, server: Running, engine: Engine
) -> None:
    chain(engine, "Ann", "Ben")
    engine.graph.create_entities([NewEntity(name="Oslo", type="place")])
    person = visit(server, "/#/graph")
    shows(person, 3)
    person.button("As a list").click()
    expect(person.button("Oslo")).to_be_visible()
    person.button("place 1").click()
    expect(person.button("Oslo")).to_have_count(0)
    person.page.get_by_label("Find an entity").fill("Ben")
    person.page.get_by_role("option", name="Ben").click()
    expect(panel(person).get_by_role("heading", name="Ben")).to_be_visible()


def test_the_time_slider_shows_what_was_known_then(
    visit: Visit, server: Running, engine: Engine, clock: Clock
) -> None:
    chain(engine, "Ann", "Ben")
    engine.graph.add_observations("Ann", ["Ann lives in Rome"])
    clock.set(datetime.now(UTC) - timedelta(minutes=1))
    engine.graph.add_observations("Ann", ["Ann lives in Oslo"])
    chain(engine, "Ann", "Cid")
    person = visit(server, "/#/graph?entity=Ann")
    shows(person, 3)
    expect(panel(person)).to_contain_text("Oslo")
    slider = person.page.get_by_label("What was known")
    box = slider.bounding_box()
    assert box is not None
    person.page.mouse.move(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)
    person.page.mouse.down()
    person.page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] / 2, steps=5)
    person.page.mouse.up()
    shows(person, 2)
    expect(panel(person)).to_contain_text("Rome")
    expect(panel(person)).not_to_contain_text("Oslo")
    person.button("Back to now").click()
    shows(person, 3)


def test_relations_are_created_edited_and_ended(visit: Visit, server: Running, engine: Engine) -> None:
    chain(engine, "Ann", "Ben")
    person = visit(server, "/#/graph?entity=Ann")
    panel(person).get_by_role("button", name="Relate to…").click()
    person.page.get_by_label("Entity", exact=True).last.fill("Apollo")
    person.page.get_by_label("Relation", exact=True).fill("works_on")
    person.button("Save", exact=True).click()
    expect(panel(person).get_by_role("link", name="Apollo")).to_be_visible()
    panel(person).get_by_role("button", name="Edit the relation to Apollo").click()
    person.page.get_by_role("slider", name=re.compile("^Strength")).fill("0.9")
    person.button("Save", exact=True).click()
    expect(panel(person).get_by_text("90 %")).to_be_visible()
    panel(person).get_by_role("button", name="Edit the relation to Apollo").click()
    person.page.get_by_label("Relation", exact=True).fill("leads")
    person.button("Save", exact=True).click()
    expect(panel(person).get_by_text("leads")).to_be_visible()
    expect(panel(person).get_by_text("works on")).to_have_count(0)
    panel(person).get_by_role("button", name="End the relation to Ben").click()
    expect(panel(person).get_by_text("1 ended relation")).to_be_visible()
    person.page.get_by_label("Show ended relations").check()
    assert person.page.evaluate(ENDED_IS_SHOWN)
    panel(person).get_by_label("New observation").fill("Ann is left-handed")
    panel(person).get_by_role("button", name="Add", exact=True).first.click()
    expect(panel(person).get_by_role("link", name="Ann is left-handed")).to_be_visible()
    panel(person).get_by_label("New reflection").fill("Ann leads this.")
    panel(person).get_by_role("button", name="Add", exact=True).last.click()
    expect(panel(person).locator("blockquote")).to_contain_text("Ann leads this.")


def test_a_split_is_shown_before_it_is_carried_out(visit: Visit, server: Running, engine: Engine) -> None:
    texts = [f"The {part} engine test number {n} failed" for n in range(14) for part in ("left", "right")]
    engine.graph.create_entities([NewEntity(name="Rocket", type="project", observations=tuple(texts))])
    person = visit(server, "/#/graph?entity=Rocket")
    panel(person).get_by_role("button", name="Propose a split…").click()
    dialog = person.page.get_by_role("dialog", name="Split Rocket?")
    expect(dialog).to_contain_text("Nothing is moved until you say so")
    dialog.get_by_role("button", name="Split").click()
    person.sees("Split into Rocket - ")
    assert len(engine.graph.get("Rocket").nodes[0].observations) < len(texts)


def test_a_large_graph_is_zoomed_and_an_entity_in_it_is_clicked(
    visit: Visit, server: Running, engine: Engine
) -> None:
    """While it is zoomed it is a picture that grows; at rest what is under the pointer is known again."""
    things = ({"type": "entity", "name": f"thing {n}", "entityType": "thing"} for n in range(LARGE))
    engine.transfer.import_from(json.dumps({**one, "observations": []}).encode() + b"\n" for one in things)
    page = visit(server, f"/#/graph?nodes={LARGE}").page
    page.get_by_role("button", name="best connected").click()
    expect(page.get_by_text(f"{LARGE:,} entities").first).to_be_visible()
    picture = page.locator(".sigma-nodes")
    page.locator(".sigma-mouse").hover()
    for ratio in (0.6, 0.36, 0.21, 0.13):
        page.mouse.wheel(0, -200)
        assert page.evaluate(ZOOMED_AND_RESTED, ratio)
    expect(picture).to_have_attribute("style", re.compile("^(?!.*scale).*$"))
    box = page.locator(".canvas").bounding_box()
    assert box is not None
    entity = page.get_by_role("complementary", name="Entity")
    for _ in range(MOST_CLICKS):
        x, y = page.evaluate(SOMETHING_IN_SIGHT)
        page.mouse.click(box["x"] + x, box["y"] + y)
        if entity.is_visible():
            break
    expect(entity.get_by_role("heading", name="thing ")).to_be_visible()
