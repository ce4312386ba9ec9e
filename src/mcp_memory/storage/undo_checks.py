"""Explains why a row cannot be restored, before a constraint fails with an unclear error."""

from collections.abc import Iterator
from typing import Any

from mcp_memory.storage import queries
from mcp_memory.storage.database import Connection, Row
from mcp_memory.storage.schema import COLUMNS, TABLE

_REFLECTED_ON = ("entity", "relation")
"""Tables that a reflection may refer to, by number and without a foreign key."""

_CHILDREN = {
    "memory_version": "further versions",
    "entity_memory": "links between entities and memories",
    "relation": "relations",
    "association": "associations",
}


def to_having(connection: Connection, table: str, row: Row) -> str | None:
    """Why the row cannot exist again, if so."""
    for parent, seq in _parents(table, row):
        if not _found(connection, parent, seq=seq):
            return f"refers to {parent} {seq}, which was deleted since"
    return _twin(connection, table, row)


def to_losing(connection: Connection, table: str, row: Row) -> str | None:
    """Why the row cannot be deleted, if so: rows that refer to it would be deleted with it."""
    for child in COLUMNS:
        for column, parent in TABLE[child].references.items():
            if parent == table and _found(connection, child, **{column: row["seq"]}):
                return f"has {_CHILDREN[child]} since"
    if table in _REFLECTED_ON and _found(connection, "reflection", target_type=table, target_seq=row["seq"]):
        return "has reflections since"
    return None


def _parents(table: str, row: Row) -> Iterator[tuple[str, int]]:
    for column, parent in TABLE[table].references.items():
        yield parent, row[column]
    if table == "reflection" and row["target_type"] in _REFLECTED_ON:
        yield row["target_type"], row["target_seq"]


def _twin(connection: Connection, table: str, row: Row) -> str | None:
    unique = TABLE[table].unique
    if unique is None or (unique.while_null and row[unique.while_null] is not None):
        return None
    also = f" AND {unique.while_null} IS NULL" if unique.while_null else ""
    same = {column: row[column] for column in unique.columns}
    others = [other for other in _found(connection, table, also, **same) if other["seq"] != row["seq"]]
    return f"exists again since, as {table} {others[0]['seq']}" if others else None


def _found(connection: Connection, table: str, also: str = "", **values: Any) -> list[Row]:
    conditions = " AND ".join(f"{column} = :{column}" for column in values)
    sql = queries.load()["rows_like"].format(table=table, where=conditions + also)
    return connection.run(sql, values)
