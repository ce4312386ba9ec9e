"""Takes the pictures of the page that stand in docs/, from the sample memory and a real server."""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.surfaces.rest.serving import running  # noqa: E402
from tools import browser as browser_tool  # noqa: E402

from mcp_memory import wiring  # noqa: E402
from mcp_memory.config import load  # noqa: E402
from mcp_memory.engine import Context, Engine  # noqa: E402
from mcp_memory.model import Caller  # noqa: E402
from mcp_memory.storage import Store  # noqa: E402

LAPTOP, PHONE = (1280, 800), (390, 844)
LOOKS = ((LAPTOP, False, ""), (LAPTOP, True, "-dark"), (PHONE, False, "-phone"))
COMMAND = {"command": ["mcp-memory"]}
DAYS = 84
"""How long the sample's story took: each thing came up some days after the one before."""


class StoryClock:
    """Some days go by with every change, until it is today."""

    def __init__(self) -> None:
        self._left = timedelta(days=DAYS)

    def __call__(self) -> datetime:
        return datetime.now(UTC) - self._left

    def advance(self) -> None:
        self._left = max(timedelta(0), self._left - timedelta(days=DAYS / 36))

    def arrive(self) -> None:
        self._left = timedelta(0)


def open_page(browser: Browser, url: str, size: tuple[int, int], dark: bool) -> Page:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        device_scale_factor=1.5 if size == PHONE else 1,
        color_scheme="dark" if dark else "light",
        locale="en-GB",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    # Where this program happens to be installed is nobody's business.
    page.route(
        "**/api/about", lambda route: route.fulfill(json={**route.fetch().json(), "command": ["mcp-memory"]})
    )
    page.goto(url)
    return page


def tell_story(page: Page, url: str, clock: StoryClock) -> None:
    """Add the sample through the page, then change a little, so that there is something to see."""
    page.on("request", lambda request: clock.advance() if request.method == "POST" else None)
    page.goto(f"{url}/#/start")
    page.get_by_role("button", name="Add the sample").click()
    page.get_by_role("button", name="Remove the sample").wait_for(timeout=60_000)
    clock.arrive()


def take(page: Page, url: str, folder: Path, suffix: str) -> None:
    def shot(name: str) -> None:
        page.wait_for_timeout(400)  # charts and the layout of the graph settle
        page.screenshot(path=folder / f"{name}{suffix}.png")

    page.goto(f"{url}/#/search?q=how long do we keep the readings, and why?")
    page.locator(".results li").first.wait_for()
    page.locator(".results summary").first.click()
    shot("search")
    page.goto(f"{url}/#/memories")
    page.locator(".rows li a").nth(3).click()
    page.get_by_role("complementary", name="Memory").wait_for()
    shot("memories")
    page.goto(f"{url}/#/graph?entity=Tidewatch")
    page.get_by_role("complementary", name="Entity").get_by_role("heading", name="Tidewatch").wait_for()
    page.wait_for_timeout(1500)
    shot("graph")
    page.goto(f"{url}/#/changes")
    page.locator("main li button[aria-expanded]").first.click()
    page.locator(".details").wait_for()
    shot("changes")
    page.goto(f"{url}/#/health")
    page.get_by_role("heading", name="Assistants", exact=True).wait_for()
    shot("health")
    page.goto(f"{url}/#/start")
    page.get_by_role("heading", name="Getting started").wait_for()
    shot("start")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images" / "page")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    if browser_tool.install():
        return 1
    clock = StoryClock()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        config = load({"database_url": f"sqlite:///{temporary}/memory.db"}, environ={})
        engine = Engine(
            Context(
                store=Store(wiring.open_database(config)).open(),
                embedder=wiring.embedder(config),
                clock=clock,
                new_id=wiring.new_id,
                caller=Caller(client="page"),
            )
        )
        browser = playwright.chromium.launch(
            executable_path=browser_tool.executable(),
            args=list(browser_tool.ARGUMENTS),
            env={**browser_tool.environment()},
        )
        with running(engine, config) as server:
            tell_story(open_page(browser, server.url, LAPTOP, dark=False), server.url, clock)
            for size, dark, suffix in (
                (LAPTOP, False, ""),
                (LAPTOP, True, "-dark"),
                (PHONE, False, "-phone"),
            ):
                take(open_page(browser, server.url, size, dark), server.url, folder, suffix)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
