"""Memories and labelled questions, from JSON Lines or from LongMemEval."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from mcp_memory.errors import Invalid

Grain = Literal["turn", "session"]

ONE_GROUP = "all"


@dataclass(frozen=True, slots=True)
class Line:
    """One memory."""

    id: str
    text: str
    group: str = ONE_GROUP
    tags: tuple[str, ...] = ()
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question, and the memories that answer it."""

    text: str
    relevant: frozenset[str]
    group: str = ONE_GROUP
    category: str = ONE_GROUP
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    memories: Sequence[Line]
    questions: Sequence[EvalQuestion]


def read_folder(folder: Path, memories: str = "memories.jsonl") -> Dataset:
    """`memories.jsonl` and `queries.jsonl`; docs/quality.md has the fields."""
    return Dataset(
        folder.name,
        [memory_line(found, where) for found, where in read_lines(folder / memories)],
        [_question(found, where) for found, where in read_lines(folder / "queries.jsonl")],
    )


def read_longmemeval(file: Path, grain: Grain) -> Dataset:
    """LongMemEval's own file; each question has a history of its own, by turn or by session."""
    memories: list[Line] = []
    questions: list[EvalQuestion] = []
    for entry in json.loads(file.read_text("utf-8")):
        group = str(entry["question_id"])
        lines = list(_sessions(entry, group) if grain == "session" else _turns(entry, group))
        memories += [line for line, _ in lines]
        questions.append(
            EvalQuestion(
                entry["question"],
                frozenset(line.id for line, answers in lines if answers),
                group,
                entry.get("question_type", ONE_GROUP),
                _moment(entry.get("question_date")),
            )
        )
    return Dataset(f"{file.stem}, by {grain}", memories, [one for one in questions if one.relevant])


def _sessions(entry: dict[str, Any], group: str) -> Iterator[tuple[Line, bool]]:
    for id, at, turns in _haystack(entry):
        said = "\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)
        line = Line(f"{group}/{id}", said, group, (f"session:{id}",), at)
        yield line, id in entry["answer_session_ids"]


def _turns(entry: dict[str, Any], group: str) -> Iterator[tuple[Line, bool]]:
    for id, at, turns in _haystack(entry):
        for number, turn in enumerate(turns):
            text = f"{turn['role']}: {turn['content']}"
            line = Line(f"{group}/{id}/{number}", text, group, (f"session:{id}",), at)
            yield line, bool(turn.get("has_answer"))


def _haystack(entry: dict[str, Any]) -> Iterator[tuple[str, datetime | None, list[dict[str, Any]]]]:
    dates = entry.get("haystack_dates") or [None] * len(entry["haystack_sessions"])
    ids = entry["haystack_session_ids"]
    for id, date, turns in zip(ids, dates, entry["haystack_sessions"], strict=True):
        yield id, _moment(date), turns


def memory_line(found: dict[str, Any], where: str) -> Line:
    try:
        return Line(
            str(found["id"]),
            found["text"],
            found.get("group") or ONE_GROUP,
            tuple(found.get("tags") or ()),
            _moment(found.get("created_at")),
        )
    except KeyError as missing:
        raise Invalid(f"{where}: a memory needs {missing}; it has {', '.join(found)}") from None


def _question(found: dict[str, Any], where: str) -> EvalQuestion:
    try:
        return EvalQuestion(
            found["text"],
            frozenset(map(str, found["relevant"])),
            found.get("group") or ONE_GROUP,
            found.get("category") or ONE_GROUP,
            _moment(found.get("as_of")),
        )
    except KeyError as missing:
        raise Invalid(f"{where}: a question needs {missing}; it has {', '.join(found)}") from None


def _moment(text: str | None) -> datetime | None:
    """ISO 8601, or LongMemEval's `2023/05/20 (Sat) 02:21`."""
    if not text:
        return None
    if "/" in text:
        day, _, clock = text.partition(" ")
        text = f"{day.replace('/', '-')}T{clock.rpartition(' ')[2] or '00:00'}"
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def read_lines(file: Path) -> Iterator[tuple[dict[str, Any], str]]:
    if not file.is_file():
        raise Invalid(f"{file} is missing: give a folder with memories.jsonl and queries.jsonl")
    for number, text in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if text.strip():
            try:
                yield json.loads(text), f"{file.name}, line {number}"
            except json.JSONDecodeError as error:
                raise Invalid(f"{file.name}, line {number} is not JSON: {error}") from None
