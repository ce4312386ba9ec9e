"""Makes frozen values of rows, quickly."""

from collections.abc import Callable
from dataclasses import make_dataclass
from operator import itemgetter
from typing import Any, TypeVar

from mcp_memory.storage.database import Row

T = TypeVar("T")


def reader_of(kind: type[T], **conversions: Callable[[Any], Any]) -> Callable[[Row], T]:
    """A function that makes values of a frozen dataclass with slots from rows with all of its fields.

    The constructor of a frozen dataclass sets each field by its name through `object.__setattr__`, which
    takes six times as long: a search or a bulk write makes hundreds of memories with thirty fields. So a twin
    with the same slots that is not frozen is filled, and becomes the value.
    """
    names: tuple[str, ...] = kind.__slots__  # type: ignore[attr-defined]
    twin: Any = make_dataclass(kind.__name__, [(name, Any) for name in names], slots=True)
    values = itemgetter(*names)
    converted = tuple(conversions.items())

    def read(row: Row) -> T:
        made = twin(*values(row))
        for name, convert in converted:
            setattr(made, name, convert(getattr(made, name)))
        made.__class__ = kind
        value: T = made
        return value

    return read
