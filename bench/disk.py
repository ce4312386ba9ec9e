"""Where the disk goes for 100,000 entities with 300,000 observations and as many relations as entities.

python -m bench.disk [--size 100000] [--keep docs/benchmarks]
"""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

import apsw
from bench import stores
from bench.results import Goal, Json, keep, machine

LIMIT = 800
WHY = "each fact has its journal, its indexes of words and trigrams, and ids of 36 characters"


def measured(size: int) -> Json:
    file = stores.database(size)
    parts = {part: taken / 1e6 for part, taken in parts_of(file).items()}
    return {"mb": file.stat().st_size / 1e6, "parts": parts}


def parts_of(file: Path) -> dict[str, float]:
    """Bytes by what they are for."""
    parts: dict[str, float] = {}
    # Python's own SQLite may lack dbstat; ours has it.
    with closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        tables = dict(connection.execute("SELECT name, tbl_name FROM sqlite_schema"))
        for name, taken in connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
            part = part_of(str(tables.get(name, name)))
            parts[part] = parts.get(part, 0.0) + float(str(taken))
    return parts


def part_of(table: str) -> str:
    for beginning, part in (
        ("event", "the journal: what changed, by whom, and how to undo it"),
        ("vector_segment", "sketches of vectors"),
        ("vector", "vectors, one byte a dimension"),
        ("memory_words", "the index of words"),
        ("entity_words", "the index of words"),
        ("memory_trigrams", "the index of trigrams"),
        ("entity_trigrams", "the index of trigrams"),
        ("entity_memory", "which memory is about which entity"),
        ("memory", "memories"),
        ("entity", "entities"),
        ("relation", "relations"),
    ):
        if table.startswith(beginning):
            return part
    return "else"


def goals(found: Json) -> list[Goal]:
    return [
        Goal(
            f"disk for {int(size):,} entities, {int(size) * 3:,} observations",
            f"{each['mb']:.0f} MB",
            f"≤ {LIMIT} MB",
            each["mb"] <= LIMIT,
            "" if each["mb"] <= LIMIT else WHY,
        )
        for size, each in found.items()
        if size == "100000"
    ]


def page(found: Json) -> str:
    made = f"Made by `python -m bench.disk` from `dbstat`: {machine()} Observations have about 65 characters."
    lines = ["# Disk", "", made]
    for size, each in found.items():
        count = int(size)
        lines += ["", f"## {count:,} entities, {count * 3:,} observations, {count:,} relations", ""]
        lines += ["| | MB |", "|---|--:|"]
        ordered = sorted(each["parts"].items(), key=lambda part: -part[1])
        lines += [f"| {name} | {megabytes:.0f} |" for name, megabytes in ordered]
        lines += [f"| **all** | **{each['mb']:.0f}** |"]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--size", type=int, default=100_000)
    options.add_argument("--keep", type=Path, help="the folder of pages")
    given = options.parse_args()
    found = {str(given.size): measured(given.size)}
    print(found)
    if given.keep:
        keep(given.keep, "disk", found, goals, page)


if __name__ == "__main__":
    main()
