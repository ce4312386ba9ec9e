"""Memories on the page: edited, pinned, forgotten, restored, several at once."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from mcp_memory.engine import Engine
from mcp_memory.model import Filter
from tests.browser.conftest import Visit
from tests.browser.test_search_view import remember
from tests.browser.visitor import Visitor
from tests.surfaces.rest.serving import Running


def rows(person: Visitor) -> Locator:
    return person.page.get_by_role("region", name="List of memories").locator("li")


def panel(person: Visitor) -> Locator:
    return person.page.get_by_role("complementary", name="Memory")


def contents(engine: Engine) -> list[str]:
    return [memory.content for memory in engine.memories.find(Filter(), limit=50).memories]


def test_an_edit_is_kept_as_a_version_and_can_be_undone(
    visit: Visit, server: Running, engine: Engine
) -> None:
    remember(engine, "Ann prefers tea")
    person = visit(server, "/#/memories")
    rows(person).first.locator("a").click()
    panel(person).get_by_role("button", name="Edit").click()
    panel(person).get_by_label("What to remember").fill("Ann prefers strong coffee")
    panel(person).get_by_role("button", name="Save").click()
    expect(panel(person).locator("del")).to_contain_text("tea")
    expect(panel(person).locator("ins")).to_contain_text("strong coffee")
    assert contents(engine) == ["Ann prefers strong coffee"]
    person.button("Undo", exact=True).click()
    person.sees("Undone")
    assert contents(engine) == ["Ann prefers tea"]


def test_a_memory_is_pinned_forgotten_and_restored(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "The server is in Oslo")
    person = visit(server, "/#/memories")
    rows(person).first.locator("a").click()
    panel(person).get_by_role("button", name="Pin").click()
    expect(panel(person).get_by_text("does not fade")).to_be_visible()
    panel(person).get_by_role("button", name="Forget").click()
    person.sees("Nothing is remembered yet")
    person.page.get_by_label("Show").select_option("forgotten")
    rows(person).first.locator("a").click()
    panel(person).get_by_role("button", name="Restore", exact=True).click()
    person.sees("Nothing was forgotten")
    assert contents(engine) == ["The server is in Oslo"]


def test_several_are_tagged_and_deleted_in_one_go(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "first fact", "second thought", "third idea")
    person = visit(server, "/#/memories")
    for place in (0, 1):
        rows(person).nth(place).get_by_role("checkbox").check()
    person.button("Tag…").click()
    person.page.get_by_label("Tag", exact=True).fill("important")
    person.button("Tag", exact=True).click()
    expect(rows(person).first).to_contain_text("#important")
    for place in (0, 1):
        rows(person).nth(place).get_by_role("checkbox").check()
    person.button("Delete", exact=True).click()
    expect(rows(person)).to_have_count(1)
    person.button("Undo", exact=True).click()
    expect(rows(person)).to_have_count(3)


def test_a_long_list_is_fetched_as_far_as_one_scrolls(visit: Visit, server: Running, engine: Engine) -> None:
    engine.transfer.import_from(
        [
            b'{"type":"entity","name":"e%d","entityType":"t","observations":["fact number %d"]}\n'
            % (number, number)
            for number in range(450)
        ]
    )
    person = visit(server, "/#/memories")
    person.page.get_by_label("Order").select_option("oldest")
    person.sees("fact number 0")
    assert rows(person).count() < 60
    listed = person.page.get_by_role("region", name="List of memories")
    with person.page.expect_request(lambda request: "/api/memories?" in request.url) as asked:
        listed.evaluate("list => list.scrollTo(0, 62 * 100)")
    person.sees("fact number 100")
    assert "cursor=" in asked.value.url
    with person.page.expect_request(lambda request: "offset=400" in request.url):  # a jump is counted
        listed.evaluate("list => list.scrollTo(0, 1e9)")
    person.sees("fact number 449")


def test_something_is_remembered_by_hand_and_linked(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "Ann likes the sea")
    person = visit(server, "/#/memories")
    person.button("Remember something").click()
    person.page.get_by_label("What to remember").fill("Ann sails on Sundays")
    person.page.get_by_label("About, names with commas").fill("Ann")
    person.button("Remember", exact=True).click()
    expect(panel(person)).to_contain_text("Ann sails on Sundays")
    panel(person).get_by_label("Link to an entity").fill("Sailing club")
    panel(person).get_by_role("button", name="Link", exact=True).click()
    expect(panel(person).get_by_role("link", name="Sailing club")).to_be_visible()
    panel(person).get_by_role("button", name="Link to a memory…").click()
    person.page.get_by_label("Find the other one").fill("sea")
    person.page.get_by_role("dialog").get_by_role("button", name="Link: ").first.click()
    expect(panel(person).get_by_text("related to")).to_be_visible()


def test_two_are_merged_into_the_one_that_stays(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "The office is in Oslo", "Our office moved to Bergen lately")
    person = visit(server, "/#/memories")
    for place in (0, 1):
        rows(person).nth(place).get_by_role("checkbox").check()
    person.button("Merge…").click()
    dialog = person.page.get_by_role("dialog", name="Merge two memories")
    dialog.get_by_role("radio").nth(1).check()
    dialog.get_by_role("button", name="Merge", exact=True).click()
    expect(rows(person)).to_have_count(1)
    person.button("Undo", exact=True).click()
    expect(rows(person)).to_have_count(2)
