"""The rule for commits and the files they touched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_memory.capture.conversation import Call

_COMMITTED = re.compile(
    r"^\[(?P<branch>[^\]\s]+)(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\] (?P<subject>.+)$",
    re.MULTILINE,
)
_IS_COMMIT = re.compile(r"\bgit\b(?: -\S+(?: \S+)?)* commit\b")
_CREATED = re.compile(r"^ ?(?:create|delete) mode \d+ (.+)$", re.MULTILINE)
_STAT = re.compile(r"^ ?(\S+) +\| +\d+", re.MULTILINE)
_MOST_FILES = 8


def commits(calls: Sequence[Call]) -> Iterator[str]:
    """Each commit that was made: its hash, branch, subject and files.

    >>> list(commits([Call(command="git commit -m x", output="[main 3f9c2d1] Cache prices")]))
    ['Commit 3f9c2d1 on main: Cache prices']
    """
    edited: list[str] = []
    for number, call in enumerate(calls):
        if call.edits:
            edited.append(call.edits)
        found = (
            _COMMITTED.search(call.output) if _IS_COMMIT.search(call.command) and not call.failed else None
        )
        if found:
            shown = "\n".join(
                later.output for later in calls[number + 1 : number + 2] if "--stat" in later.command
            )
            files = dict.fromkeys(
                [*edited, *_CREATED.findall(call.output), *_STAT.findall(f"{call.output}\n{shown}")]
            )
            yield _sentence(found, list(files)[:_MOST_FILES])
            edited = []


def _sentence(found: re.Match[str], files: Sequence[str]) -> str:
    touched = f" ({', '.join(files)})" if files else ""
    return f"Commit {found['hash'][:12]} on {found['branch']}: {found['subject'].strip()}{touched}"
