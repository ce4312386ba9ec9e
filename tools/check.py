"""Runs the steps of `make check`, as many at once as there are cores, and prints each one's output whole.

python tools/check.py            every step
python tools/check.py types      only the steps named
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent

# The longest first, so that the short ones fill the gaps.
STEPS = {
    "types": ["mypy"],
    "unit tests": ["python", "-m", "pytest", "-q", "-n", "auto", "tests/unit"],
    "documents": ["python", "tools/docs.py", "--check"],
    "layers": ["lint-imports"],
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "release": ["python", "tools/release.py"],
}


class Outcome(NamedTuple):
    step: str
    failed: bool
    seconds: float
    output: str


def run(step: str) -> Outcome:
    program, *arguments = STEPS[step]
    begun = time.monotonic()
    done = subprocess.run(
        [str(BIN / program), *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = done.stdout.decode(errors="replace").strip()
    return Outcome(step, done.returncode != 0, time.monotonic() - begun, output)


def shown(done: Future[Outcome]) -> Outcome:
    """Print everything of a step that failed, and the last line of one that passed."""
    outcome = done.result()
    verdict = "FAILED" if outcome.failed else "passed"
    lines = outcome.output.splitlines()
    print(f"{verdict}  {outcome.step} ({outcome.seconds:.0f} s)" + (f": {lines[-1]}" if lines else ""))
    if outcome.failed:
        print(outcome.output)
    sys.stdout.flush()
    return outcome


def main(wanted: Sequence[str]) -> int:
    if unknown := [step for step in wanted if step not in STEPS]:
        print(f"no step is called {unknown[0]!r}; there are {', '.join(STEPS)}", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(run, step) for step in STEPS if not wanted or step in wanted]
        failed = [outcome.step for outcome in map(shown, as_completed(running)) if outcome.failed]
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
