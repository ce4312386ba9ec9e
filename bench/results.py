"""What benchmarks found: kept as JSON beside the pages, so that each part can be measured alone."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

Json = dict[str, Any]


@dataclass(frozen=True)
class Goal:
    what: str
    measured: str
    goal: str
    met: bool
    why: str = ""


def timing(milliseconds: Sequence[float]) -> Json:
    ordered = sorted(milliseconds)
    late = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return {
        "count": len(ordered),
        "p50": round(statistics.median(ordered), 2),
        "p95": round(late, 2),
        "worst": round(ordered[-1], 2),
    }


def machine() -> str:
    """Where and when, as a sentence."""
    memory = psutil.virtual_memory().total / 2**30
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GB, {platform.system()}, "
        f"Python {platform.python_version()}, {datetime.now(UTC):%Y-%m-%d}{_circumstances()}."
    )


def _circumstances() -> str:
    """How busy the machine is, and whether this process goes before others."""
    if not hasattr(os, "getloadavg"):
        return ""
    priority = os.getpriority(os.PRIO_PROCESS, 0)
    raised = f", priority {priority}" if priority else ""
    return f", load average {os.getloadavg()[1]:.1f}{raised}"


def found_before(folder: Path, name: str) -> Json:
    """What earlier runs have measured."""
    file = folder / f"{name}.json"
    found: Json = json.loads(file.read_text())["found"] if file.exists() else {}
    return found


def keep(
    folder: Path,
    name: str,
    found: Mapping[str, Any],
    goals: Callable[[Json], list[Goal]],
    page: Callable[[Json], str],
) -> Json:
    """Add the parts that were measured to those of earlier runs, and write the page anew. All parts."""
    file = folder / f"{name}.json"
    known: Json = {**found_before(folder, name), **found}
    kept = {"goals": [asdict(goal) for goal in goals(known)], "found": known}
    file.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / f"{name}.md").write_text(page(known), "utf-8")
    for goal in goals(known):
        print(f"{'met ' if goal.met else 'NOT met'}  {goal.what}: {goal.measured} ({goal.goal})")
    return known
