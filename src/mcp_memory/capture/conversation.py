"""The values of capture: a conversation as turns, and what is found in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A tool that the assistant used: a shell command, or an edit of a file."""

    command: str
    output: str = ""
    failed: bool = False
    edits: str | None = None
    """The path of the file that the call changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What a person said, and the tools that were used before the person spoke again."""

    id: str
    """As the client names it, else its number."""
    text: str
    calls: tuple[Call, ...] = ()
    reply: str = ""
    """What the assistant said. Nothing of it is ever captured."""
    at: datetime | None = None
    start: int = 0
    """Where the turn begins in the transcript, in bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """The turns of a transcript from a cursor on."""

    turns: tuple[Turn, ...]
    cursor: int
    """Where the next read begins: at the last turn, which may be incomplete."""
    unknown_count: int = 0
    """Lines that no reader knows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A candidate memory, in the words of the conversation."""

    text: str
    type: str
    rule: str
    turn: str
    at: datetime | None = None
    corrects: bool = False
    """Whether it says that something known is wrong."""
