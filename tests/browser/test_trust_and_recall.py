"""What assistants are told, what waits to be confirmed, and what was put away."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from mcp_memory.capture import Candidate
from mcp_memory.engine import Engine
from mcp_memory.engine.arrivals import Place
from mcp_memory.engine.captures import Heard
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Filter
from tests.browser.conftest import Visit, engine_by
from tests.browser.test_search_view import remember
from tests.browser.visitor import Visitor
from tests.fakes import Clock
from tests.surfaces.rest.serving import Running, running


def capture(engine: Engine, *texts: str) -> None:
    said = tuple(Candidate(text=text, type="preference", rule="preference", turn="t1") for text in texts)
    engine.captures.take_in(Heard(session="s1", client="codex", project="", candidates=said))


def waiting(person: Visitor) -> Locator:
    return person.page.get_by_role("region", name="Captured, not yet confirmed")


def panel(person: Visitor) -> Locator:
    return person.page.get_by_role("complementary", name="Memory")


def test_what_an_assistant_would_be_told_and_why_not_the_rest(
    visit: Visit, server: Running, engine: Engine
) -> None:
    remember(engine, "Ann prefers green tea in the morning", "The harbour has twelve sensors")
    person = visit(server)
    person.button("What my assistant is told").click()
    person.search("Which green tea does Ann prefer in the morning?")
    told = person.page.get_by_role("region", name="What the assistant would be told")
    expect(told).to_contain_text("For this prompt")
    expected = engine.unrecorded().arrivals.for_prompt(
        "Which green tea does Ann prefer in the morning?", Place(session="", project=""), record=False
    )
    expect(told).to_contain_text(expected.text.splitlines()[-1] if expected.text else expected.silence)
    person.search("/help")
    expect(told).to_contain_text("Nothing.")


def test_captured_memories_are_accepted_and_dropped_one_by_one(
    visit: Visit, server: Running, engine: Engine
) -> None:
    capture(engine, "I prefer tabs.", "I never work on Fridays.", "Always answer in French.")
    person = visit(server, "/#/changes")
    expect(waiting(person).get_by_role("listitem")).to_have_count(3)
    waiting(person).get_by_role("button", name="Accept: I prefer tabs.").click()
    expect(waiting(person).get_by_role("listitem")).to_have_count(2)
    waiting(person).get_by_role("button", name="Drop: Always answer").click()
    expect(waiting(person).get_by_role("listitem")).to_have_count(1)
    assert {one.content for one in engine.memories.find(Filter(), limit=9).memories} == {
        "I prefer tabs.",
        "I never work on Fridays.",
    }
    assert engine.captures.find().total == 1


@pytest.mark.parametrize(("button", "left"), [("Accept all", 2), ("Drop all", 0)])
def test_captured_memories_are_decided_in_one_go_and_undone(
    visit: Visit, server: Running, engine: Engine, button: str, left: int
) -> None:
    capture(engine, "I prefer tabs.", "I never work on Fridays.")
    person = visit(server, "/#/changes")
    waiting(person).get_by_role("button", name=button).click()
    expect(waiting(person)).to_have_count(0)
    assert engine.memories.find(Filter(), limit=9).total == left
    person.button("Undo", exact=True).first.click()
    expect(waiting(person).get_by_role("listitem")).to_have_count(2)


def test_a_memory_is_confirmed(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "The server is in Oslo")
    person = visit(server, "/#/memories")
    person.page.get_by_role("region", name="List of memories").locator("li a").first.click()
    panel(person).get_by_role("button", name="Confirm").click()
    expect(panel(person).get_by_text("Confirmed", exact=True)).to_be_visible()
    assert engine.memories.find(Filter(), limit=1).memories[0].confirmed_at is not None


def test_an_earlier_version_is_restored(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "The server is in Oslo")
    [memory] = engine.memories.find(Filter(), limit=1).memories
    engine.memories.update(memory.id, {"content": "The server is in Bergen"})
    person = visit(server, f"/#/memories?open={memory.id}")
    expect(panel(person).locator("del")).to_contain_text("Oslo")
    expect(panel(person).locator("ins")).to_contain_text("Bergen")
    panel(person).get_by_role("button", name="Restore version 1").click()
    expect(panel(person).locator(".body")).to_have_text("The server is in Oslo")


def test_duplicate_observations_are_shown_before_one_is_removed(
    visit: Visit, server: Running, engine: Engine
) -> None:
    texts = ("The pump was replaced in May this year", "The pump was replaced in May this year again")
    engine.graph.create_entities([NewEntity(name="Pump", type="part", observations=texts)])
    person = visit(server, "/#/graph?entity=Pump")
    person.page.get_by_role("complementary", name="Entity").get_by_role(
        "button", name="Find duplicates…"
    ).click()
    dialog = person.page.get_by_role("dialog", name="Observations that look alike")
    expect(dialog).to_contain_text("again")
    assert len(engine.graph.get("Pump").nodes[0].observations) == 2
    dialog.get_by_role("button", name="Remove the second").click()
    expect(dialog).to_have_count(0)
    assert len(engine.graph.get("Pump").nodes[0].observations) == 1


class TestWhatHasFaded:
    @pytest.fixture
    def clock(self) -> Clock:
        return Clock(datetime.now(UTC) - timedelta(days=900))

    @pytest.fixture
    def engine(self, tmp_path: Path, clock: Clock) -> Engine:
        return engine_by(clock, tmp_path)

    def test_it_is_put_away_from_health_and_restored_from_the_archive(
        self, visit: Visit, engine: Engine, clock: Clock
    ) -> None:
        remember(engine, "The old printer was on the third floor")
        clock.set(datetime.now(UTC))
        with running(engine) as server:
            person = visit(server, "/#/health")
            person.button("Faded memories…").click()
            dialog = person.page.get_by_role("dialog", name="Faded memories")
            expect(dialog).to_contain_text("old printer")
            dialog.get_by_role("button", name="Archive").click()
            person.sees("Archived 1 faded memory")
            person.go("memories")
            person.sees("Nothing is remembered yet")
            person.page.get_by_label("Show").select_option("archived")
            person.page.get_by_role("region", name="List of memories").locator("li a").first.click()
            panel(person).get_by_role("button", name="Restore", exact=True).click()
            person.sees("Nothing was archived")
            assert engine.memories.find(Filter(), limit=1).total == 1


def test_a_server_that_is_gone_is_said_and_found_again(visit: Visit, engine: Engine) -> None:
    remember(engine, "Ann prefers tea")
    with running(engine) as server:
        person = visit(server)
        person.sees("Ann prefers tea")
        expect(person.page.get_by_text("Live")).to_be_visible()
    expect(person.page.get_by_text("Offline")).to_be_visible()
    person.search("tea")
    person.sees("The server cannot be reached.")


def test_a_token_revoked_meanwhile_leads_back_to_the_login(
    visit: Visit, server: Running, engine: Engine
) -> None:
    remember(engine, "Ann prefers tea")
    _, secret = engine.access.create_token("ann")
    engine.access.create_token("somebody")
    person = visit(server)
    person.page.get_by_label("Token").fill(secret)
    person.button("Log in").click()
    person.sees("Ann prefers tea")
    engine.access.revoke_token("ann")
    # The next change ends the page's event stream, which is refused when it comes again.
    remember(engine, "Bob prefers coffee")
    expect(person.page.get_by_label("Token")).to_be_visible()
    person.sees_not("Ann prefers tea")
