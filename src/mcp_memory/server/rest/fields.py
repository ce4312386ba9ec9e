"""Kinds of fields that bodies and parameters share, and the part of a list that an answer holds."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from mcp_memory.server.shapes.memories import Memory
from mcp_memory.server.shapes.shape import Shape

Text = Annotated[str, Field(json_schema_extra={"minLength": 1, "pattern": r"\S"})]
"""Some text. The engine refuses blank text, with a clearer message than a pattern could give."""

Flag = Annotated[bool, Field(strict=True)]
"""In a body: true or false, and nothing that could be taken for it."""


def _dated(value: Any) -> Any:
    if isinstance(value, int | float) or (isinstance(value, str) and _NUMBER.fullmatch(value.strip())):
        raise ValueError("a number is no time: write it as in 2026-01-31T12:00:00Z")
    return value


_NUMBER = re.compile(r"[-+]?[\d.]+")
Moment = Annotated[datetime, BeforeValidator(_dated)]
"""Without a time zone it is UTC."""

AsOf = Annotated[
    Moment | None,
    Field(description="Read what was known at this earlier moment; a day alone means its beginning."),
]


class Body(Shape):
    """The body of a request. FastAPI needs it built at once, and warns otherwise."""

    model_config = ConfigDict(defer_build=False)


class Page(Shape):
    """Part of a list."""

    total: int = Field(description="How many there are in all.")
    next: str | None = Field(description="Where the part after this one is; null at the end.")


class MemoryPage(Page):
    items: list[Memory]
