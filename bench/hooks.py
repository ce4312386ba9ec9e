"""What a hook costs a prompt, and 1,000 prompts through it while the server is hung, killed and damaged.

python -m bench.hooks [--prompts 1000] [--timed 100]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.test_hooks import FACT, PROMPT, Person

PROGRAM = str(Path(sys.executable).with_name("mcp-memory"))
HOOK = [PROGRAM, "hook", "UserPromptSubmit", "--client", "claude-code"]
NO_OP = [sys.executable, "-c", "import sys; sys.stdin.read()"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time hooks, and try them under faults.")
    parser.add_argument("--prompts", type=int, default=1000)
    parser.add_argument("--timed", type=int, default=100)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hk", ignore_cleanup_errors=True) as folder:
        person = Person(Path(folder))
        person.command("remember", FACT, "--type", "fact")
        person.until_answered()
        report_times(person, chosen.timed)
        report_faults(person, chosen.prompts)
        person.command("stop")


def report_times(person: Person, count: int) -> None:
    """In turns, so that a busy machine disturbs both alike."""
    plain, hooked = [], []
    for number in range(count):
        plain.append(_timed(person, NO_OP, number))
        hooked.append(_timed(person, HOOK, number))
    for name, times in (("a hook that does nothing", plain), ("mcp-memory hook, warm", hooked)):
        ordered = sorted(times)
        print(f"{name}: median {_at(ordered, 0.5):.0f} ms, p95 {_at(ordered, 0.95):.0f} ms")


def _timed(person: Person, command: list[str], number: int) -> float:
    payload = json.dumps({"session_id": f"timed{number}", "cwd": "/", "prompt": PROMPT}).encode()
    began = time.perf_counter()
    subprocess.run(command, input=payload, env=person.environment, capture_output=True, check=False)
    return 1000 * (time.perf_counter() - began)


def _at(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def report_faults(person: Person, count: int) -> None:
    """`Person.hook` asserts that each ends well, soon, and without an error text."""
    chance = random.Random(7)
    answered, stopped = 0, 0
    for number in range(count):
        if stopped and chance.random() < 0.3:
            with contextlib.suppress(ProcessLookupError):
                os.kill(stopped, signal.SIGCONT)
            stopped = 0
        fault = chance.random()
        if not stopped and fault < 0.02:
            stopped = _signalled(person, signal.SIGSTOP)
        elif not stopped and fault < 0.03:
            _signalled(person, signal.SIGKILL)
        answered += person.prompts(f"fault{number}-") != [b""]
    if stopped:
        with contextlib.suppress(ProcessLookupError):
            os.kill(stopped, signal.SIGCONT)
    print(f"{count} prompts under faults: 0 blocked, 0 with an error text, {answered} answered")


def _signalled(person: Person, number: int) -> int:
    try:
        pid = person.server()
        os.kill(pid, number)
    except (ValueError, KeyError, ProcessLookupError):
        return 0
    return pid


if __name__ == "__main__":
    main()
