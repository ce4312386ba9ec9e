"""Finds and repairs values that SQLite stores and the program cannot read.

SQLite does not enforce column types. A file that was damaged, or written by another program, may hold an
invalid time or JSON of the wrong shape.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import apsw

from mcp_memory.storage import queries
from mcp_memory.storage.schema import TABLE, TABLES
from mcp_memory.storage.sqlite.connection import microseconds, time_of

_SQL = queries.load("sqlite")
_LISTS = {"tags", "spaces", "before"}


@dataclass(frozen=True, slots=True)
class BadValue:
    table: str
    key: tuple[Any, ...]
    """The row's key."""
    column: str
    is_list: bool
    is_time: bool
    value: Any
    is_number: bool = False

    @property
    def place(self) -> str:
        return f"{self.table} {' '.join(map(str, self.key))} ({self.column})"


def unreadable_rows(connection: apsw.Connection) -> Iterator[BadValue]:
    """Each value that cannot be read, of every table."""
    for table in TABLES:
        declared = dict(connection.execute(_SQL["declared_columns"], {"table": table.name}))
        yield from _wrong_numbers(connection, table.name, table.key, declared)
        wanted = [name for name, kind in declared.items() if kind in ("TIMESTAMPTZ", "JSONB")]
        if not wanted:
            continue
        columns = ", ".join(f'"{name}"' for name in (*table.key, *wanted))
        for row in connection.execute(_SQL["values_to_check"].format(columns=columns, table=table.name)):
            key, values = row[: len(table.key)], row[len(table.key) :]
            for name, value in zip(wanted, values, strict=True):
                is_time = declared[name] == "TIMESTAMPTZ"
                check = _is_time if is_time else _is_json(table.name, name)
                if value is not None and not _reads(check, value):
                    yield BadValue(table.name, key, name, name in _LISTS, is_time, value)


def _wrong_numbers(
    connection: apsw.Connection, table: str, key: Sequence[str], declared: Mapping[str, str]
) -> Iterator[BadValue]:
    """Texts and bytes in a column of numbers; keys and references have checks of their own."""
    for name, kind in declared.items():
        if kind not in ("INTEGER", "REAL") or name in key or name.endswith(("seq", "_id")):
            continue
        wanted = ", ".join(f'"{one}"' for one in (*key, name))
        slots = {"columns": wanted, "table": table, "column": f'"{name}"'}
        for row in connection.execute(_SQL["texts_among_numbers"].format(**slots)):
            yield BadValue(table, row[:-1], name, is_list=False, is_time=False, value=row[-1], is_number=True)


def repair_rows(connection: apsw.Connection) -> int:
    """Replace each by a neutral value, and quarantine affected memories. Returns their number."""
    found = list(unreadable_rows(connection))
    for bad in found:
        columns = TABLE[bad.table].key
        key = dict(zip(columns, bad.key, strict=True))
        slots = {"table": bad.table, "where": " AND ".join(f'"{column}" = :{column}' for column in columns)}
        if "seq" not in columns:
            # Usage or a setting: without a readable value the row is useless.
            connection.execute(_SQL["remove_unreadable_row"].format(**slots), key)
            continue
        replace = _SQL["replace_unreadable_value"].format(**slots, column=f'"{bad.column}"')
        connection.execute(replace, {**key, "value": _neutral(bad)})
        if bad.table == "memory":
            connection.execute(_SQL["quarantine_memory"], {"seq": bad.key[0]})
    return len(found)


def _neutral(bad: BadValue) -> str | int:
    if bad.is_number:
        return 0
    if not bad.is_time:
        return "[]" if bad.is_list else "{}"
    try:
        moment = datetime.fromisoformat(bad.value)
    except (TypeError, ValueError):
        return 0
    return microseconds(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _reads(check: Callable[[Any], bool], value: Any) -> bool:
    try:
        return check(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False


def _is_time(value: Any) -> bool:
    return type(value) is int and time_of(value).tzinfo is not None


def _is_json(table: str, column: str) -> Callable[[Any], bool]:
    wanted = list if column in _LISTS else dict

    def check(value: Any) -> bool:
        return isinstance(json.loads(value), wanted) or table == "answered"

    return check
