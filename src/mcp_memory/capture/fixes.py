"""The rule for a command that failed, and what made it pass."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from mcp_memory.capture.conversation import Call

_LOOKS = re.compile(
    r"^(?:cd \S+ && )?(?:ls|cat|head|tail|grep|rg|find|which|whereis|type|test|\[|du|df|stat|file|wc"
    r"|echo|pwd|cd|diff|tree|less|ps|env|man|curl -I|"
    r"git (?:status|log|diff|show|branch|stash list|remote|rev-parse|blame)|\S+ (?:--?v(?:ersion?)?"
    r"|--?h(?:elp)?))\b"
)
_TELLS = re.compile(
    r"error|fail|not found|cannot|can't|could not|unable|denied|refused|rejected|exception|no such"
    r"|missing|invalid|already|lock|undefined|unresolved",
    re.I,
)
_REACH = 12
"""Most calls between a failure and its fix; beyond, the two are hardly related."""

_MOST_STEPS = 4
LINE = 200


def fixes(calls: Sequence[Call]) -> Iterator[str]:
    """For each command that failed and later passed: what failed, how, and what was done in between.

    >>> failed = Call(command="pytest -q", output="E  No module named 'yaml'", failed=True)
    >>> list(fixes([failed, Call(command="pip install pyyaml"), Call(command="pytest -q")]))
    ["`pytest -q` failed: No module named 'yaml'. What helped: `pip install pyyaml`"]
    >>> list(fixes([failed, Call(command="pytest -q")]))
    []
    """
    told: set[str] = set()
    for number, failure in enumerate(calls):
        if not failure.failed or failure.edits or _LOOKS.match(failure.command) or failure.command in told:
            continue
        steps = _remedy(failure, calls[number + 1 : number + 1 + _REACH])
        if steps:
            told.add(failure.command)
            yield _sentence(failure, steps)


def _remedy(failure: Call, later: Sequence[Call]) -> list[str]:
    """The steps until the command passed, including its own change; empty if it never passed."""
    for number, call in enumerate(later):
        if call.failed or call.edits or _program(call.command) != _program(failure.command):
            continue
        between = [step for step in later[:number] if not step.failed and not _LOOKS.match(step.command)]
        steps = [f"edit {step.edits}" if step.edits else _one_line(step.command) for step in between]
        if call.command != failure.command:
            steps.append(_one_line(call.command))
        return list(dict.fromkeys(steps))[-_MOST_STEPS:]
    return []


def _program(command: str) -> tuple[str, ...]:
    """The program and subcommand of a command line, without setup before it."""
    last = re.split(r"&&|;|\|\|", command)[-1].strip()
    try:
        words = shlex.split(last)
    except ValueError:
        words = last.split()
    while words and (
        "=" in words[0] or words[0] in ("sudo", "env", "time", "timeout", "npx", "uv", "poetry", "run")
    ):
        words = words[1:]
    named = [word for word in words[:2] if not word.startswith("-") and "/" not in word.removeprefix("./")]
    return tuple(named or words[:1])


def _sentence(failure: Call, steps: Sequence[str]) -> str:
    helped = ", then ".join(f"`{step}`" for step in steps)
    complaint = error_line(failure.output)
    how = f" failed: {complaint}" if complaint else " failed"
    return f"`{_one_line(failure.command)}`{how}. What helped: {helped}"


def error_line(output: str) -> str:
    """The line of an output with the error."""
    lines = [
        re.sub(r"^(?:E\s{2,}|npm ERR!\s*|>\s*)", "", line).strip(" .")
        for line in output.splitlines()
        if line.strip()
    ]
    telling = [line for line in lines if _TELLS.search(line)]
    return (telling or lines or [""])[-1 if not telling else 0][:LINE]


def _one_line(command: str) -> str:
    return " ".join(command.split())[:LINE]
