"""Finds and repairs values that SQLite stores and the program cannot read.

SQLite keeps whatever it is given, whatever a column's type says. A file that was written by another program,
or damaged, may hold a time that is none or JSON of the wrong shape.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import apsw

from mcp_memory.storage.schema import TABLES

_LISTS = {"tags", "spaces", "before"}
_EPOCH = "1970-01-01T00:00:00.000000+00:00"


@dataclass(frozen=True, slots=True)
class BadValue:
    table: str
    seq: int
    column: str
    is_list: bool
    is_time: bool


def unreadable_rows(connection: apsw.Connection) -> Iterator[BadValue]:
    """Each value that cannot be read, of every table whose rows are numbered."""
    for table in TABLES:
        declared = {row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({table.name})")}
        wanted = [name for name, kind in declared.items() if kind in ("TIMESTAMPTZ", "JSONB")]
        if "seq" not in declared or not wanted:
            continue
        columns = ", ".join(f'"{name}"' for name in wanted)
        for seq, *values in connection.execute(f"SELECT seq, {columns} FROM {table.name}"):
            for name, value in zip(wanted, values, strict=True):
                is_time = declared[name] == "TIMESTAMPTZ"
                check = _is_time if is_time else _is_json(name)
                if value is not None and not _reads(check, value):
                    yield BadValue(table.name, seq, name, name in _LISTS, is_time)


def repair_rows(connection: apsw.Connection) -> int:
    """Put a neutral value in the place of each. Memories among them are quarantined. How many there were."""
    found = list(unreadable_rows(connection))
    for bad in found:
        value = _EPOCH if bad.is_time else ("[]" if bad.is_list else "{}")
        connection.execute(f'UPDATE {bad.table} SET "{bad.column}" = ? WHERE seq = ?', (value, bad.seq))
        if bad.table == "memory":
            connection.execute(
                "UPDATE memory SET quarantined_at = coalesce(quarantined_at, created_at) WHERE seq = ?",
                (bad.seq,),
            )
    return len(found)


def _reads(check: Callable[[Any], bool], value: Any) -> bool:
    try:
        return check(value)
    except (TypeError, ValueError, RecursionError):
        return False


def _is_time(value: Any) -> bool:
    return datetime.fromisoformat(value).tzinfo is not None


def _is_json(column: str) -> Callable[[Any], bool]:
    wanted = list if column in _LISTS else dict

    def check(value: Any) -> bool:
        return isinstance(json.loads(value), wanted)

    return check
