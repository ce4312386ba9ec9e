"""The first minutes: a sample, an import, a login; and who is not let in."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
from click.testing import CliRunner
from playwright.sync_api import expect

from mcp_memory.cli import main
from mcp_memory.engine import Engine
from mcp_memory.model import Filter
from tests.browser.conftest import Visit
from tests.surfaces.rest.serving import Running

LINES = [
    {
        "type": "entity",
        "name": "Ann",
        "entityType": "person",
        "observations": ["prefers tea", "is tall"],
    },
    {"type": "entity", "name": "Apollo", "entityType": "project", "observations": []},
    {"type": "relation", "from": "Ann", "to": "Apollo", "relationType": "works_on"},
]


def count(engine: Engine) -> int:
    return engine.memories.find(Filter(), limit=1).total


def test_a_sample_comes_and_goes_with_a_click(visit: Visit, server: Running, engine: Engine) -> None:
    person = visit(server)
    person.sees("Nothing is remembered yet")
    person.button("Add the sample").click()
    expect(person.page.get_by_role("heading", name="Lately remembered")).to_be_visible(timeout=60_000)
    assert count(engine) > 20
    person.page.get_by_role("link", name="Remove it").click()
    person.button("Remove the sample").click()
    expect(person.button("Add the sample")).to_be_visible(timeout=60_000)
    assert count(engine) == 0
    assert engine.inventory.counts().entities == 0


def test_a_file_is_dropped_previewed_and_imported(visit: Visit, server: Running, engine: Engine) -> None:
    person = visit(server, "/#/start")
    text = "\n".join(json.dumps(line) for line in LINES)
    transfer = person.page.evaluate_handle(
        """text => {
            const data = new DataTransfer();
            data.items.add(new File([text], "memory.jsonl"));
            return data;
        }""",
        text,
    )
    person.page.locator(".drop").dispatch_event("drop", {"dataTransfer": transfer})
    person.sees("the JSONL of Anthropic's memory server")
    person.sees("prefers tea")
    assert count(engine) == 0
    person.button("Import", exact=True).click()
    expect(person.page.get_by_text("Imported").first).to_be_visible()
    assert count(engine) == 2


def test_settings_for_a_client_are_copied(visit: Visit, server: Running) -> None:
    person = visit(server, "/#/start")
    person.button("Over HTTP").click()
    person.button("Copy the settings").click()
    person.sees("Copied")
    copied = json.loads(person.page.evaluate("navigator.clipboard.readText()"))
    assert copied["mcpServers"]["memory"]["url"] == f"{server.url}/mcp"


def test_without_a_login_nothing_is_shown_and_a_token_logs_in(
    visit: Visit, server: Running, engine: Engine
) -> None:
    _, token = engine.access.create_token("ann")
    person = visit(server)
    person.page.get_by_label("Token").fill("wrong")
    person.button("Log in").click()
    person.sees("This token is not known here".lower()[5:])
    person.page.get_by_label("Token").fill(token)
    person.button("Log in").click()
    expect(person.page.get_by_label("Search this memory")).to_be_visible()
    assert token not in person.page.url
    assert person.page.evaluate("document.cookie") == ""
    person.button("Log out").click()
    expect(person.page.get_by_label("Token")).to_be_visible()
    person.complaints.clear()  # the browser notes the refused login


def test_the_command_hands_over_a_login_that_works_once(
    visit: Visit, server: Running, engine: Engine, tmp_path: Path
) -> None:
    engine.access.create_token("somebody")
    database = f"sqlite:///{tmp_path / 'memory.db'}"
    run = CliRunner().invoke(
        main, ["--database", database, "open", "--no-browser", "--port", str(server.port)]
    )
    assert run.exit_code == 0, run.output
    found = re.search(r"http://\S+", run.output)
    assert found
    path = found[0].removeprefix(server.url)
    person = visit(server, path)
    expect(person.page.get_by_label("Search this memory")).to_be_visible()
    assert "code" not in person.page.url
    second = visit(server, path)
    expect(second.page.get_by_label("Token")).to_be_visible()
    second.sees("expired")
    second.complaints.clear()


def test_the_page_fetches_nothing_from_elsewhere(visit: Visit, server: Running) -> None:
    asked: list[str] = []
    person = visit(server)
    person.page.on("request", lambda request: asked.append(request.url))
    for view in ("memories", "graph", "changes", "health", "start"):
        person.go(view)
        expect(person.page.locator("h1")).to_be_attached()
    person.page.goto(f"{server.url}/docs")
    expect(person.page.get_by_text("/api/memories/search").first).to_be_visible(timeout=30_000)
    assert asked
    assert [url for url in asked if not url.startswith((server.url, "data:", "blob:"))] == []


def test_the_api_reference_can_be_tried(visit: Visit, server: Running) -> None:
    person = visit(server, "/docs")
    operation = person.page.locator("#operations-operations-read_health")
    operation.locator("button").first.click()
    operation.get_by_role("button", name="Execute").click()
    expect(operation.locator(".live-responses-table")).to_contain_text("200")
    assert httpx.get(f"{server.url}/docs").status_code == 200
