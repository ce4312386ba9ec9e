"""Copies and verifies a whole database: memories, history, journal, vectors and settings."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from mcp_memory.errors import Conflict, Invalid, Unavailable
from mcp_memory.model import Owner, Progress, unreported
from mcp_memory.storage import queries, vector_codes
from mcp_memory.storage.database import Connection, Database, Row
from mcp_memory.storage.derived_data import words_of
from mcp_memory.storage.schema import TABLES, Table
from mcp_memory.storage.store import Store

_SQL = queries.load()

BATCH = 2_000
"""Rows per transaction."""

_SQL = queries.load()
_UNFINISHED = "*copying"
"""The setting that marks an incomplete copy."""


@dataclass(frozen=True, slots=True)
class Copied:
    """Row counts per table, equal in both databases."""

    counts: Mapping[str, int]


def copy(source: Store, target: Store, progress: Progress = unreported) -> Copied:
    """Copy everything into an empty database.

    An interrupted copy resumes when called again. Neither database may be written to meanwhile.
    """
    if not source.spaces():
        raise Invalid("the database to copy from is empty: check its address")
    _mark(target)
    with source.database.read() as original:
        counts = {table.name: _count(original, table) for table in TABLES}
        dimensions = _dimensions(original)
        with target.database.words.bulk_load(target.database):
            for table in TABLES:
                _Copying(original, target.database, table, counts[table.name], dimensions, progress).run()
        _copy_sequences(source.database, original, target.database)
        for table in TABLES:
            _check(original, target.database, table, counts[table.name], progress)
    with target.database.write() as connection:
        connection.change(_SQL["remove_setting"], {"key": _UNFINISHED})
    return Copied(counts)


def check_whole(store: Store) -> None:
    """Refuse to serve an incomplete copy."""
    with store.database.read() as connection:
        if connection.run(_SQL["setting_by_key"], {"key": _UNFINISHED}):
            raise Unavailable(
                "a copy to this database is in progress, or was interrupted: run the same `mcp-memory copy` "
                "again to finish it, or use another database"
            )


def _mark(target: Store) -> None:
    with target.database.write() as connection:
        if connection.run(_SQL["setting_by_key"], {"key": _UNFINISHED}):
            return
        if connection.run(_SQL["any_space"]):
            raise Conflict(
                "the database to copy to is not empty: give an empty one, "
                "or use this one as it is, if it is a finished copy"
            )
        connection.change(_SQL["put_setting"], {"key": _UNFINISHED, "value": {}})


@dataclass(frozen=True, slots=True)
class _Copying:
    """Copies one table in the order of its key.

    Each batch is one transaction, so the target always holds a prefix of the original.
    """

    original: Connection
    target: Database
    table: Table
    total: int
    dimensions: Mapping[int, int]
    progress: Progress

    def run(self) -> None:
        with self.target.read() as connection:
            done, last = _count(connection, self.table), _last_key(connection, self.table)
        self.progress(f"copying {self.table.name}", done, self.total)
        for rows in _pages(self.original, self.table, last):
            # Not durable: the durable commit at the very end covers all of them.
            with self.target.write(durable=False) as connection:
                self._put(connection, rows)
            done += len(rows)
            self.progress(f"copying {self.table.name}", done, self.total)

    def _put(self, connection: Connection, rows: list[Row]) -> None:
        if self.table.name == "vector":
            self._put_vectors(connection, rows)
            return
        columns = {column: [row[column] for row in rows] for column in self.table.columns}
        connection.insert_all(self.table.name, columns)
        for owner in get_args(Owner):
            if owner == self.table.name:
                words = [found for row in rows if (found := words_of(owner, row))]
                self.target.words.put(connection, owner, words, new=True)

    def _put_vectors(self, connection: Connection, rows: list[Row]) -> None:
        parts: dict[tuple[int, Owner], list[tuple[int, int, bytes]]] = {}
        for row in rows:
            part = parts.setdefault((row["model_id"], row["owner"]), [])
            vector = vector_codes.decode(row["embedding"], self.dimensions[row["model_id"]])
            part.append((row["seq"], row["space_id"], vector))
        for (model_id, owner), vectors in parts.items():
            self.target.vectors.put(connection, model_id, owner, vectors)


def _dimensions(connection: Connection) -> dict[int, int]:
    return {row["id"]: row["dimensions"] for row in connection.run(queries.load()["embedding_models"])}


def _pages(connection: Connection, table: Table, after: Row | None) -> Iterator[list[Row]]:
    """All rows after a key, in the order of keys."""
    order = ", ".join(table.key)
    later = ", ".join(f":after_{column}" for column in table.key)
    while True:
        where = f"{_copied(table)} AND ({order}) > ({later})" if after else _copied(table)
        bound = {f"after_{column}": after[column] for column in table.key} if after else {}
        sql = _SQL["page_of_rows"].format(
            columns=", ".join(table.columns), table=table.name, where=where, order=order
        )
        rows = connection.run(sql, {**bound, "limit": BATCH})
        if not rows:
            return
        yield rows
        after = rows[-1]


def _copied(table: Table) -> str:
    """The condition for rows that are copied: all but the mark of an unfinished copy."""
    return f"key <> '{_UNFINISHED}'" if table.name == "setting" else "1 = 1"


def _count(connection: Connection, table: Table) -> int:
    [row] = connection.run(_SQL["count_rows"].format(table=table.name, where=_copied(table)))
    return int(row["count"])


def _last_key(connection: Connection, table: Table) -> Row | None:
    sql = _SQL["page_of_rows"].format(
        columns=", ".join(table.key),
        table=table.name,
        where=_copied(table),
        order=", ".join(f"{column} DESC" for column in table.key),
    )
    found = connection.run(sql, {"limit": 1})
    return found[0] if found else None


def _copy_sequences(source: Database, original: Connection, target: Database) -> None:
    """Numbers are never reused, not even after their row was deleted."""
    numbers = {row["name"]: row["last"] for row in original.run(queries.load(source.name)["sequences"])}
    wanted = [
        {"name": table.name, "last": numbers[table.name]}
        for table in TABLES
        if table.key == ("seq",) and numbers.get(table.name)
    ]
    with target.write(durable=False) as connection:
        target.set_sequences(connection, wanted)


def _check(original: Connection, target: Database, table: Table, total: int, progress: Progress) -> None:
    with target.read() as connection:
        made = _checksum(connection, table, lambda done: progress(f"checking {table.name}", done, total))
    if _checksum(original, table, lambda done: None) != made:
        raise Unavailable(
            f"the copy of {table.name} differs from the original, which must have changed during the copy. "
            "Copy to an empty database again, with all servers stopped."
        )


def _checksum(connection: Connection, table: Table, tell: Callable[[int], None]) -> tuple[int, str]:
    """The number of rows, and a digest of their contents."""
    digest, count = hashlib.blake2b(digest_size=16), 0
    dimensions = _dimensions(connection)
    for rows in _pages(connection, table, None):
        for row in rows:
            if table.name == "vector":
                row = {**row, "embedding": _comparable(row["embedding"], dimensions[row["model_id"]])}
            values = [row[column] for column in table.columns]
            digest.update(json.dumps(values, sort_keys=True, default=_as_text).encode() + b"\n")
        count += len(rows)
        tell(count)
    return count, digest.hexdigest()


def _comparable(stored: bytes, dimensions: int) -> bytes:
    """The byte code: engines store the same vector with different precision."""
    return vector_codes.encode(vector_codes.decode(stored, dimensions))


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else bytes(value).hex()
