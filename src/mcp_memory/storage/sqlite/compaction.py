"""Converts vectors of earlier releases to the compact form, in the background.

Both forms can be searched, so nothing waits for it. Each step is one short transaction, and it resumes
where it was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import apsw
import apsw.sqlite_extra

from mcp_memory.model import Owner
from mcp_memory.storage import queries
from mcp_memory.storage.database import Connection, Database, Row

BATCH = 500
_SQL = queries.load("sqlite")
_SHARED = queries.load()


class Writer(Protocol):
    def put(
        self, connection: Connection, model_id: int, owner: Owner, rows: list[tuple[int, int, bytes]], /
    ) -> None: ...


def compact(database: Database, vectors: Writer, model_id: int, dimensions: int) -> Iterator[str]:
    """Replace vectors of four bytes a dimension by byte codes."""
    done = f"*compact_vectors:{model_id}"
    with database.read() as connection:
        state = connection.run(_SHARED["setting_by_key"], {"key": done})
    after = int(state[0]["value"]["is"]) if state else 0
    wide = {"model_id": model_id, "bytes": 4 * dimensions, "batch": BATCH}
    while after >= 0:
        with database.write(durable=False) as connection:
            rows = connection.run(_SQL["wide_vectors"], {**wide, "after": after})
            for row in rows:
                vectors.put(connection, model_id, row["owner"], [_vector(row)])
            after = rows[-1]["id"] if rows else -1
            connection.change(_SHARED["put_setting"], {"key": done, "value": {"is": after}})
        if rows:
            yield f"compacted {len(rows)} vectors"


def _vector(row: Row) -> tuple[int, int, bytes]:
    return row["seq"], row["space_id"], bytes(row["embedding"])


def drop_legacy_indexes(database: Database) -> Iterator[str]:
    """Drop the vec1 indexes that earlier releases built, where the extension is available."""
    with database.read() as connection:
        names = [row["name"] for row in connection.run(_SQL["legacy_indexes"])]
    for name in names:
        with database.write() as connection:
            try:
                # A virtual table can be dropped only with its extension.
                apsw.sqlite_extra.load(connection.raw, "vec1")  # type: ignore[attr-defined]
                connection.change(_SQL["drop_legacy_index"].format(index=name))
            except (apsw.sqlite_extra.NotAvailable, apsw.Error, AttributeError):
                return
        yield f"dropped the vector index {name} of an earlier release"
