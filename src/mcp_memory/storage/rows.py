"""Writes rows and remembers what they were, so that any act can be taken back."""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from mcp_memory.storage.database import Connection, Row
from mcp_memory.storage.schema import COLUMNS, VOLATILE, is_time

Image = dict[str, Any]
"""One row: `table`, `key`, `before` (what it was; None: not there), `after` (a digest of what it became)."""

Watcher = Callable[[str, Row | None, Row | None], None]
"""Told of each change: the table, the row before and the row after."""


class Rows:
    """The only writer of the tables in `COLUMNS`."""

    def __init__(self, connection: Connection, space_id: int, watcher: Watcher) -> None:
        self._connection = connection
        self._space_id = space_id
        self._watcher = watcher
        self.images: list[Image] = []

    def insert(self, table: str, values: Mapping[str, Any]) -> int:
        given = {"space_id": self._space_id, **values}
        row = {column: given.get(column) for column in COLUMNS[table] if column != "seq" or "seq" in given}
        seq = int(self._connection.run(insert_sql(table, tuple(row)), row)[0]["seq"])
        self._note(table, seq, None, {**row, "seq": seq})
        return seq

    def update(self, table: str, seq: int, changes: Mapping[str, Any]) -> bool:
        """Whether the row was there and is now different."""
        before = self.find(table, seq)
        if before is None:
            return False
        real = {column: value for column, value in changes.items() if before[column] != value}
        if not real:
            return False
        self._connection.change(update_sql(table, tuple(real)), {**real, "seq": seq})
        self._note(table, seq, before, {**before, **real})
        return True

    def delete(self, table: str, seq: int) -> bool:
        before = self.find(table, seq)
        if before is None:
            return False
        self._connection.change(delete_sql(table), {"seq": seq})
        self._note(table, seq, before, None)
        return True

    def find(self, table: str, seq: int) -> Row | None:
        found = self._connection.run(find_sql(table), {"seq": seq})
        return found[0] if found else None

    def put_back(self, image: Image) -> bool:
        """Make the row what it was; False when it has changed since, and is left alone."""
        table, seq = image["table"], image["key"]
        current = self.find(table, seq)
        if digest(current) != image["after"]:
            return False
        before = restored(image["before"])
        if before is None:
            self.delete(table, seq)
        elif current is None:
            self.insert(table, before)
        else:
            used = (
                {column: current[column] for column in VOLATILE & current.keys()} if table == "memory" else {}
            )
            self.update(table, seq, {**before, **used})
        return True

    def _note(self, table: str, seq: int, before: Row | None, after: Row | None) -> None:
        self.images.append({"table": table, "key": seq, "before": plain(before), "after": digest(after)})
        self._watcher(table, before, after)


def insert_sql(table: str, columns: tuple[str, ...]) -> str:
    values = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values}) RETURNING seq"


def update_sql(table: str, columns: tuple[str, ...]) -> str:
    return f"UPDATE {table} SET {', '.join(f'{column} = :{column}' for column in columns)} WHERE seq = :seq"


def delete_sql(table: str) -> str:
    return f"DELETE FROM {table} WHERE seq = :seq"


def find_sql(table: str) -> str:
    return f"SELECT {', '.join(COLUMNS[table])} FROM {table} WHERE seq = :seq"


def plain(row: Row | None) -> Row | None:
    """The row as JSON can hold it."""
    if row is None:
        return None
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}


def restored(row: Row | None) -> Row | None:
    """The inverse of `plain`."""
    if row is None:
        return None
    return {
        key: datetime.fromisoformat(value) if is_time(key) and isinstance(value, str) else value
        for key, value in row.items()
    }


def digest(row: Row | None) -> str | None:
    """Tells two states of a row apart, leaving out what mere reading changes."""
    if row is None:
        return None
    # Numbers as floats: a column of reals gives 1.0 back for 1.
    steady = {
        key: float(value) if isinstance(value, int) else value
        for key, value in (plain(row) or {}).items()
        if key not in VOLATILE
    }
    return hashlib.blake2b(json.dumps(steady, sort_keys=True).encode(), digest_size=8).hexdigest()
