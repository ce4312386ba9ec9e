"""Turns a database of today into one of schema 13, as an earlier release would have left it."""

from __future__ import annotations

import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from mcp_memory.storage import queries
from mcp_memory.storage.schema import is_time
from mcp_memory.storage.sqlite.online_migration import COPIED, IN_PLACE
from mcp_memory.text.fingerprint import long_fingerprints

LAST = 13
_TIME = "strftime('%Y-%m-%dT%H:%M:%S', {0} / 1000000, 'unixepoch') || printf('.%06d+00:00', {0} % 1000000)"


def to_schema_13(path: Path) -> None:
    with closing(apsw.Connection(":memory:")) as former:
        for script in queries.migrations("sqlite")[:LAST]:
            former.execute(script.sql)
        with closing(apsw.Connection(str(path))) as connection:
            connection.create_scalar_function("whole_hash", _whole_hash, 2)
            connection.create_scalar_function("id_text", _id_text, 1)
            connection.execute("PRAGMA legacy_alter_table = ON")
            connection.execute("BEGIN")
            for table in COPIED:
                _replace(connection, former, table)
            for table, times in IN_PLACE:
                told = ", ".join(f"{time} = {_TIME.format(time)}" for time in times)
                connection.execute(f"UPDATE {table} SET {told}")
            connection.execute(f"PRAGMA user_version = {LAST}")
            connection.execute("COMMIT")


def _replace(connection: apsw.Connection, former: apsw.Connection, table: str) -> None:
    named = "SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type = 'index'"
    for (index,) in connection.execute(
        "SELECT name FROM sqlite_schema WHERE tbl_name = ? AND type = 'index' AND sql IS NOT NULL", (table,)
    ).fetchall():
        connection.execute(f"DROP INDEX {index}")
    connection.execute(f"ALTER TABLE {table} RENAME TO {table}_later")
    described = [str(sql) for (sql,) in former.execute(named, (table,))]
    connection.execute(described[0])
    columns = [str(name) for (name,) in connection.execute(
        "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", (table,)
    )]  # fmt: skip
    values = ", ".join(_value(table, column) for column in columns)
    connection.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table}_later")
    connection.execute(f"DROP TABLE {table}_later")
    for index in described[1:]:
        connection.execute(index)


def _value(table: str, column: str) -> str:
    if is_time(column):
        return _TIME.format(column)
    if column == "content_hash":
        return "whole_hash(content, content_hash)"
    return f"id_text({column})" if table == "event" and column in ("act", "subject") else column


def _whole_hash(*given: Any) -> str:
    content, cut = given
    return next(whole for whole in long_fingerprints(content) if whole.startswith(cut.hex()))


def _id_text(*given: Any) -> str:
    [stored] = given
    return str(uuid.UUID(bytes=stored)) if isinstance(stored, bytes) else str(stored)
