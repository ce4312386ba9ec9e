"""One transaction on an apsw connection, and how values are stored."""

import json
from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from types import NoneType
from typing import Any

import apsw

from mcp_memory.storage.database import Params, Row, insert_sql

APPLICATION_ID = 0x6D656D31
""""mem1" in the file header: other programs' databases are refused."""

_NO_PARAMS: Params = {}
_Values = tuple[tuple[Any, ...], ...]
_STORED_AS_IS = frozenset({str, int, float, bytes, NoneType})
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class SqliteConnection:
    def __init__(self, raw: apsw.Connection) -> None:
        self.raw = raw
        self.seen: dict[Hashable, Any] = {}
        """Derived from the snapshot by what searches it; valid until the transaction writes."""
        self._changes_before = raw.total_changes()

    @property
    def has_written(self) -> bool:
        """Whether the transaction has changes that nobody else sees, and that may be taken back."""
        return self.raw.total_changes() != self._changes_before

    def run(self, sql: str, params: Params = _NO_PARAMS) -> list[Row]:
        cursor = self.raw.execute(sql, _bound(params))
        first = next(cursor, None)
        if first is None:
            return []
        return _row_reader(cursor.get_description())((first, *cursor))

    def change(self, sql: str, params: Params = _NO_PARAMS) -> int:
        before = self.raw.total_changes()
        self.raw.execute(sql, _bound(params))
        return self.raw.total_changes() - before

    def change_many(self, sql: str, rows: Sequence[Params]) -> None:
        self.raw.executemany(sql, map(_bound, rows))

    def insert_all(self, table: str, columns: Sequence[str], rows: Sequence[Params]) -> None:
        self.change_many(insert_sql(table, columns), rows)

    def insert_numbered(self, table: str, columns: Sequence[str], rows: Sequence[Params]) -> list[int]:
        numbering = f"{insert_sql(table, columns)} RETURNING seq"
        return [seq for (seq,) in self.raw.executemany(numbering, map(_bound, rows))]


def _bound(params: Params) -> dict[str, Any]:
    # Hot path: every written value passes here, and most need no conversion.
    return {name: value if type(value) in _STORED_AS_IS else _stored(value) for name, value in params.items()}


def _stored(value: Any) -> Any:
    if isinstance(value, datetime):
        return _time_text(value)
    if isinstance(value, str | int | float | bytes):  # a subclass, such as an enumeration
        return value
    if not value:
        return "[]" if isinstance(value, list | tuple) else "{}"
    return _to_json(value)


@lru_cache(maxsize=256)
def _time_text(value: datetime) -> str:
    """Fixed width, so that text order is time order. Rows of one transaction share their times."""
    return value.astimezone(UTC).isoformat(timespec="microseconds")


@lru_cache(maxsize=1000)
def _row_reader(description: tuple[tuple[str, str | None], ...]) -> Callable[[_Values], list[Row]]:
    """Converts rows with these columns, by their declared types."""
    names = tuple(name for name, _ in description)
    converters = tuple(
        (name, _CONVERTERS[declared]) for name, declared in description if declared in _CONVERTERS
    )

    def read(rows: _Values) -> list[Row]:
        # Hot path: every value that is read passes here. Hence no `strict`, and all rows at once.
        found = [dict(zip(names, values)) for values in rows]  # noqa: B905
        for name, convert in converters:
            for row in found:
                if (value := row[name]) is not None:
                    row[name] = convert(value)
        return found

    return read


def _from_json(text: str) -> Any:
    # Fast path: most are empty.
    if text == "{}":
        return {}
    return [] if text == "[]" else json.loads(text)


@lru_cache(maxsize=1000)
def _time(text: str) -> datetime:
    """Cached: rows of one transaction share their times."""
    return datetime.fromisoformat(text)


_CONVERTERS: dict[str | None, Callable[[Any], Any]] = {
    "TIMESTAMPTZ": _time,
    "JSONB": _from_json,
}
