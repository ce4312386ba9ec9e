"""Trigram indexes on PostgreSQL, where pg_trgm is available: the planner uses them for substring searches."""

from collections.abc import Iterator

import psycopg

from mcp_memory.storage.database import Connection
from mcp_memory.storage.postgres.statements import SQL

INDEX_FROM = 5_000
"""Rows of a table above which an index is worth its cost."""

INDEXES = {
    "memory_trigrams": ("memory", "content"),
    "entity_name_trigrams": ("entity", "name"),
    "entity_type_trigrams": ("entity", "type"),
}


def maintain(connection: Connection) -> Iterator[str]:
    """Create missing indexes of large tables, one at a time."""
    missing = {index: place for index, place in INDEXES.items() if _is_wanted(connection, index, place[0])}
    if not missing or not _is_supported(connection):
        return
    for index, (table, column) in missing.items():
        # A server that died while building left an invalid one.
        connection.change(SQL["drop_trigrams"].format(index=index))
        connection.change(SQL["create_trigrams"].format(index=index, table=table, column=column))
        yield f"built the index {index}"


def _is_wanted(connection: Connection, index: str, table: str) -> bool:
    [row] = connection.run(SQL["row_estimate"], {"table": table})
    return row["count"] >= INDEX_FROM and not connection.run(SQL["fit_index"], {"index": index})


def _is_supported(connection: Connection) -> bool:
    [row] = connection.run(SQL["trigram_support"])
    if not row["owned"] or not row["available"] or row["installed"]:
        return bool(row["owned"] and row["installed"])
    try:
        connection.change(SQL["add_trigram_extension"])
    except psycopg.Error:  # the role may not add it: substring searches scan
        return False
    return True
