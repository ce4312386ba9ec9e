"""Finds the vectors nearest to a query in a SQLite file."""

from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import apsw.sqlite_extra
import numpy as np

from mcp_memory.model import Owner
from mcp_memory.storage.database import Allowed, Connection, Database


def load(connection: apsw.Connection) -> bool:
    """Give the connection `vec1_cos_distance`, and say whether the vec1 index came with it."""
    try:
        apsw.sqlite_extra.load(connection, "vec1")
    except (apsw.sqlite_extra.NotAvailable, apsw.Error, AttributeError):
        # A source or distribution build of apsw has no vec1, some have no extension loading at all.
        connection.create_scalar_function("vec1_cos_distance", _cosine_distance, 2, deterministic=True)
        return False
    return True


class SqliteVectors:
    """Keeps no state: everything is in the file, where other processes see it too."""

    def put(
        self, connection: Connection, model_id: int, owner: Owner, rows: Sequence[tuple[int, int, bytes]]
    ) -> None:
        connection.change_many(
            "INSERT OR REPLACE INTO vector (model_id, owner, seq, space_id, embedding)"
            " VALUES (:model_id, :owner, :seq, :space_id, :embedding)",
            [
                {
                    "model_id": model_id,
                    "owner": owner,
                    "seq": seq,
                    "space_id": space_id,
                    "embedding": _finite(blob),
                }
                for seq, space_id, blob in rows
            ],
        )

    def remove(self, connection: Connection, model_id: int, owner: Owner, seqs: Sequence[int]) -> None:
        connection.change_many(
            "DELETE FROM vector WHERE model_id = :model_id AND owner = :owner AND seq = :seq",
            [{"model_id": model_id, "owner": owner, "seq": seq} for seq in seqs],
        )

    def nearest(
        self,
        connection: Connection,
        model_id: int,
        owner: Owner,
        query: bytes,
        space_id: int,
        allowed: Allowed,
        limit: int,
    ) -> list[tuple[int, float]]:
        rows = connection.run(
            "SELECT v.seq, 1 - vec1_cos_distance(v.embedding, :vector_query) AS similarity"
            f" FROM vector v JOIN {owner} o ON o.seq = v.seq"
            " WHERE v.model_id = :vector_model AND v.owner = :vector_owner AND v.space_id = :vector_space"
            f"  AND {allowed.condition}"
            " ORDER BY similarity DESC, v.seq LIMIT :vector_limit",
            {
                **allowed.params,
                "vector_query": query,
                "vector_model": model_id,
                "vector_owner": owner,
                "vector_space": space_id,
                "vector_limit": limit,
            },
        )
        return [(row["seq"], row["similarity"]) for row in rows]

    def tend(self, database: Database, model_id: int, dimensions: int) -> Iterator[str]:
        yield from ()


def _finite(blob: bytes) -> bytes:
    if not np.isfinite(np.frombuffer(blob, "<f4")).all():
        raise ValueError("a vector must hold finite numbers")
    return blob


def _cosine_distance(*pair: Any) -> float:
    left, right = (np.frombuffer(blob, "<f4") for blob in pair)
    scale = float(np.sqrt((left @ left) * (right @ right)))
    return 1.0 - float(left @ right) / scale if scale else 1.0
