"""Field types that bodies and parameters share, and the base of pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from mcp_memory.fields import OptionalText, Share
from mcp_memory.server.shapes.inputs import Kinds
from mcp_memory.server.shapes.memories import Memory
from mcp_memory.server.shapes.shape import Shape

Text = Annotated[str, Field(json_schema_extra={"minLength": 1, "pattern": r"\S"})]
"""Text that is not blank. The engine checks it, with a clearer message than a pattern could give."""

Flag = Annotated[bool, Field(strict=True)]
"""In a body: true or false, without coercion from other types."""


def _dated(value: Any) -> Any:
    if isinstance(value, int | float) or (isinstance(value, str) and _NUMBER.fullmatch(value.strip())):
        raise ValueError("a number is not a time: write it as in 2026-01-31T12:00:00Z")
    return value


_NUMBER = re.compile(r"[-+]?[\d.]+")
Moment = Annotated[datetime, BeforeValidator(_dated)]
"""Without a time zone it is UTC."""

AsOf = Annotated[
    Moment | None,
    Field(description="Read what was known at this earlier moment; a day alone means its beginning."),
]


IN_BODY: Kinds = {
    str: Text,
    OptionalText: OptionalText,
    bool: Flag,
    float: Share,
    datetime: Moment,
    tuple[str, ...]: tuple[Text, ...],
    Mapping[str, Any]: dict[str, Any],
}
"""How bodies read the types of the domain."""


class Body(Shape):
    """The body of a request. FastAPI needs it built at once, and warns otherwise."""

    model_config = ConfigDict(defer_build=False)


class Page(Shape):
    """One page of a list."""

    total: int = Field(description="How many there are in all.")
    next: str | None = Field(description="Address of the next page; null at the end.")


class MemoryPage(Page):
    items: list[Memory]
