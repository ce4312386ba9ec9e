"""Fields that callers may give: declared once, in a dataclass, and read from there by every surface.

A field with a `Help` is taken by REST, MCP and the command line; one without is the engine's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

OptionalText = str | None


@dataclass(frozen=True, slots=True)
class Help:
    """The help text of a field, for people and assistants."""

    text: str


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
