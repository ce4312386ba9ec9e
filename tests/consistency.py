"""Looks whether what a store derives from its rows fits them: references, words, tags and wanted vectors."""

from __future__ import annotations

from typing import get_args

from mcp_memory.model import Owner
from mcp_memory.storage import Store
from mcp_memory.storage.database import Connection
from mcp_memory.storage.schema import COLUMNS, TABLE
from mcp_memory.storage.sqlite.words import index_of


def troubles(store: Store) -> list[str]:
    """Everything that does not fit, in words; nothing in a sound store."""
    with store.database.read() as connection:
        found = _dangling(connection) + _tags(connection)
        for owner in get_args(Owner):
            found += _words(store, connection, owner) + _vectors(connection, owner)
    return found


def _dangling(connection: Connection) -> list[str]:
    return [
        f"{table} {row['seq']} has no {parent}"
        for table, columns in ((name, TABLE[name].references) for name in COLUMNS)
        for column, parent in columns.items()
        for row in connection.run(
            f"SELECT c.seq FROM {table} c LEFT JOIN {parent} p ON p.seq = c.{column} WHERE p.seq IS NULL"
        )
    ]


def _tags(connection: Connection) -> list[str]:
    noted = {
        (row["memory_seq"], row["tag"]) for row in connection.run("SELECT memory_seq, tag FROM memory_tag")
    }
    living = connection.run("SELECT seq, tags FROM memory WHERE forgotten_at IS NULL")
    held = {(row["seq"], tag) for row in living for tag in row["tags"]}
    return [f"memory and tag differ: {pair}" for pair in noted ^ held]


def _words(store: Store, connection: Connection, owner: Owner) -> list[str]:
    indexed = {
        seq
        for row in connection.run("SELECT seq FROM space")
        for seq in _indexed(store, connection, owner, row["seq"])
    }
    return [f"words of {owner} {seq} differ" for seq in indexed ^ _living(connection, owner)]


def _indexed(store: Store, connection: Connection, owner: Owner, space_id: int) -> set[int]:
    if store.database.name == "postgres":
        sql = f"SELECT seq FROM {owner}_words WHERE space_id = :space_id"
        return {row["seq"] for row in connection.run(sql, {"space_id": space_id})}
    held = f"{index_of(owner, space_id)}_docsize"
    if not connection.run("SELECT 1 FROM sqlite_schema WHERE name = :held", {"held": held}):
        shared = "SELECT seq FROM shared_words WHERE owner = :owner AND space_id = :space_id"
        return {row["seq"] for row in connection.run(shared, {"owner": owner, "space_id": space_id})}
    return {row["id"] for row in connection.run(f"SELECT id FROM {held}")}


def _vectors(connection: Connection, owner: Owner) -> list[str]:
    """Whatever lives has a vector or waits for one, and nothing else has or does."""
    having = _seqs(connection, "SELECT seq FROM vector WHERE owner = :owner", owner)
    waiting = _seqs(connection, "SELECT seq FROM pending WHERE owner = :owner", owner)
    living = _living(connection, owner)
    return [
        *(f"{owner} {seq} is gone, but has a vector" for seq in having - living),
        *(f"{owner} {seq} is gone, but waits for a vector" for seq in waiting - living),
        *(f"{owner} {seq} has no vector, and waits for none" for seq in living - having - waiting),
    ]


def _living(connection: Connection, owner: Owner) -> set[int]:
    living = " WHERE forgotten_at IS NULL" if owner == "memory" else ""
    return {row["seq"] for row in connection.run(f"SELECT seq FROM {owner}{living}")}


def _seqs(connection: Connection, sql: str, owner: Owner) -> set[int]:
    return {row["seq"] for row in connection.run(sql, {"owner": owner})}
