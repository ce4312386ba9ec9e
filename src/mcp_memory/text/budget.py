"""Cuts answers to a token budget."""

from __future__ import annotations

import json
from typing import Any

CHARACTERS_PER_TOKEN = 4
"""Characters of compact JSON per token. Common tokenizers average 4.4 on tool calls, so this is cautious."""

CUT = "…"

SHORT = 120
"""Characters of a part that is never cut: an id, a date, a few numbers."""


def tokens(value: Any) -> int:
    """About how many tokens a value takes as JSON."""
    return -(-_size(value) // CHARACTERS_PER_TOKEN)


def within(answer: dict[str, Any], limit: int) -> dict[str, Any]:
    """The answer, or its first part that fits the limit, with `truncated`."""
    room = limit * CHARACTERS_PER_TOKEN
    if _size(answer) <= room:
        return answer
    cut = _cut_object({**answer, "truncated": True}, room)
    # Even with no room left, an answer keeps its shape: clients validate it against a schema.
    return cut or {**{name: _emptied(part) for name, part in answer.items()}, "truncated": True}


def _emptied(part: Any) -> Any:
    return type(part)() if isinstance(part, list | str) else part


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _cut(value: Any, room: int) -> Any:
    """The value cut to the budget; None if nothing useful fits."""
    if _size(value) <= room:
        return value
    if room < len("[]"):
        return None
    if isinstance(value, str):
        return _cut_text(value, room) if room > 20 else None
    if isinstance(value, list):
        return _cut_list(value, room)
    return _cut_object(value, room) if isinstance(value, dict) else None


def _cut_text(text: str, room: int) -> str:
    kept = text[:room]
    # JSON escapes some characters with several.
    while _size(kept + CUT) > room:
        kept = kept[: max(0, len(kept) - (_size(kept + CUT) - room + 5) // 6)]
    return kept.rstrip() + CUT


def _cut_list(items: list[Any], room: int) -> list[Any]:
    kept = []
    room -= len("[]")
    for item in items:
        room -= len(",")
        part = _cut(item, room)
        if part is not None:
            kept.append(part)
            room -= _size(part)
        if part != item:
            break
    return kept


def _cut_object(value: dict[str, Any], room: int) -> dict[str, Any] | None:
    """Short parts stay; texts and lists share the remaining room, in order."""
    long = {name for name, part in value.items() if isinstance(part, list) or _size(part) > SHORT}
    room -= len("{}") + sum(
        _size(name) + len(":,") + (2 if name in long else _size(part)) for name, part in value.items()
    )
    if room < 0:
        return None
    kept = {}
    for name, part in value.items():
        if name in long:
            part = _cut(part, room + 2)
            part = part if part is not None else ("" if isinstance(value[name], str) else type(value[name])())
            room -= max(0, _size(part) - 2)
        kept[name] = part
    return kept
