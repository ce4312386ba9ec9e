"""Memories and labelled questions, from JSON Lines or from LongMemEval."""

from __future__ import annotations

import json
from collections import Counter
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
    lines = [memory_line(found, where) for found, where in read_lines(folder / memories)]
    if repeated := [id for id, count in Counter(line.id for line in lines).items() if count > 1]:
        raise Invalid(f"{memories} has the id {repeated[0]!r} twice: give every memory an id of its own")
    known = {(line.group, line.id) for line in lines}
    questions = []
    for found, where in read_lines(folder / "queries.jsonl"):
        question = _question(found, where)
        if missing := [id for id in sorted(question.relevant) if (question.group, id) not in known]:
            raise Invalid(
                f"{where}: no memory of the group {question.group!r} has the id {missing[0]!r}; "
                f"`relevant` names ids of {memories}, and `group` must be the same"
            )
        questions.append(question)
    return Dataset(folder.resolve().name, lines, questions)


def read_longmemeval(file: Path, grain: Grain) -> Dataset:
    """LongMemEval's own file; each question has a history of its own, by turn or by session."""
    try:
        return _longmemeval(json.loads(_content(file)), file.stem, grain)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Invalid(
            f"{file.name} is not a file of LongMemEval, a JSON list of questions with their sessions "
            f"({type(error).__name__}: {error})"
        ) from None


def _longmemeval(entries: list[dict[str, Any]], name: str, grain: Grain) -> Dataset:
    memories: list[Line] = []
    questions: list[EvalQuestion] = []
    for entry in entries:
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
    return Dataset(f"{name}, by {grain}", memories, [one for one in questions if one.relevant])


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
    return Line(
        _id(_needed(found, "id", "a memory", where), where),
        _text(_needed(found, "text", "a memory", where), where),
        _group(found, where),
        tuple(_list_of_text(found.get("tags") or [], "tags", where)),
        _checked_moment(found, "created_at", where),
    )


def _question(found: dict[str, Any], where: str) -> EvalQuestion:
    relevant = _needed(found, "relevant", "a question", where)
    if not isinstance(relevant, list) or not relevant:
        raise Invalid(f'{where}: relevant must be a list of ids with at least one, such as ["a1"]')
    return EvalQuestion(
        _text(_needed(found, "text", "a question", where), where),
        frozenset(_id(one, where) for one in relevant),
        _group(found, where),
        str(found.get("category") or ONE_GROUP),
        _checked_moment(found, "as_of", where),
    )


def _needed(found: dict[str, Any], field: str, what: str, where: str) -> Any:
    if field not in found:
        raise Invalid(f"{where}: {what} needs {field!r}; it has {', '.join(found) or 'nothing'}")
    return found[field]


def _id(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise Invalid(f"{where}: an id must be text or a whole number, not {value!r}")
    return str(value)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Invalid(f"{where}: text must be a string that says something, not {value!r}")
    return value


def _group(found: dict[str, Any], where: str) -> str:
    return _id(found["group"], where) if found.get("group") else ONE_GROUP


def _list_of_text(value: Any, field: str, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Invalid(f"{where}: {field} must be a list of strings, not {value!r}")
    return value


def _checked_moment(found: dict[str, Any], field: str, where: str) -> datetime | None:
    value = found.get(field)
    try:
        return _moment(value)
    except (TypeError, ValueError):
        raise Invalid(f"{where}: {field} must be a date such as 2026-03-31, not {value!r}") from None


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
    for number, text in enumerate(_content(file).splitlines(), start=1):
        if text.strip():
            where = f"{file.name}, line {number}"
            try:
                found = json.loads(text)
            except json.JSONDecodeError as error:
                raise Invalid(f"{where} is not JSON: {error}") from None
            if not isinstance(found, dict):
                raise Invalid(f"{where}: each line must be a JSON object, not {text[:40]}")
            yield found, where


def _content(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(f"{file.name} is not UTF-8 (byte {error.start:,}): save it as UTF-8") from None
