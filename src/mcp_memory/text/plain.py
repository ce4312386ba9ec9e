"""Converts values to JSON types."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date
from typing import Any

_PLAIN = frozenset({str, int, float, bool})


def plain(value: Any) -> Any:
    """Texts, numbers, lists and objects; a time is ISO 8601 with its offset, a day without."""
    kind = type(value)
    if value is None or kind in _PLAIN:  # most are
        return value
    # Asked by their type first, which is quicker than whether it is one of several.
    if kind is dict or isinstance(value, Mapping):
        return {str(key): item if type(item) in _PLAIN else plain(item) for key, item in value.items()}
    if kind is list or isinstance(value, tuple | set | frozenset | list):
        return [item if type(item) in _PLAIN else plain(item) for item in value]
    if isinstance(value, date):  # or a datetime
        return value.isoformat()
    # A shape, recognised without importing pydantic.
    if dump := getattr(value, "model_dump", None):
        return plain(dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value
