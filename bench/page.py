"""Measures the page in a real browser: first view, typing, a large graph, size of the bundle.

    python -m bench.page [--memories 10000] [--nodes 10000] [--markdown docs/benchmarks/page.md]

Times are ratios within one run: an empty page of the same server, and the engine's own recall.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from tests.fakes import HashEmbedder
from tests.surfaces.rest.serving import running
from tools import browser

from mcp_memory import wiring
from mcp_memory.engine import Context, Engine
from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.database import SqliteDatabase

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "src" / "mcp_memory" / "server" / "page"
ROUNDS = 7
WORDS = (
    "harbour", "sensor", "level", "alert", "release", "budget", "pilot", "night", "train", "clock", "drift",
    "antenna", "range", "port", "tide",
)  # fmt: skip
FRAMES = """async seconds => {
    const box = document.querySelector('.canvas').getBoundingClientRect();
    const camera = window.graphView.getCamera();
    let frames = 0;
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
        const state = camera.getState();
        camera.setState({ ...state, x: state.x + 0.002 * Math.sin(frames / 9), y: state.y + 0.001 });
        await new Promise(requestAnimationFrame);
        frames++;
    }
    return frames / seconds;
}"""


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


def opening(page: Page, url: str, ready: str) -> float:
    """Median seconds until a page shows what one came for."""
    taken = []
    for _ in range(ROUNDS):
        page.goto("about:blank")
        began = time.perf_counter()
        page.goto(url)
        page.locator(ready).first.wait_for()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def typing(page: Page) -> float:
    """Median seconds from a key to its results, as the page's own clock has it."""
    box = page.get_by_label("Search this memory")
    taken: list[float] = []
    for word in WORDS[:ROUNDS]:
        box.fill("")
        with page.expect_response(lambda answer: "/search" in answer.url) as answered:
            box.fill(word)
        answered.value.finished()
        timing = answered.value.request.timing
        taken.append(timing["responseEnd"] / 1000)
    return statistics.median(taken)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    browser.install()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        store = Store(SqliteDatabase(Path(folder) / "memory.db", "NORMAL")).open()
        parts = {"clock": wiring.now, "new_id": wiring.new_id, "caller": Caller(client="bench")}
        engine = Engine(Context(store=store, embedder=HashEmbedder(), **parts))  # type: ignore[arg-type]
        engine.transfer.import_from(lines(options.memories, options.nodes))
        recalling(engine)
        launched = playwright.chromium.launch(
            executable_path=browser.executable(), args=list(browser.ARGUMENTS), env=browser.environment()
        )
        page = launched.new_page(locale="en-GB")
        page.set_default_timeout(120_000)
        with running(engine) as server:
            empty = opening(page, f"{server.url}/favicon.svg", "svg")
            first = opening(page, server.url, ".results li")
            own = recalling(engine)
            typed = typing(page)
            page.goto(f"{server.url}/#/graph?nodes={options.nodes}")
            page.get_by_role("button", name="best connected").click()
            page.get_by_text(f"{options.nodes:,} entities").first.wait_for()
            page.wait_for_timeout(8000)  # the layout has settled somewhat
            frames = page.evaluate(FRAMES, 5)
        launched.close()
    report(options, empty, first, own, typed, frames)


def report(
    options: argparse.Namespace, empty: float, first: float, own: float, typed: float, frames: float
) -> None:
    rows = [
        (
            "first view usable, against an empty page of the same server",
            f"{first * 1000:.0f} ms / {empty * 1000:.0f} ms = {first / empty:.1f} ×",
            "≤ 1.5 ×",
        ),
        (
            "typing answered, against the engine's own recall",
            f"{typed * 1000:.0f} ms / {own * 1000:.0f} ms = {typed / own:.1f} ×",
            "≤ 2 ×",
        ),
        (f"a graph of {options.nodes:,} nodes, moved", f"{frames:.0f} frames a second", "usable"),
        ("the bundle, compressed, with its font", f"{bundle() / 1000:.0f} kB", "< 400 kB"),
    ]
    table = "\n".join(f"| {what} | {measured} | {goal} |" for what, measured, goal in rows)
    text = f"""# The page, measured

By `python -m bench.page`: {options.memories:,} memories, {options.nodes:,} entities, headless Chromium
without a graphics card, median of {ROUNDS}. Ratios are within one run.

| what | measured | goal |
|---|---|---|
{table}
"""
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
