"""Validates every record of an archive, as a create would be, before any is imported.

A file is untrusted input: types, limits, times and numbers are checked field by field, and provenance is
never read from it.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn, get_type_hints

from mcp_memory.engine.context import checked_text, storable
from mcp_memory.engine.drafts import LABEL_LENGTH, MOST_TAGS, checked_metadata
from mcp_memory.errors import Invalid
from mcp_memory.model import CLIENT_LENGTH, GENERIC_KIND, Memory
from mcp_memory.tuning import Limits

Record = Mapping[str, Any]
Check = Callable[[Any, str, Limits], Any]

ID_LENGTH = 100
MOST_COUNT = 2**31 - 1
"""Largest value of a counter column in either database."""

_EVENT_NAME = re.compile(r"[a-z][a-z_]{0,63}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MISSING = object()


def parsed_record(number: int, line: bytes) -> dict[str, Any]:
    """The record in a line. Raises `Invalid`, with the number of the line."""
    try:
        value = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"line {number} is not JSON ({error}): the file is damaged") from error
    if not isinstance(value, dict):
        raise Invalid(f"line {number} is not an object: the file is damaged")
    return value


def checked_record(record: Record, limits: Limits) -> dict[str, Any]:
    """The validated record, without fields that its kind does not have. Raises `Invalid`."""
    kind = record.get("record")
    fields = _FIELDS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        return dict(record)
    checked = {}
    for name, (check, default) in fields.items():
        value = record.get(name, _MISSING)
        if value is _MISSING or (value is None and default is not _REQUIRED):
            if default is _REQUIRED:
                raise Invalid(f"the {kind} has no {name}")
            value = default
        else:
            value = check(value, f"the {name} of the {kind}", limits)
        checked[name] = value
    if kind == "memory" and checked["superseded_by"] == checked["id"]:
        raise Invalid("the memory supersedes itself")
    if checked.get("updated_at", _MISSING) is None:
        checked["updated_at"] = checked["created_at"]
    return {"record": kind, **checked}


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")


def _id(value: Any, what: str, _: Limits) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{what} must be text, not {type(value).__name__}")
    return checked_text(value, what, most=ID_LENGTH)


def _text(most: Callable[[Limits], int]) -> Check:
    def check(value: Any, what: str, limits: Limits) -> str:
        if not isinstance(value, str):
            raise Invalid(f"{what} must be text, not {type(value).__name__}")
        if len(value.encode("utf-8", "surrogatepass")) > most(limits):
            raise Invalid(f"{what} has more than {most(limits):,} bytes")
        return storable(value, what)

    return check


def _filled(check: Check) -> Check:
    def filled(value: Any, what: str, limits: Limits) -> str:
        text: str = check(value, what, limits)
        if not text.strip():
            raise Invalid(f"{what} is empty")
        return text

    return filled


def _one_of(*choices: str) -> Check:
    def check(value: Any, what: str, _: Limits) -> str:
        if value not in choices:
            raise Invalid(f"{what} must be one of {', '.join(choices)}, not {value!r}")
        return str(value)

    return check


def _event_name(value: Any, what: str, _: Limits) -> str:
    if not isinstance(value, str) or not _EVENT_NAME.fullmatch(value):
        raise Invalid(f"{what} must be small letters and underscores")
    return value


def _share(value: Any, what: str, _: Limits) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Invalid(f"{what} must be a number from 0 to 1")
    return float(value)


def _real(value: Any, what: str, _: Limits) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Invalid(f"{what} must be a number")
    return float(value)


def _count(value: Any, what: str, _: Limits) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_COUNT:
        raise Invalid(f"{what} must be a whole number from 0 to {MOST_COUNT:,}")
    return value


def _time(value: Any, what: str, _: Limits) -> str:
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (TypeError, ValueError, OverflowError):
        raise Invalid(f"{what} must be a time such as 2026-03-08T12:00:00+00:00, not {value!r}") from None


def _tags(value: Any, what: str, _: Limits) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise Invalid(f"{what} must be a list of texts")
    if len(value) > MOST_TAGS:
        raise Invalid(f"{what} are more than {MOST_TAGS}")
    return [checked_text(tag, "a tag", most=LABEL_LENGTH) for tag in value]


def _object(value: Any, what: str, limits: Limits) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Invalid(f"{what} must be an object")
    return checked_metadata(value, limits)


def _days(value: Any, what: str, limits: Limits) -> dict[str, int]:
    if not isinstance(value, dict) or not all(_DAY.fullmatch(day) for day in value):
        raise Invalid(f"{what} must be counts by day")
    return {day: _count(count, what, limits) for day, count in value.items()}


def _anything(value: Any, what: str, limits: Limits) -> Any:
    """A state or payload that we wrote ourselves: any JSON of bounded size."""
    return checked_metadata({"": value}, _larger(limits))[""]


def _larger(limits: Limits) -> Limits:
    # A version or event may quote a whole memory, with its metadata.
    return Limits(content_bytes=limits.content_bytes * 8)


_REQUIRED = object()
_Fields = Mapping[str, tuple[Check, Any]]

_label = _filled(_text(lambda _: LABEL_LENGTH * 4))
_name = _filled(_text(lambda limits: limits.name_length * 4))
_content = _filled(_text(lambda limits: limits.content_bytes))
_subject = _text(lambda limits: limits.name_length * 4)
_note = _text(lambda limits: limits.content_bytes)


def _fields(required: Mapping[str, Check], optional: Mapping[str, tuple[Check, Any]]) -> _Fields:
    return {**{name: (check, _REQUIRED) for name, check in required.items()}, **optional}


def _may_be_missing(value: type) -> dict[str, tuple[Check, Any]]:
    """The texts and moments of a value that may be None, each with the check of its type."""
    checks: Mapping[Any, Check] = {str | None: _note, datetime | None: _time}
    return {name: (checks[kind], None) for name, kind in get_type_hints(value).items() if kind in checks}


_FIELDS: Mapping[str, _Fields] = {
    "memory": _fields(
        {"id": _id, "content": _content, "type": _label, "created_at": _time},
        {
            **_may_be_missing(Memory),
            "kind": (_label, GENERIC_KIND), "tags": (_tags, []), "confidence": (_share, 1.0),
            "importance": (_share, 0.5), "metadata": (_object, {}),
            "origin": (_one_of("memory", "observation"), "memory"), "updated_at": (_time, None),
            "access_count": (_count, 0), "version": (_count, 1), "superseded_by": (_id, None),
        },
    ),
    "version": _fields(
        {"memory": _id, "number": _count, "content": _note, "created_at": _time},
        {"state": (_anything, {}), "reason": (_note, "")},
    ),
    "entity": _fields(
        {"id": _id, "name": _name, "type": _name, "created_at": _time},
        {
            "description": (_note, None), "metadata": (_object, {}), "status": (_name, "active"),
            "updated_at": (_time, None),
        },
    ),
    "observation": _fields(
        {"memory": _id, "entity": _id, "created_at": _time}, {"relevance": (_real, 1.0)}
    ),
    "relation": _fields(
        {"id": _id, "source": _id, "target": _id, "type": _name, "created_at": _time},
        {
            "strength": (_share, 0.5), "confidence": (_share, 1.0), "context": (_note, None),
            "metadata": (_object, {}), "updated_at": (_time, None), "ended_at": (_time, None),
        },
    ),
    "association": _fields(
        {"id": _id, "source": _id, "target": _id, "type": _label, "created_at": _time},
        {"weight": (_share, 0.5)},
    ),
    "reflection": _fields(
        {
            "id": _id, "target_type": _one_of("entity", "session", "relation", "global"),
            "content": _content, "created_at": _time,
        },
        {"author": (_name, "unknown"), "mood": (_label, None), "target": (_id, None),
         "target_seq": (_count, None)},
    ),
    "access": _fields(
        {"entity": _id, "access_count": _count, "last_at": _time}, {"days": (_days, {})}
    ),
    "co_occurrence": _fields({"a": _id, "b": _id, "count": _count, "last_at": _time}, {}),
    "event": _fields(
        {"act": _id, "name": _event_name, "subject": _subject, "at": _time},
        {"payload": (_anything, {}), "undone_at": (_time, None),
         "client": (_text(lambda _: CLIENT_LENGTH * 8), "")},
    ),
}  # fmt: skip


def problems(lines: Iterable[tuple[int, bytes]], limits: Limits, most: int) -> list[str]:
    """Problems in the records of a file, line by line, up to a limit."""
    found: list[str] = []
    for number, line in lines:
        if not line.strip():
            continue
        try:
            checked_record(parsed_record(number, line), limits)
        except Invalid as error:
            found.append(str(error) if str(error).startswith("line ") else f"line {number}: {error}")
        if len(found) >= most:
            break
    return found
