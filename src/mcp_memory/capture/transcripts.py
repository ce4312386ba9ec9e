"""Reads the transcripts of the clients, each in its own format, tolerant of records it does not know."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from mcp_memory.capture import claude_code, codex, gemini, opencode
from mcp_memory.capture.conversation import Reading, Turn
from mcp_memory.capture.recording import Record, Recorder

Reader = Callable[[Record, Recorder], bool]
"""Passes a record to the recorder. Returns whether the record is known."""

READERS: Mapping[str, Reader] = {
    "claude-code": claude_code.read,
    "codex": codex.read,
    "gemini": gemini.read,
    "opencode": opencode.read,
}


def read_transcript(data: bytes, cursor: int = 0) -> Reading:
    """The turns in the part of a transcript that begins at the cursor; of any of the clients.

    An incomplete last line is left for the next read.
    """
    recorder = Recorder()
    unknown = 0
    for start, record in _records(data, cursor):
        if not any(read(Record(start, record), recorder) for read in READERS.values()):
            unknown += 1
    turns = recorder.turns()
    return Reading(turns=turns, cursor=_next_look(turns, data, cursor), unknown_count=unknown)


def read_messages(messages: Iterable[Any]) -> Reading:
    """The same for a client that hands over its messages, such as OpenCode's plugin."""
    recorder = Recorder()
    known = [opencode.read(Record(0, one), recorder) for one in messages if isinstance(one, dict)]
    return Reading(turns=recorder.turns(), cursor=0, unknown_count=known.count(False))


def _records(data: bytes, cursor: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    start = cursor
    for line in data.splitlines(keepends=True):
        if line.endswith(b"\n"):
            record = _parsed(line)
            if record is not None:
                yield start, record
        start += len(line)


def _parsed(line: bytes) -> Mapping[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _next_look(turns: tuple[Turn, ...], data: bytes, cursor: int) -> int:
    if turns:
        return turns[-1].start
    return cursor + data.rfind(b"\n") + 1
