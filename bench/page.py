"""Writes docs/benchmarks.md: every goal with what was measured, and where the tables are.

A benchmark leaves its goals in docs/benchmarks/NAME.json, as a list of
`{"what", "measured", "goal", "met", "why"}`, and its tables in NAME.md beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PARTS = DOCS / "benchmarks"


def page() -> Iterator[str]:
    yield "# Benchmarks"
    yield ""
    yield (
        "Made by `make bench`. What is compared takes turns in the same run on the same machine: ratios "
        "mean something where times do not. Each goal is stated with what was measured, met or not."
    )
    yield ""
    yield "| what | measured | goal | |"
    yield "|---|---|---|---|"
    for part in sorted(PARTS.glob("*.json")):
        for goal in json.loads(part.read_text("utf-8")):
            verdict = "met" if goal["met"] else "**not met**"
            why = f": {goal['why']}" if goal.get("why") else ""
            what = f"[{goal['what']}](benchmarks/{part.stem}.md)"
            yield f"| {what} | {goal['measured']} | {goal['goal']} | {verdict}{why} |"
    yield ""
    yield "## Pages"
    yield ""
    for part in sorted(PARTS.glob("*.md")):
        title = part.read_text("utf-8").splitlines()[0].lstrip("# ")
        yield f"- [{title}](benchmarks/{part.name})"


if __name__ == "__main__":
    (DOCS / "benchmarks.md").write_text("\n".join(page()) + "\n", "utf-8")
