"""What stands in the way of making a row what it was, before a constraint refuses it without a reason."""

from collections.abc import Iterator
from typing import Any

from mcp_memory.storage.database import Connection, Row
from mcp_memory.storage.schema import PARENTS, UNIQUE

_REFLECTED_ON = ("entity", "relation")
"""What a reflection may be about, by number and without a constraint."""

_CHILDREN = {
    "memory_version": "further versions",
    "entity_memory": "links between entities and memories",
    "relation": "relations",
    "association": "associations",
}


def to_having(connection: Connection, table: str, row: Row) -> str | None:
    """Why the row cannot be there, if it cannot."""
    for parent, seq in _parents(table, row):
        if not _found(connection, parent, seq=seq):
            return f"belongs to something that is gone since ({parent} {seq})"
    return _twin(connection, table, row)


def to_losing(connection: Connection, table: str, row: Row) -> str | None:
    """Why the row cannot go, if it cannot: what hangs on it would silently go with it."""
    for child, columns in PARENTS.items():
        for column, parent in columns.items():
            if parent == table and _found(connection, child, **{column: row["seq"]}):
                return f"has got {_CHILDREN[child]} since"
    if table in _REFLECTED_ON and _found(connection, "reflection", target_type=table, target_seq=row["seq"]):
        return "has got reflections since"
    return None


def _parents(table: str, row: Row) -> Iterator[tuple[str, int]]:
    for column, parent in PARENTS.get(table, {}).items():
        yield parent, row[column]
    if table == "reflection" and row["target_type"] in _REFLECTED_ON:
        yield row["target_type"], row["target_seq"]


def _twin(connection: Connection, table: str, row: Row) -> str | None:
    unique = UNIQUE.get(table)
    if unique is None or (unique.while_null and row[unique.while_null] is not None):
        return None
    also = f" AND {unique.while_null} IS NULL" if unique.while_null else ""
    same = {column: row[column] for column in unique.columns}
    others = [other for other in _found(connection, table, also, **same) if other["seq"] != row["seq"]]
    return f"is there again since, as {table} {others[0]['seq']}" if others else None


def _found(connection: Connection, table: str, also: str = "", **values: Any) -> list[Row]:
    conditions = " AND ".join(f"{column} = :{column}" for column in values)
    return connection.run(f"SELECT seq FROM {table} WHERE {conditions}{also} LIMIT 2", values)
