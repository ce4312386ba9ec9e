"""Values as JSON can hold them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Any


def plain(value: Any) -> Any:
    """Texts, numbers, lists and objects; a time is ISO 8601 with its offset."""
    if isinstance(value, datetime):
        return value.isoformat()
    # A shape, asked this way so that nobody has to load pydantic who has none.
    if dump := getattr(value, "model_dump", None):
        return plain(dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value
