"""Inputs of REST and MCP, taken from the dataclass that declares their fields with a `Help`.

So a field that callers write or filter by is declared once (`inputs.py`, `model.Filter`), and each surface
only leaves fields out, renames them, or describes them in its own words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pydantic import Field

from mcp_memory.fields import GivenField, given_fields
from mcp_memory.server.shapes.shape import Shape, remade

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound=Shape)
Kinds = Mapping[Any, Any]
"""How a surface reads each type of the domain; other types stay as they are."""


def takes(
    value: type[DataclassInstance],
    kinds: Kinds,
    /,
    *,
    only: str = "",
    without: str = "",
    optional: bool = False,
    **renamed: str,
) -> Callable[[type[S]], type[S]]:
    """Let the decorated shape take the fields of a value that callers may give.

    Fields that the shape declares itself take precedence; its required ones come first. `optional` is for
    changes: fields that are not given are None.
    """
    fields = {one.name: one for one in given_fields(value)}
    names = only.split() or [name for name in fields if name not in without.split()]
    if unknown := {*names, *without.split(), *renamed} - fields.keys():
        raise KeyError(f"{value.__name__} does not take {', '.join(sorted(unknown))}")
    taken = {name: _field(fields[name], kinds, optional, renamed.get(name)) for name in names}

    def declared(cls: type[S]) -> type[S]:
        first = {name: None for name, info in cls.model_fields.items() if info.is_required()}
        return remade(cls, {**first, **taken})

    return declared


def _field(one: GivenField, kinds: Kinds, optional: bool, alias: str | None) -> tuple[Any, Any]:
    kind = _kind(one.kind, kinds)
    default = ... if one.default is MISSING else one.default
    if optional:
        kind, default = kind | None, None
    return kind, Field(default, validation_alias=alias, description=one.help)


def _kind(kind: Any, kinds: Kinds) -> Any:
    if kind in kinds:
        return kinds[kind]
    parts = get_args(kind)
    if type(None) in parts:
        [inner] = (part for part in parts if part is not type(None))
        return kinds.get(inner, inner) | None
    return kind
