"""The base of every shape: read from domain values by attribute, and drawn from for other vocabularies.

A field has the name of the attribute it is read from; where the wire has another name, that is its
serialization alias. So nothing is copied field by field, and `tests/unit/test_shapes.py` can compare the
fields of a value with those of its shapes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from operator import attrgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar, cast, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
    model_validator,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

CARRIED = ("memory", "node", "entity", "reflection", "match")
"""Attributes whose value is read as part of the value that has it: a hit is its memory and a score."""

S = TypeVar("S", bound="Shape")
D = TypeVar("D", bound="DataclassInstance")

Rounded = Annotated[float, AfterValidator(partial(round, ndigits=4))]
"""Rounded for a model, for which every digit costs tokens."""

Record = Annotated[dict[str, Any], BeforeValidator(lambda value: _record(value))]
"""A mapping, or a dataclass read as one."""


def omitted(name: str | None = None) -> Any:
    """A field that is left out when empty; `name` is its name on the wire."""
    return Field(None, exclude_if=lambda value: value in (None, "", []), serialization_alias=name)


OnlyIfTrue = Annotated[bool, Field(exclude_if=lambda value: not value)]
"""A flag that is left out when false."""


class Shape(BaseModel):
    """Base of inputs and outputs. Unknown fields are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid", from_attributes=True, serialize_by_alias=True, defer_build=True)

    @classmethod
    def of(cls, *values: object, **more: Any) -> Self:
        """The shape of these values together; `more` adds fields that none of them has."""
        if len(values) == 1 and not more and _has_attributes(values[0]):
            return cls.model_validate(values[0])  # as where it is part of another shape
        given = (SimpleNamespace(**more), *values) if more else values
        return cls.model_validate(_Reading(*given))

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        # A value that carries no other is read as it is.
        return _joined(cls, value) if _has_attributes(value) and _carried(value) else value

    def fill(self, kind: type[D], **more: Any) -> D:
        """A domain value of this kind from the fields that both have; `more` overrides and adds."""
        names, read = _shared(type(self), kind)
        return kind(**{**dict(zip(names, read(self), strict=True)), **more})

    def values(self, kind: type[DataclassInstance] | None = None) -> dict[str, Any]:
        """The fields as keyword arguments of a use case; `kind`: only those that this dataclass has."""
        wanted = type(self).model_fields if kind is None else {one.name for one in dataclasses.fields(kind)}
        return {name: getattr(self, name) for name in type(self).model_fields if name in wanted}

    def given(self) -> dict[str, Any]:
        """The fields that the caller gave, by their names in the domain."""
        return {name: getattr(self, name) for name in self.model_fields_set}


@cache
def _shared(
    shape: type[Shape], kind: type[DataclassInstance]
) -> tuple[tuple[str, ...], Callable[[Shape], Iterable[Any]]]:
    """The fields that both have, and what reads their values."""
    declared = {field.name for field in dataclasses.fields(kind)}
    names = tuple(name for name in shape.model_fields if name in declared)
    if len(names) > 1:
        return names, attrgetter(*names)  # which returns a tuple only of several
    return names, lambda given: [getattr(given, name) for name in names]


def drawn(
    source: type[Shape | DataclassInstance], /, *, only: str = "", without: str = "", **renamed: str
) -> Callable[[type[S]], type[S]]:
    """Begin the decorated shape with fields of a value or of another shape, under other names where given.

    This is what makes a vocabulary: the same value with fewer fields, or other words for them. Names are
    those of the domain; a field that is not renamed keeps the name it has on the wire.
    """
    offered = _shape_fields(source) if issubclass(source, Shape) else _value_fields(source)
    names = only.split() or [name for name in offered if name not in without.split()]
    if unknown := {*names, *without.split(), *renamed} - offered.keys():
        raise KeyError(f"{source.__name__} has no {', '.join(sorted(unknown))}")

    def declared(cls: type[S]) -> type[S]:
        taken = {name: offered[name] for name in names}
        for name in renamed.keys() & taken.keys():
            kind, info = taken[name]
            taken[name] = (Annotated[kind, info], Field(serialization_alias=renamed[name]))
        return remade(cls, taken)

    return declared


def _shape_fields(source: type[Shape]) -> dict[str, tuple[Any, Any]]:
    return {name: (info.annotation, info) for name, info in source.model_fields.items()}


def _value_fields(source: type[DataclassInstance]) -> dict[str, tuple[Any, Any]]:
    """The fields of a dataclass, all of which are always there."""
    hints = get_type_hints(source, include_extras=True)
    return {one.name: (hints[one.name], Field()) for one in dataclasses.fields(source)}


def remade(cls: type[S], fields: Mapping[str, Any]) -> type[S]:
    """The shape with these fields before its own, which take precedence."""
    own = {name: (info.annotation, info) for name, info in cls.model_fields.items()}
    names: dict[str, Any] = {"__module__": cls.__module__, "__doc__": cls.__doc__}
    made: Any = create_model(cls.__name__, __base__=cls.__base__, **names, **{**fields, **own})
    return cast("type[S]", made)


def _joined(shape: type[Shape], value: object) -> object:
    """A value and what it carries as one."""
    parts = list(_with_carried(value))
    places = _places(shape, *map(type, parts))
    if places is None:
        return _Reading(value)
    return {name: getattr(parts[place], name) for name, place in places}


@cache
def _places(shape: type[Shape], *kinds: type) -> tuple[tuple[str, int], ...] | None:
    """For each field the first of these types that has it; None if that differs from value to value."""
    if any(info.validation_alias is not None for info in shape.model_fields.values()):
        return None
    declared = [_attributes(kind) for kind in kinds]
    found = (
        (name, next((place for place, names in enumerate(declared) if name in names), None))
        for name in shape.model_fields
    )
    return tuple((name, place) for name, place in found if place is not None)


_NOTHING = object()


class _Reading:
    """Several values as one: an attribute comes from the first value that has it."""

    __slots__ = ("_values",)

    def __init__(self, *values: object) -> None:
        self._values = [part for value in values for part in _with_carried(value)]

    def __getattr__(self, name: str) -> Any:
        for value in self._values:
            if (found := getattr(value, name, _NOTHING)) is not _NOTHING:
                return found
        raise AttributeError(name)


def _with_carried(value: object) -> Iterator[object]:
    yield value
    for name in _carried(value):
        carried = getattr(value, name, None)
        if _has_attributes(carried):
            yield from _with_carried(carried)


def _carried(value: object) -> tuple[str, ...]:
    return _carried_by(type(value))  # type: ignore[arg-type]  # mypy doubts that types can be hashed


@cache
def _carried_by(kind: type) -> tuple[str, ...]:
    """The carried attributes that values of this type may have: looking for each in vain takes time."""
    return (
        tuple(name for name in CARRIED if name in _attributes(kind))
        if _is_read_by_attribute(kind)
        else CARRIED
    )


@cache
def _attributes(kind: type) -> frozenset[str]:
    """The names of what all values of a dataclass or named tuple have."""
    return frozenset(
        name for each in kind.__mro__ for name in (*vars(each), *getattr(each, "__annotations__", ()))
    )


def _has_attributes(value: object) -> bool:
    """Whether it is a dataclass or a named tuple, and not what a client sent."""
    return _is_read_by_attribute(type(value))  # type: ignore[arg-type]  # as above


@cache
def _is_read_by_attribute(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")


def _record(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value
