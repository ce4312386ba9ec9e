"""What a hook costs a prompt, and 1,000 prompts through it under faults of every kind.

python -m bench.hooks [--prompts 1000] [--timed 100]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import sqlite3
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
        if chosen.prompts:
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
    faults = (
        ("the server is stopped and killed at random", _hung_and_killed, 0.4),
        ("another process holds the write lock", _locked, 0.2),
        ("the disk is full", _full, 0.2),
        ("the input is a stranger's", _strange, 0.1),
        ("the database is damaged", _damaged, 0.1),
    )
    for name, under, share in faults:
        number = round(count * share)
        answered = under(person, number)
        print(f"{number} prompts while {name}: 0 blocked, 0 with an error text, {answered} answered")


def _prompted(person: Person, name: str, number: int) -> int:
    """One prompt and one end of a turn; whether the prompt was answered."""
    transcript = person.folder / f"{name}.jsonl"
    said = {"type": "user", "uuid": "1", "message": {"content": f"We never deploy {name} on Fridays."}}
    transcript.write_text(json.dumps(said) + "\n")
    if number % 10 == 0:
        person.hook("Stop", {"session_id": name, "cwd": "/", "transcript_path": str(transcript)})
    return person.prompts(f"{name}{number}-") != [b""]


def _hung_and_killed(person: Person, count: int) -> int:
    chance, answered, stopped = random.Random(7), 0, 0
    for number in range(count):
        if stopped and chance.random() < 0.3:
            _continue(stopped)
            stopped = 0
        fault = chance.random()
        if not stopped and fault < 0.02:
            stopped = _signalled(person, signal.SIGSTOP)
        elif not stopped and fault < 0.03:
            _signalled(person, signal.SIGKILL)
        answered += _prompted(person, "killed", number)
    if stopped:
        _continue(stopped)
    _check(person, "killed")
    return answered


def _continue(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def _locked(person: Person, count: int) -> int:
    """This process is the other one: it begins a write and does not end it."""
    person.until_answered()
    with contextlib.closing(sqlite3.connect(person.folder / "memory.db", timeout=10)) as other:
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        answered = sum(_prompted(person, "locked", number) for number in range(count))
        other.execute("ROLLBACK")
    _check(person, "locked")
    return answered


def _full(person: Person, count: int) -> int:
    """No file of the server may grow: what the system says then is what it says of a full disk."""
    person.until_answered()
    pid = person.server()
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    answered = sum(_prompted(person, "full", number) for number in range(count))
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    _check(person, "full")
    return answered


def _strange(person: Person, count: int) -> int:
    inputs = (
        b"",
        b"{",
        b"\xff\xfe",
        b"[1]",
        b'{"prompt": {}}',
        b'{"transcript_path": "/dev/zero"}',
        b"x" * 10**6,
    )
    person.until_answered()
    for number in range(count):
        person.hook("UserPromptSubmit" if number % 2 else "Stop", raw=inputs[number % len(inputs)])
    return 0


def _damaged(person: Person, count: int) -> int:
    person.command("stop")
    file = person.folder / "memory.db"
    kept = file.read_bytes()
    file.write_bytes(b"this is no database" * 5000)
    answered = sum(_prompted(person, "damaged", number) for number in range(count))
    person.command("stop")
    file.write_bytes(kept)
    return answered


def _check(person: Person, name: str) -> None:
    """What was said under the fault is captured once, at the latest with the next turn's end."""
    wanted = f"We never deploy {name} on Fridays."
    for _ in range(100):
        person.until_answered()
        _prompted(person, name, 0)
        found = [text for text in person.captured() if text == wanted]
        if found:
            break
    assert found == [wanted], f"captured {len(found)} times"


def _signalled(person: Person, number: int) -> int:
    try:
        pid = person.server()
        os.kill(pid, number)
    except (ValueError, KeyError, ProcessLookupError):
        return 0
    return pid


if __name__ == "__main__":
    main()
