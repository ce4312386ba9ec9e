"""Reads the lines of Anthropic's memory server, and counts what an import makes of them."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from mcp_memory.engine.context import checked_note
from mcp_memory.errors import Invalid
from mcp_memory.fields import Help
from mcp_memory.model import GENERIC_TYPE
from mcp_memory.text.graph_lines import EntityLine, RelationLine
from mcp_memory.tuning import Limits

PROBLEMS_TOLD = 20

OBSERVATIONS_AT_ONCE = 100
"""A line with more of them is imported in parts, so that none takes long."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    entities_imported: int
    """Entities that were read, new or known before."""
    relations_imported: int
    """Only the new ones."""
    errors: Annotated[int, Help("Lines that cannot be read.")]
    skipped: Annotated[int, Help("Readable lines with nothing that could be stored.")]
    problems: Annotated[tuple[str, ...], Help("What was wrong with the first of them.")] = ()
    records: Annotated[Mapping[str, int], Help("From a full export: how many of each kind are new.")] = field(
        default_factory=dict
    )
    known: Mapping[str, int] = field(default_factory=dict)
    """How many of each kind were here already."""
    format: str = "anthropic"

    @property
    def is_empty(self) -> bool:
        """The file held nothing usable, neither new nor known."""
        return not self.records and not self.known


@dataclass(slots=True)
class Tally:
    """Counts what an import finds."""

    new: Counter[str] = field(default_factory=Counter)
    total: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    skipped: int = 0
    problems: list[str] = field(default_factory=list)

    def error(self, number: int, why: str) -> None:
        """An unreadable line, which is skipped."""
        self.errors += 1
        self.skip(number, why)

    def skip(self, number: int, why: str) -> None:
        self.skipped += 1
        self._tell(number, why)

    def _tell(self, number: int, why: str) -> None:
        if len(self.problems) < PROBLEMS_TOLD:
            self.problems.append(f"line {number}: {why}")

    def imported(self) -> Imported:
        return Imported(
            entities_imported=self.total["entity"],
            relations_imported=self.new["relation"],
            errors=self.errors,
            skipped=self.skipped,
            problems=tuple(self.problems),
            records=dict(+self.new),
            known=dict(self.total - self.new),
        )


@dataclass(frozen=True, slots=True)
class Part:
    """A line, or a part of one that is long."""

    number: int
    line: EntityLine | RelationLine | None
    """None: nothing that could be kept; the tally has the reason."""
    size: int
    """In bytes."""


def parts(lines: Iterable[bytes], limits: Limits, tally: Tally) -> Iterator[Part]:
    for number, line in enumerate(lines, 1):
        read = _read(number, line, limits, tally)
        if isinstance(read, EntityLine):
            tally.total["entity"] += 1
            tally.total["memory"] += len(read.observations)
            for index, part in enumerate(_divided(read)):
                yield Part(number, part, 0 if index else len(line))
        else:
            yield Part(number, read, len(line))


def _divided(line: EntityLine) -> Iterator[EntityLine]:
    """In short lines; one that says something twice stays whole, because then it is linked twice."""
    texts = line.observations
    if len(texts) <= OBSERVATIONS_AT_ONCE or len(set(texts)) < len(texts):
        yield line
        return
    for start in range(0, len(texts), OBSERVATIONS_AT_ONCE):
        yield replace(line, observations=texts[start : start + OBSERVATIONS_AT_ONCE])


def _read(number: int, line: bytes, limits: Limits, tally: Tally) -> EntityLine | RelationLine | None:
    """The entity or relation in a line; a reason for skipping it goes to the tally."""
    if not line.strip():
        return None
    try:
        value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (ValueError, RecursionError):
        tally.error(number, "this is not JSON")
        return None
    if not isinstance(value, dict):
        tally.error(number, "this is JSON, but not an object")
        return None
    try:
        return _LINES[value["type"]](value, limits)
    except Invalid as error:
        tally.skip(number, str(error))
    except (KeyError, TypeError):
        tally.skip(number, f"type {value.get('type')!r} is neither entity nor relation")
    return None


def _entity(value: dict[str, Any], limits: Limits) -> EntityLine:
    observations = value.get("observations") or []
    if not isinstance(observations, list):
        raise Invalid("observations is not a list")
    type = value.get("entityType") or GENERIC_TYPE
    return EntityLine(
        _text(value.get("name"), "name", limits.name_length),
        _text(type, "entityType", limits.name_length),
        tuple(_observation(text, limits) for text in observations),
    )


def _relation(value: dict[str, Any], limits: Limits) -> RelationLine:
    keys = ("from", "to", "relationType")
    return RelationLine(*(_text(value.get(key), key, limits.name_length) for key in keys))


_LINES: Mapping[str, Callable[[dict[str, Any], Limits], EntityLine | RelationLine]] = {
    "entity": _entity,
    "relation": _relation,
}


def _observation(value: Any, limits: Limits) -> str:
    """As long as a memory may be: the server that wrote the file knows no shorter limit."""
    text = _text(value, "an observation", limits.content_bytes)
    if len(text.encode()) > limits.content_bytes:
        raise Invalid(f"an observation has more than {limits.content_bytes:,} bytes: shorten it")
    return text


def _text(value: Any, what: str, most: int) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{what} is missing or not text")
    return checked_note(value, what, most=most)
