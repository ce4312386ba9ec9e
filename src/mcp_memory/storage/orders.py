"""Sort orders of memory lists, and positions in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from mcp_memory.storage.filters import EFFECTIVE_CONFIDENCE

Key = int | float | datetime


@dataclass(frozen=True, slots=True)
class Order:
    """Expressions over `memory o`, the last one unique; all of them ascend, or all descend."""

    keys: Mapping[str, type]
    """By expression: the type of its values."""
    descending: bool = False

    @property
    def sql(self) -> str:
        return ", ".join(f"{key} DESC" if self.descending else key for key in self.keys)

    @property
    def beyond(self) -> str:
        """The condition that a row comes after a place; an index of the order finds it without counting."""
        places = ", ".join(f":key_{number}" for number in range(len(self.keys)))
        return f"({', '.join(self.keys)}) {'<' if self.descending else '>'} ({places})"

    @property
    def columns(self) -> str:
        return ", ".join(f"{key} AS key_{number}" for number, key in enumerate(self.keys))


@dataclass(frozen=True, slots=True)
class ListPosition:
    """The position of a row in a sort order: its keys, as they were when the list was begun."""

    keys: tuple[Key, ...]
    begun_at: datetime
    """Confidence is that of this moment on every page, so that what fades meanwhile keeps its place."""

    @property
    def params(self) -> dict[str, Key]:
        return {f"key_{number}": key for number, key in enumerate(self.keys)}


_NEWEST: Mapping[str, type] = {"o.created_at": datetime, "o.seq": int}

ORDERS: Mapping[str, Order] = {
    "oldest": Order({"o.seq": int}),
    "recent": Order(_NEWEST, descending=True),
    "importance": Order({"o.importance": float, **_NEWEST}, descending=True),
    "most_accessed": Order({"o.access_count": int, **_NEWEST}, descending=True),
    "weakest": Order({EFFECTIVE_CONFIDENCE: float, "o.seq": int}),
}
"""The orders memories can be listed in."""
