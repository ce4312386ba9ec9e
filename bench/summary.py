"""docs/benchmarks.md from what the parts have found: every goal, and whether it is met.

python -m bench.summary
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
PAGES = DOCS / "benchmarks"
FIRST = ("first-turn", "warm", "questions", "graph", "disk", "peers", "waits", "turns")


def goals() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each with the name of its page; of one that two parts measure, the later."""
    files = sorted(PAGES.glob("*.json"), key=lambda file: (_place(file.stem), file.stem))
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for file in files:
        kept = json.loads(file.read_text("utf-8"))
        for goal in kept["goals"] if isinstance(kept, dict) else kept:
            found[goal["what"]] = (file.stem, goal)
    yield from found.values()


def _place(name: str) -> int:
    return FIRST.index(name) if name in FIRST else len(FIRST)


def page() -> Iterator[str]:
    yield "# Benchmarks"
    yield ""
    yield (
        "Made by `make bench`, of which each part can be run alone (`make help`). What is compared takes "
        "turns in the same run on the same machine: ratios mean something where times do not. Each goal is "
        "stated with what was measured, met or not."
    )
    yield from ("", "| what | measured | goal | |", "|---|---|---|---|")
    for name, goal in goals():
        met = "met" if goal["met"] else "**not met**"
        why = f": {goal['why']}" if goal.get("why") else ""
        yield f"| [{goal['what']}](benchmarks/{name}.md) | {goal['measured']} | {goal['goal']} | {met}{why} |"
    for title, plot in (
        ("Start", "start"),
        ("Memory by number of windows", "memory"),
        ("One `open_nodes` by the size of the store", "open-nodes"),
        ("50 entities × 3 observations by the size of the store", "fifty-entities"),
        ("Disk per fact", "disk-per-fact"),
    ):
        if (PAGES / f"{plot}.svg").exists():
            yield from ("", f"## {title}", "", f"![{title}](benchmarks/{plot}.svg)")
    yield from ("", "## Pages", "")
    for file in sorted(PAGES.glob("*.md")):
        title = file.read_text("utf-8").splitlines()[0].removeprefix("# ")
        yield f"- [{title}](benchmarks/{file.name})"


def main() -> None:
    (DOCS / "benchmarks.md").write_text("\n".join(page()) + "\n", "utf-8")


if __name__ == "__main__":
    main()
