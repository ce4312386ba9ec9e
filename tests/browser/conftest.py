"""A real browser on a real server, as a person would use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from tools import browser as browser_tool

from mcp_memory import wiring
from mcp_memory.engine import Context, Engine
from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.browser.visitor import Visitor
from tests.fakes import Clock, HashEmbedder
from tests.surfaces.rest.conftest import engine_on
from tests.surfaces.rest.serving import Running, running

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "src" / "mcp_memory" / "server" / "page" / "index.html"
LAPTOP = {"width": 1280, "height": 800}
PATIENCE = 40_000
"""Milliseconds until something that never comes is a failure."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # One worker drives the browser: it is started once, and two cores are soon busy.
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.xdist_group("browser"))


# Not for the session: the driver's event loop runs until it stops, and would be in the way of other tests.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    executable = browser_tool.executable()
    if executable is None:
        pytest.skip("no browser: run `python tools/browser.py`")
    if not BUILT.exists():
        pytest.skip("the page is not built: run `make page`")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=executable, args=list(browser_tool.ARGUMENTS), env=browser_tool.environment()
        )
        yield launched
        launched.close()


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return engine_on(tmp_path / "memory.db").acting_for(Caller(client="assistant"))


def engine_by(clock: Clock, folder: Path) -> Engine:
    """One whose memories are as old as the clock says."""
    return Engine(
        Context(
            store=Store(SqliteDatabase(folder / "memory.db", "NORMAL")).open(),
            embedder=HashEmbedder(),
            clock=clock,
            new_id=wiring.new_id,
            caller=Caller(client="assistant"),
        )
    )


@pytest.fixture
def server(engine: Engine) -> Iterator[Running]:
    with running(engine) as here:
        yield here


Visit = Callable[..., Visitor]


def _is_complaint(said: ConsoleMessage) -> bool:
    """A fault of the page. What the server refused is no such thing, and is told to the person."""
    return said.type == "error" and not said.text.startswith("Failed to load resource")


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """Open the page in a browser of its own; what the page complained about fails the test."""
    opened: list[tuple[Page, list[str]]] = []

    def open_page(
        server: Running, path: str = "/", *, dark: bool = False, size: dict[str, int] = LAPTOP, **more: object
    ) -> Visitor:
        context = chromium.new_context(
            viewport={"width": size["width"], "height": size["height"]},
            color_scheme="dark" if dark else "light",
            locale="en-GB",
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("console", lambda said: complaints.append(said.text) if _is_complaint(said) else None)
        page.goto(server.url + path)
        opened.append((page, complaints))
        return Visitor(page, server, complaints)

    yield open_page
    for page, _ in opened:
        page.context.close()
    for _, complaints in opened:
        assert complaints == []
