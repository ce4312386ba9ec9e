"""Fields of values: declared once, in a dataclass, and read from there by every surface.

Of an input (`inputs.py`, `model.Filter`), REST, MCP and the command line take the fields that have a `Help`;
the others are the engine's own. Of an output, the `Help` describes the field in the schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

OptionalText = str | None


class Help(NamedTuple):
    """The help text of a field, for people and assistants."""

    text: str

    def __get_pydantic_json_schema__(self, core: Any, describe: Callable[[Any], Any]) -> Any:
        return {**describe(core), "description": self.text}


class Between(NamedTuple):
    """The least and the greatest value of a number."""

    low: float
    high: float

    def __get_pydantic_core_schema__(self, kind: Any, read: Callable[[Any], Any]) -> Any:
        return {**read(kind), "ge": self.low, "le": self.high}


class Format(NamedTuple):
    """The format of a text, as JSON Schema names it."""

    name: str

    def __get_pydantic_json_schema__(self, core: Any, describe: Callable[[Any], Any]) -> Any:
        return {**describe(core), "format": self.name}


Id = Annotated[str, Format("uuid")]

Share = Annotated[float, Between(0, 1)]
"""From 0 to 1."""


@dataclass(frozen=True, slots=True)
class GivenField:
    """A field that callers may give."""

    name: str
    kind: Any
    default: Any
    """`MISSING` where the field must be given."""
    help: str


@cache
def given_fields(value: type[DataclassInstance]) -> tuple[GivenField, ...]:
    """The fields of a dataclass that have a `Help`, in its order."""
    return tuple(_given_fields(value))


def _given_fields(value: type[DataclassInstance]) -> Iterator[GivenField]:
    hints = get_type_hints(value, include_extras=True)
    for one in fields(value):
        kind = hints[one.name]
        if get_origin(kind) is not Annotated:
            continue
        plain, *notes = get_args(kind)
        helps = [note.text for note in notes if isinstance(note, Help)]
        default = one.default if one.default_factory is MISSING else one.default_factory()
        yield from (GivenField(one.name, plain, default, text) for text in helps)
