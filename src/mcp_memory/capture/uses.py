"""Detects whether an injected memory was used: cited, or acted upon."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mcp_memory.capture.conversation import Call, Turn  # noqa: F401 Call: for the example

_CODE = re.compile(r"`([^`\n]{3,80})`")
_SPECIFIC = re.compile(r"[\w@./:+-]*(?:\d|[_@/.:-]\w)[\w@./:+-]*")
_SHORTEST = 4


def is_used(memory: str, id: str, turns: Iterable[Turn]) -> bool:
    """Whether a reply cites the memory's id, or a command does what it says and the person had not.

    >>> ran = Turn(id="1", text="build it", calls=(Call(command="npm run build --workspace shop"),))
    >>> is_used("Build with `npm run build --workspace shop`.", "0193", [ran])
    True
    >>> is_used("We like tea.", "0193", [ran])
    False
    """
    telling = specifics(memory)
    return any(_cites(id, turn) or _does(telling, turn) for turn in turns)


def specifics(memory: str) -> set[str]:
    """Distinctive parts of a memory: code, names with digits or dots, paths."""
    words = {word.strip(".:-") for word in _SPECIFIC.findall(memory)}
    return {piece for piece in {*_CODE.findall(memory), *words} if len(piece) >= _SHORTEST}


def _cites(id: str, turn: Turn) -> bool:
    return len(id) > _SHORTEST and (id in turn.reply or any(id in call.command for call in turn.calls))


def _does(telling: set[str], turn: Turn) -> bool:
    done = "\n".join(call.command for call in turn.calls if not call.failed)
    return any(piece in done and piece not in turn.text for piece in telling)
