"""Builds a conversation from the records of a transcript."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from mcp_memory.capture.conversation import Call, Turn

LONGEST_OUTPUT = 4000
"""Characters of a tool's output that are read: its beginning and its end."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a transcript, and where it begins."""

    start: int
    value: Mapping[str, Any]


@dataclass(slots=True)
class _Open:
    id: str
    text: str
    at: datetime | None
    start: int
    calls: dict[str, Call] = field(default_factory=dict)
    replies: list[str] = field(default_factory=list)

    def closed(self) -> Turn:
        return Turn(
            id=self.id,
            text=self.text,
            calls=tuple(self.calls.values()),
            reply="\n".join(self.replies),
            at=self.at,
            start=self.start,
        )


class Recorder:
    """Collects what people said and which tools were used, in order."""

    def __init__(self) -> None:
        self._turns: dict[str, _Open] = {}

    def say(self, text: str, *, id: str, at: Any, start: int) -> None:
        """A person speaks: a turn begins. A repeated id replaces what was said."""
        if not text.strip():
            return
        known = self._turns.get(id)
        if known is not None:
            known.text = text
        else:
            self._turns[id] = _Open(id, text, time_of(at), start)

    def reply(self, text: str) -> None:
        """The assistant speaks."""
        if text and self._turns:
            next(reversed(self._turns.values())).replies.append(_shortened(text))

    def use(self, id: str, command: str, *, edits: str | None = None, start: int = 0) -> None:
        """The assistant uses a tool."""
        self._current(start).calls[id] = Call(command=command, edits=edits)

    def answer(self, id: str, output: str, *, failed: bool) -> None:
        """A tool answers."""
        for turn in reversed(self._turns.values()):
            call = turn.calls.get(id)
            if call is not None:
                turn.calls[id] = Call(
                    command=call.command, output=_shortened(output), failed=failed, edits=call.edits
                )
                return

    def turns(self) -> tuple[Turn, ...]:
        return tuple(turn.closed() for turn in self._turns.values())

    def _current(self, start: int) -> _Open:
        if not self._turns:  # reading began in the middle of a turn
            self._turns[""] = _Open("", "", None, start)
        return next(reversed(self._turns.values()))


def _shortened(output: str) -> str:
    if len(output) <= LONGEST_OUTPUT:
        return output
    return f"{output[: LONGEST_OUTPUT // 2]}\n{output[-LONGEST_OUTPUT // 2 :]}"


def time_of(value: Any) -> datetime | None:
    """A time as ISO text or as milliseconds since 1970; None if it is neither."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
        at = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except (ValueError, OverflowError, OSError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def text_of(content: Any, *, kinds: tuple[str, ...] = ("text", "input_text", "output_text")) -> str:
    """The text in a message's content: plain, or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [one for one in content if isinstance(one, dict) and one.get("type", "text") in kinds]
    return "\n".join(str(one["text"]) for one in parts if isinstance(one.get("text"), str))


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
