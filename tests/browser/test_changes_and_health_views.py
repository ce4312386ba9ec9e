"""What changed, live and with undo; and how the memory is doing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect

from mcp_memory.engine import Engine
from mcp_memory.model import Caller, Filter
from tests.browser.conftest import Visit
from tests.browser.test_search_view import remember
from tests.surfaces.rest.serving import Running

PROGRAM = """\
import sys
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.wiring import connect

memory = connect(sys.argv[1], embedding_provider="none")
memory.memories.remember(NewMemory(content="Written by another process"))
memory.close()
"""


def test_what_another_process_writes_appears_by_itself(
    visit: Visit, server: Running, engine: Engine, tmp_path: Path
) -> None:
    remember(engine, "Was here before")
    person = visit(server, "/#/changes")
    person.sees("Was here before")
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    subprocess.run([sys.executable, "-c", PROGRAM, url], check=True, timeout=60)
    person.sees("Written by another process")


def test_a_change_shows_its_difference_and_is_undone(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "Ann prefers tea")
    [memory] = engine.memories.find(Filter(), limit=1).memories
    engine.memories.update(memory.id, {"content": "Ann prefers coffee"})
    person = visit(server, "/#/changes")
    person.button("Show what changed").first.click()
    expect(person.page.locator(".details del")).to_contain_text("tea")
    expect(person.page.locator(".details ins")).to_contain_text("coffee")
    person.button("Undo: ").first.click()
    person.sees("Undone")
    person.button("Redo").click()
    expect(person.page.get_by_text("Undone: ").last).to_be_visible()


def test_changes_are_filtered_by_who_made_them(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "from the assistant")
    remember(engine.acting_for(Caller(client="script")), "from the script")
    person = visit(server, "/#/changes")
    person.sees("from the assistant")
    person.page.get_by_label("By whom").select_option("script")
    person.sees_not("from the assistant")
    person.sees("from the script")


def test_a_filter_looks_further_back_than_what_is_listed(
    visit: Visit, server: Running, engine: Engine
) -> None:
    remember(engine.acting_for(Caller(client="script")), "long ago, by a script")
    remember(engine, *(f"fact {number} of many" for number in range(60)))
    person = visit(server, "/#/changes")
    person.sees("fact 59 of many")
    person.sees_not("long ago, by a script")
    person.page.get_by_label("By whom").select_option("script")
    person.sees("long ago, by a script")


def test_health_shows_figures_charts_and_clients(visit: Visit, server: Running, engine: Engine) -> None:
    remember(engine, "Ann prefers tea", "Ben prefers coffee", tags=("drinks",))
    person = visit(server, "/#/health")
    expect(person.page.locator(".figures").get_by_text("2", exact=True).first).to_be_visible()
    expect(person.page.locator("canvas")).to_have_count(2)
    person.sees("#drinks")
    expect(person.page.get_by_role("cell", name="assistant")).to_be_visible()
    person.button("Find duplicates…").click()
    expect(person.page.get_by_role("dialog", name="Duplicates")).to_contain_text(
        "No two memories say the same"
    )
