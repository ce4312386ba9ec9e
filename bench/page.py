"""Measures the page in a real browser: first view, typing, a large graph, size of the bundle.

    python -m bench.page [--memories 10000] [--nodes 10000] [--markdown docs/benchmarks/page.md]

Times are ratios within one run: an empty page of the same server, and the engine's own recall.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from playwright.sync_api import Page, sync_playwright
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.fakes import HashEmbedder
from tests.surfaces.rest.serving import running
from tools import browser

from mcp_memory import wiring
from mcp_memory.embedding.card import NoModel
from mcp_memory.engine import Context, Engine
from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.database import SqliteDatabase

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "src" / "mcp_memory" / "server" / "page"
ROUNDS = 7
EMPTY = "/empty"
WORDS = (
    "harbour", "sensor", "level", "alert", "release", "budget", "pilot", "night", "train", "clock", "drift",
    "antenna", "range", "port", "tide",
)  # fmt: skip
DRAGGING = """(seconds) => new Promise((done) => {
    const place = document.querySelector('.canvas .sigma-mouse') ?? document.body;
    const { x, y, width, height } = place.getBoundingClientRect();
    const hand = (what, right, down) => {
        const at = { clientX: x + width * 0.6 + right, clientY: y + height * 0.4 + down, buttons: 1 };
        place.dispatchEvent(new PointerEvent(`pointer${what}`, { bubbles: true, ...at }));
        place.dispatchEvent(new MouseEvent(`mouse${what}`, { bubbles: true, cancelable: true, ...at }));
    };
    let frames = 0;
    const began = performance.now();
    const step = () => {
        frames++;
        const gone = performance.now() - began;
        hand('move', (width / 4) * Math.sin(gone / 700), (height / 8) * Math.sin(gone / 500));
        if (gone < seconds * 1000) return requestAnimationFrame(step);
        hand('up', 0, 0);
        done((frames * 1000) / gone);
    };
    hand('down', 0, 0);
    requestAnimationFrame(step);
})"""
"""A hand that moves with every frame, from within the page: a driver's own events would be slower."""
ZOOMING = """(seconds) => new Promise((done) => {
    const place = document.querySelector('.canvas .sigma-mouse');
    const { x, y, width, height } = place.getBoundingClientRect();
    const at = { clientX: x + width / 2, clientY: y + height / 2, bubbles: true, cancelable: true };
    let frames = 0;
    const began = performance.now();
    const step = () => {
        frames++;
        const gone = performance.now() - began;
        place.dispatchEvent(new WheelEvent('wheel', { ...at, deltaY: Math.sin(gone / 600) > 0 ? -30 : 30 }));
        if (gone < seconds * 1000) return requestAnimationFrame(step);
        done((frames * 1000) / gone);
    };
    requestAnimationFrame(step);
})"""
"""A wheel that turns with every frame, forth and back."""
IS_SHOWN = "(selector) => Boolean(document.querySelector(selector)?.checkVisibility())"
TYPING = """(word) => new Promise((done) => {
    const box = document.getElementById('query');
    const isShown = () => [...document.querySelectorAll('[role=status]')]
        .some((one) => one.textContent.endsWith(`for ${word}`));
    performance.clearResourceTimings();
    const began = performance.now();
    const look = () => {
        if (!isShown()) return;
        watched.disconnect();
        const asked = performance.getEntriesByType('resource');
        const answer = asked.findLast((one) => one.name.includes('/search?'));
        done([answer.responseEnd - began, performance.now() - began]);
    };
    const watched = new MutationObserver(look);
    watched.observe(document.body, { subtree: true, childList: true, characterData: true });
    box.value = word;
    box.dispatchEvent(new Event('input', { bubbles: true }));
})"""


def lines(memories: int, nodes: int) -> Iterator[bytes]:
    """A graph in which a few entities know many, with the memories spread over it."""
    per_node = max(1, memories // nodes)
    for number in range(nodes):
        texts = [
            f"{WORDS[number % 15]} {WORDS[(number * 7 + n) % 15]} note {number}-{n}" for n in range(per_node)
        ]
        entity = {"type": "entity", "name": f"entity {number}", "entityType": WORDS[number % 6]}
        yield json.dumps({**entity, "observations": texts}).encode() + b"\n"
    for number in range(1, nodes):
        relation = {"type": "relation", "from": f"entity {number}", "to": f"entity {number // 12}"}
        yield json.dumps({**relation, "relationType": "knows"}).encode() + b"\n"


def wait_for(page: Page, selector: str) -> None:
    """Looks with every frame, so that a page is timed to the frame in which it is there."""
    page.wait_for_function(IS_SHOWN, arg=selector, polling="raf")


def opened(page: Page, url: str, ready: str) -> float:
    """Seconds until a page shows what one came for."""
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    wait_for(page, ready)
    return time.perf_counter() - began


def opening(page: Page, url: str) -> tuple[float, float, float]:
    """Median seconds of an empty page, the search box, and the first view with its memories."""
    rounds = [
        (
            opened(page, f"{url}{EMPTY}", "body"),
            opened(page, url, "#query:focus"),
            opened(page, url, ".results li"),
        )
        for _ in range(3 * ROUNDS)
    ]
    empty, box, first = (statistics.median(taken) for taken in zip(*rounds, strict=True))
    return empty, box, first


@dataclass(frozen=True)
class Frames:
    """Frames a second: an empty page, a graph of nothing and the graph, dragged; the graph, zoomed."""

    page: float
    empty_graph: float
    graph: float
    zoomed: float


def dragging(page: Page, url: str, nodes: int) -> Frames:
    page.goto(f"{url}{EMPTY}")
    bare = float(page.evaluate(DRAGGING, 3))
    page.goto(f"{url}/#/graph?nodes={nodes}")
    page.get_by_role("button", name="best connected").wait_for()
    empty = float(page.evaluate(DRAGGING, 3))
    page.get_by_role("button", name="best connected").click()
    page.get_by_text(f"{nodes:,} entities").first.wait_for()
    page.wait_for_timeout(8000)  # the layout has settled somewhat
    dragged = float(page.evaluate(DRAGGING, 5))
    return Frames(bare, empty, dragged, float(page.evaluate(ZOOMING, 5)))


def listing(page: Page, url: str, total: int) -> dict[str, float]:
    """Milliseconds until rows are there: at the beginning, at the end, in other orders, filtered."""
    rows = page.get_by_role("region", name="List of memories")
    row = ".rows li a"
    taken: dict[str, float] = {}

    def timed(what: str, act: Callable[[], object], seen: Callable[[], object]) -> None:
        began = time.perf_counter()
        act()
        seen()
        taken[what] = (time.perf_counter() - began) * 1000

    timed("opened", lambda: page.goto(f"{url}/#/memories"), lambda: wait_for(page, row))
    last = f'.rows li[aria-posinset="{total}"] a'
    timed(
        "scrolled to the end",
        lambda: rows.evaluate("list => list.scrollTo(0, 1e9)"),
        lambda: wait_for(page, last),
    )
    rows.evaluate("list => list.scrollTo(0, 0)")
    for order in ("oldest", "importance", "most_accessed", "weakest"):
        with page.expect_response(lambda answer: "/api/memories?" in answer.url) as answered:
            began = time.perf_counter()
            page.get_by_label("Order").select_option(order)
        answered.value.finished()
        wait_for(page, row)
        taken[f"ordered by {order.replace('_', ' ')}"] = (time.perf_counter() - began) * 1000
    timed("filtered by a tag that nothing has", lambda: page.goto(f"{url}/#/memories?tags=none"),
          page.get_by_text("No memory passes these filters").wait_for)  # fmt: skip
    return taken


@dataclass(frozen=True)
class Walked:
    """Processor seconds of the server for a page of a list, walked by its cursors from end to end."""

    first: float
    last: float


def walking(url: str, server: int, path: str) -> Walked:
    taken: list[float] = []
    following: str | None = f"{path}?limit=200"
    with httpx.Client(base_url=url, timeout=60) as client:
        while following:
            began = processor_time(server)
            following = client.get(following).json()["next"]
            taken.append(processor_time(server) - began)
    return Walked(statistics.mean(taken[1:41]), statistics.mean(taken[-41:-1]))


def processor_time(process: int) -> float:
    """Seconds that a process has computed: what others do on the machine does not count."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def typing(page: Page) -> tuple[float, float]:
    """Median seconds from a key to the answer, and to results on the page, by the page's own clock."""
    page.get_by_label("Search this memory").wait_for()
    both = [page.evaluate(TYPING, word) for word in WORDS[:ROUNDS]]
    answered, drawn = zip(*both, strict=True)
    return statistics.median(answered) / 1000, statistics.median(drawn) / 1000


def recalling(engine: Engine) -> float:
    taken = []
    for word in WORDS[:ROUNDS]:
        began = time.perf_counter()
        engine.unrecorded().recall.recall(word, limit=20, explain=True, fading="gentle")
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def bundle() -> int:
    """Bytes of the page, compressed, with one font; without the API reference, which is a page of its own."""
    sizes = [file.stat().st_size for file in BUILT.rglob("*.gz") if not file.name.startswith("docs")]
    font = sum(file.stat().st_size for file in BUILT.rglob("inter-latin-wght*.woff2"))
    return sum(sizes) + font


def engine_on(file: Path, embedder: HashEmbedder | NoModel) -> Engine:
    return Engine(
        Context(
            store=Store(SqliteDatabase(file, "NORMAL")).open(),
            embedder=embedder,
            clock=wiring.now,
            new_id=wiring.new_id,
            caller=Caller(client="bench"),
        )
    )


@contextmanager
def served(file: Path) -> Iterator[tuple[str, int]]:
    """The address and the process of a server of its own, as people have it."""
    command = [sys.executable, "-m", "bench.page", "--serve", str(file)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        try:
            yield child.stdout.readline().strip(), child.pid
        finally:
            child.terminate()


def with_empty_page(app: ASGIApp) -> ASGIApp:
    """The same server, which also has a page with nothing on it, answered before anything else is done."""
    empty = HTMLResponse(
        "<!doctype html><title>nothing</title><body>.</body>", headers={"cache-control": "no-cache"}
    )

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        answer = empty if scope.get("path") == EMPTY else app
        await answer(scope, receive, send)

    return either


def serve(file: Path) -> None:
    with running(engine_on(file, HashEmbedder()), behind=with_empty_page) as server:
        print(server.url, flush=True)
        sys.stdin.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--long-list", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where the databases are kept for the next run")
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    browser.install()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = options.folder or Path(temporary)
        small, large = folder / f"{options.memories}.db", folder / f"{options.long_list}.db"
        if not small.exists():
            engine_on(small, HashEmbedder()).transfer.import_from(lines(options.memories, options.nodes))
        if not large.exists():
            engine_on(large, NoModel("vectors are not needed for a list")).transfer.import_from(
                lines(options.long_list, options.long_list)
            )
        engine = engine_on(small, HashEmbedder())
        recalling(engine)
        launched = playwright.chromium.launch(
            executable_path=browser.executable(), args=list(browser.ARGUMENTS), env=browser.environment()
        )
        page = launched.new_page(locale="en-GB", viewport={"width": 1280, "height": 800})
        page.set_default_timeout(120_000)
        with served(small) as (url, _):
            times = opening(page, url)
            own = recalling(engine)
            typed = typing(page)
            frames = dragging(page, url, options.nodes)
        with served(large) as (url, server):
            opened(page, url, ".results li")  # a server's first request is another matter
            listed = listing(page, url, options.long_list)
            walked = {
                what: walking(url, server, f"/api/{what}") for what in ("memories", "entities", "relations")
            }
        launched.close()
    report(options, times, own, typed, frames, listed, walked)


def report(
    options: argparse.Namespace,
    times: tuple[float, float, float],
    own: float,
    typed: tuple[float, float],
    frames: Frames,
    listed: dict[str, float],
    walked: dict[str, Walked],
) -> None:
    empty, box, first = times
    answered, drawn = typed

    def against_empty(taken: float) -> str:
        times = f"{taken * 1000:.0f} ms / {empty * 1000:.0f} ms"
        return f"{times} = {taken / empty:.1f} ×{_met(taken / empty <= 1.5)}"

    rows = [
        ("search box takes typing, against an empty page of the same server", against_empty(box), "≤ 1.5 ×"),
        ("the latest memories are there too, against the same", against_empty(first), "≤ 1.5 ×"),
        (
            "typing answered, against the engine's own recall",
            f"{answered * 1000:.0f} ms / {own * 1000:.0f} ms = {answered / own:.1f} ×"
            f"{_met(answered / own <= 2)}",
            "≤ 2 ×",
        ),
        ("typing, until the results stand on the page", f"{drawn * 1000:.0f} ms", "for comparison"),
        *(
            (
                f"a graph of {options.nodes:,} nodes, {what}, against an empty page",
                f"{reached:.0f} of {frames.page:.0f} frames a second = {reached / frames.page:.2f} ×"
                f"{_met(reached >= frames.page / 3)}",
                "usable: ≥ a third",
            )
            for what, reached in (("dragged", frames.graph), ("zoomed with the wheel", frames.zoomed))
        ),
        ("a graph of nothing, dragged", f"{frames.empty_graph:.0f} frames a second", "for comparison"),
        *(
            (f"a list of {options.long_list:,}, {what}", f"{took:.0f} ms", "quick")
            for what, took in listed.items()
        ),
        *(
            (
                f"processor time a page of the last 8,000 of {options.long_list:,} {what}, against the first",
                f"{one.last * 1000:.1f} ms / {one.first * 1000:.1f} ms = {one.last / one.first:.2f} ×"
                f"{_met(one.last <= 1.5 * one.first)}",
                "≤ 1.5 ×",
            )
            for what, one in walked.items()
        ),
        (
            "the bundle, compressed, with its font",
            f"{bundle() / 1000:.0f} kB{_met(bundle() < 400_000)}",
            "< 400 kB",
        ),
    ]
    table = "\n".join(f"| {what} | {measured} | {goal} |" for what, measured, goal in rows)
    text = f"""# The page, measured

By `python -m bench.page` on {wiring.now():%Y-%m-%d}, {os.cpu_count()} cores: {options.memories:,} memories,
{options.nodes:,} entities, headless Chromium that draws without a graphics card (software rendering).
Times are medians, ratios are within one run. A page is timed until what one came for is drawn, and so is the
empty one; the browser has been there before, as on every visit but the first. A list is timed from the click
until its rows are drawn. A hand moves the graph with every frame, over half the screen, and turns the wheel;
without a graphics card what the empty page reaches is what the machine can do. Processor time is that of the
server, by cursor.

| what | measured | goal |
|---|---|---|
{table}
"""
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")


def _met(is_met: bool) -> str:
    return ", met" if is_met else ", not met"


if __name__ == "__main__":
    main()
