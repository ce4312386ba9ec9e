"""Finds the vectors nearest to a query in a SQLite file.

The rows of `vector` are the truth. While they are few, each is compared. When they are many, an index
narrows them down to some hundreds, and these are compared, with all that the index does not hold yet:
a vector is found from the moment it is written. docs/vector-index.md has the measurements behind the
numbers.
"""

import logging
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import apsw
import apsw.sqlite_extra

from mcp_memory.model import Owner
from mcp_memory.storage.database import Allowed, Connection, Database
from mcp_memory.storage.sqlite.vector_index import (
    CANDIDATES,
    FAULTS,
    PROBED_ROWS,
    Index,
    IndexMaintenance,
    disown,
    drop_strays,
    indexes,
)

COMPARED_AT_MOST = 10_000
"""A space, or what a filter leaves of it, is compared in full up to here, in 6 ms; probing takes 5 to 8."""

ENOUGH_CANDIDATES = 100
ENOUGH_PER_RESULT = 3
"""How many must have passed the filter before the best of them are taken for the nearest."""

MOST_CANDIDATES = 20_000
"""Beyond it, reading candidates here and there costs more than comparing all that pass the filter."""

Found = list[tuple[int, float]]

_log = logging.getLogger(__name__)


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
        _take_out(connection, model_id, owner, [seq for seq, _, _ in rows])
        # Replaced, not updated: the new id tells every index that it does not hold this vector yet.
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
        _take_out(connection, model_id, owner, seqs)
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
    ) -> Found:
        wanted = {
            "vector_model": model_id,
            "vector_owner": owner,
            "vector_space": space_id,
            "vector_query": query,
            "vector_limit": limit,
        }
        search = _Search(connection, owner, allowed.condition, {**allowed.params, **wanted}, limit)
        index = indexes(connection, model_id, owner).get("ready")
        return search.compare() if index is None else search.through(index)

    def tend(self, database: Database, model_id: int, dimensions: int) -> Iterator[str]:
        yield from drop_strays(database)
        for owner in get_args(Owner):
            yield from IndexMaintenance(database, model_id, owner).steps()


@dataclass(frozen=True, slots=True)
class _Search:
    """One query, in one transaction."""

    connection: Connection
    owner: Owner
    condition: str
    params: Mapping[str, Any]
    limit: int

    def compare(self, after_id: int = 0) -> Found:
        """The nearest of all that the filter lets through, exactly."""
        return self._nearest_of(f"vector v CROSS JOIN {self.owner} o ON o.seq = v.seq", after_id)

    def compare_few(self) -> Found:
        """The same, for a filter that lets few of many through: only their vectors are read."""
        return self._nearest_of(f"{self.owner} o CROSS JOIN vector v ON v.seq = o.seq")

    def through(self, index: Index) -> Found:
        """The nearest with the help of an index, where that is worth it."""
        if self._space_is_small():
            return self.compare()
        try:
            probed = self._probe(index)
        except FAULTS as error:
            _log.warning("the vector index %d cannot be read, every vector is compared: %s", index.id, error)
            return self.compare()
        if probed is None:
            return self.compare_few()
        found = probed + self.compare(after_id=index.last_id)
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[: self.limit]

    def _space_is_small(self) -> bool:
        [row] = self.connection.run(
            "SELECT count(*) AS count FROM"
            f" (SELECT 1 FROM vector v WHERE {_IN_SPACE} LIMIT {COMPARED_AT_MOST + 1})",
            self.params,
        )
        return bool(row["count"] <= COMPARED_AT_MOST)

    def _probe(self, index: Index) -> Found | None:
        """Enough candidates that the filter lets through; None when it lets too few through for that."""
        enough = max(ENOUGH_CANDIDATES, self.limit * ENOUGH_PER_RESULT)
        count = max(CANDIDATES, 2 * enough)
        found = self._candidates(index, count, PROBED_ROWS)
        if len(found) >= enough:
            return found
        share = (len(found) + 1) / count
        if share * index.vector_count <= COMPARED_AT_MOST or enough / share > MOST_CANDIDATES:
            return None
        found = self._candidates(index, int(enough / share), PROBED_ROWS / share**0.5)
        return found if len(found) >= self.limit else None

    def _candidates(self, index: Index, count: int, rows: float) -> Found:
        return self._run(
            f"{index.table}(:vector_query, :vector_profile) near"
            f" CROSS JOIN vector v ON v.id = near.rowid CROSS JOIN {self.owner} o ON o.seq = v.seq"
            f" WHERE near.space_id = :vector_space AND {self.condition}",
            vector_profile=index.profile(count, rows),
        )

    def _nearest_of(self, joined: str, after_id: int = 0) -> Found:
        # CROSS JOIN keeps the order as written: the planner cannot know what a filter lets through.
        return self._run(
            f"{joined} WHERE {_IN_SPACE} AND v.id > :vector_after AND {self.condition}"
            " ORDER BY similarity DESC, v.seq LIMIT :vector_limit",
            vector_after=after_id,
        )

    def _run(self, source: str, **params: Any) -> Found:
        rows = self.connection.run(
            f"SELECT v.seq, 1 - vec1_cos_distance(v.embedding, :vector_query) AS similarity FROM {source}",
            {**self.params, **params},
        )
        return [(row["seq"], row["similarity"]) for row in rows]


_IN_SPACE = "v.model_id = :vector_model AND v.owner = :vector_owner AND v.space_id = :vector_space"


def _take_out(connection: Connection, model_id: int, owner: Owner, seqs: Sequence[int]) -> None:
    """Take the present vectors of these out of the indexes.

    Where vec1 is missing they stay in; a search passes over them, for their rows are gone.
    """
    for index in indexes(connection, model_id, owner).values():
        if index.state == "unfit":
            continue
        try:
            connection.change_many(
                f"DELETE FROM {index.table} WHERE rowid = (SELECT id FROM vector WHERE model_id = :model_id"
                " AND owner = :owner AND seq = :seq AND id <= :last_id)",
                [{"model_id": model_id, "owner": owner, "seq": n, "last_id": index.last_id} for n in seqs],
            )
        except FAULTS as error:
            disown(connection, index, error)


def _finite(blob: bytes) -> bytes:
    # One that is not would make vec1 refuse its whole batch, time and again.
    if not math.isfinite(sum(array("f", blob))):
        raise ValueError("a vector must hold finite numbers")
    return blob


def _cosine_distance(*pair: Any) -> float:
    import numpy as np

    left, right = (np.frombuffer(blob, "<f4") for blob in pair)
    scale = float(np.sqrt((left @ left) * (right @ right)))
    return 1.0 - float(left @ right) / scale if scale else 1.0
