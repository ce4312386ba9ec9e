"""Copies everything from one database to another, history, journal and vectors included, and checks it."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from mcp_memory.errors import Conflict, Invalid, Unavailable
from mcp_memory.model import Owner
from mcp_memory.storage import queries
from mcp_memory.storage.database import Connection, Database, Row
from mcp_memory.storage.derived_data import words_of
from mcp_memory.storage.schema import COLUMNS
from mcp_memory.storage.store import Store

BATCH = 2_000
"""Rows copied between two commits."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many rows of it are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a table, the first of which are its key."""

    name: str
    columns: tuple[str, ...]
    key_length: int = 1

    @property
    def key(self) -> tuple[str, ...]:
        return self.columns[: self.key_length]


TABLES = (
    Table("space", ("seq", "name", "created_at")),
    *(Table(name, columns) for name, columns in COLUMNS.items()),
    Table("memory_tag", ("space_id", "tag", "memory_seq"), 3),
    Table(
        "event",
        ("seq", "space_id", "act", "name", "subject", "payload", "client", "at", "before", "undone_at"),
    ),
    Table("embedding_model", ("seq", "name", "dimensions", "fingerprint", "state", "created_at")),
    Table("vector", ("model_id", "owner", "seq", "space_id", "embedding"), 3),
    Table("pending", ("owner", "seq", "space_id", "stamp"), 2),
    Table("entity_access", ("entity_seq", "access_count", "last_at")),
    Table("entity_access_day", ("entity_seq", "day", "access_count"), 2),
    Table("co_occurrence", ("a_seq", "b_seq", "count", "last_at"), 2),
    Table(
        "search_event",
        (
            "seq", "space_id", "query", "client", "strategy", "mode", "k_limit", "result_count",
            "duration_ms", "at",
        ),
    ),
    Table(
        "search_result",
        (
            "event_seq", "entity_seq", "rank", "baseline_rank", "base", "limbic_score", "cosine",
            "importance", "temporal", "cooc",
        ),
        2,
    ),
    Table("feedback", ("event_seq", "entity_seq", "sign", "at"), 3),
    Table("setting", ("key", "value")),
    Table("token", ("seq", "name", "digest", "spaces", "rights", "created_at")),
    Table("session", ("space_id", "id", "client", "project", "state", "started_at", "seen_at"), 2),
    Table("answered", ("space_id", "key", "request", "status", "body", "at"), 2),
)  # fmt: skip
"""All that is copied, each after what it refers to. Words are made again from the rows."""

_UNFINISHED = "*copying"
"""The setting that marks a database as half copied."""


@dataclass(frozen=True, slots=True)
class Copied:
    """How many rows of each table are there now, the same as in the original."""

    counts: Mapping[str, int]


def copy(source: Store, target: Store, progress: Progress = lambda what, done, total: None) -> Copied:
    """Fill an empty database with all that another holds.

    What was broken off is gone on with by the same call. Nobody may write to either meanwhile.
    """
    if not source.spaces():
        raise Invalid("the database to copy from holds nothing: is it the one that was meant?")
    _mark(target)
    with source.database.read() as original:
        counts = {table.name: _count(original, table) for table in TABLES}
        with target.database.words.bulk_load(target.database):
            for table in TABLES:
                _Copying(original, target.database, table, counts[table.name], progress).run()
        _copy_numbers(source.database, original, target.database)
        for table in TABLES:
            _check(original, target.database, table, counts[table.name], progress)
    with target.database.write() as connection:
        connection.change("DELETE FROM setting WHERE key = :key", {"key": _UNFINISHED})
    return Copied(counts)


def check_whole(store: Store) -> None:
    """Half a memory must not be taken for all of it."""
    with store.database.read() as connection:
        if connection.run("SELECT key FROM setting WHERE key = :key", {"key": _UNFINISHED}):
            raise Unavailable(
                "a copy to this database is under way, or was broken off: run the same `mcp-memory copy` "
                "again until it is done, or name another database"
            )


def _mark(target: Store) -> None:
    with target.database.write() as connection:
        if connection.run("SELECT key FROM setting WHERE key = :key", {"key": _UNFINISHED}):
            return
        if connection.run("SELECT seq FROM space LIMIT 1"):
            raise Conflict(
                "the database to copy to holds memories already: name one that is empty, "
                "or use this one, if it is a copy that was made before"
            )
        connection.change(
            "INSERT INTO setting (key, value) VALUES (:key, :value)", {"key": _UNFINISHED, "value": {}}
        )


@dataclass(frozen=True, slots=True)
class _Copying:
    """The way of one table's rows from one database to the other, in the order of their keys.

    Since each batch is kept whole or not at all, what the target has is always what comes first.
    """

    original: Connection
    target: Database
    table: Table
    total: int
    progress: Progress

    def run(self) -> None:
        with self.target.read() as connection:
            done, last = _count(connection, self.table), _last_key(connection, self.table)
        self.progress(f"copying {self.table.name}", done, self.total)
        for rows in _pages(self.original, self.table, last):
            # Not durable each: one commit at the very end makes all of them so.
            with self.target.write(durable=False) as connection:
                self._put(connection, rows)
            done += len(rows)
            self.progress(f"copying {self.table.name}", done, self.total)

    def _put(self, connection: Connection, rows: list[Row]) -> None:
        if self.table.name == "vector":
            self._put_vectors(connection, rows)
            return
        connection.insert_all(self.table.name, self.table.columns, rows)
        for owner in get_args(Owner):
            if owner == self.table.name:
                words = [found for row in rows if (found := words_of(owner, row))]
                self.target.words.put(connection, owner, words, new=True)

    def _put_vectors(self, connection: Connection, rows: list[Row]) -> None:
        parts: dict[tuple[int, Owner], list[tuple[int, int, bytes]]] = {}
        for row in rows:
            part = parts.setdefault((row["model_id"], row["owner"]), [])
            part.append((row["seq"], row["space_id"], row["embedding"]))
        for (model_id, owner), vectors in parts.items():
            self.target.vectors.put(connection, model_id, owner, vectors)


def _pages(connection: Connection, table: Table, after: Row | None) -> Iterator[list[Row]]:
    """All rows that come after a key, in the order of keys."""
    names, order = ", ".join(table.columns), ", ".join(table.key)
    later = ", ".join(f":after_{column}" for column in table.key)
    while True:
        condition = f"({order}) > ({later})" if after else "1 = 1"
        bound = {f"after_{column}": after[column] for column in table.key} if after else {}
        rows = connection.run(
            f"SELECT {names} FROM {table.name} WHERE {condition} AND {_OURS.get(table.name, '1 = 1')}"
            f" ORDER BY {order} LIMIT {BATCH}",
            bound,
        )
        if not rows:
            return
        yield rows
        after = rows[-1]


_OURS = {"setting": f"key <> '{_UNFINISHED}'"}


def _count(connection: Connection, table: Table) -> int:
    [row] = connection.run(
        f"SELECT count(*) AS count FROM {table.name} WHERE {_OURS.get(table.name, '1 = 1')}"
    )
    return int(row["count"])


def _last_key(connection: Connection, table: Table) -> Row | None:
    found = connection.run(
        f"SELECT {', '.join(table.key)} FROM {table.name} WHERE {_OURS.get(table.name, '1 = 1')}"
        f" ORDER BY {', '.join(f'{column} DESC' for column in table.key)} LIMIT 1"
    )
    return found[0] if found else None


def _copy_numbers(source: Database, original: Connection, target: Database) -> None:
    """The number of something deleted is never given to something else, there as little as here."""
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
            f"the copy of {table.name} differs from the original, which must have changed since the copy "
            "was begun. Copy to an empty database again, while nobody writes."
        )


def _checksum(connection: Connection, table: Table, tell: Callable[[int], None]) -> tuple[int, str]:
    """How many rows there are, and a digest of everything in them."""
    digest, count = hashlib.blake2b(digest_size=16), 0
    for rows in _pages(connection, table, None):
        for row in rows:
            values = [row[column] for column in table.columns]
            digest.update(json.dumps(values, sort_keys=True, default=_as_text).encode() + b"\n")
        count += len(rows)
        tell(count)
    return count, digest.hexdigest()


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else bytes(value).hex()
