"""Nearest-neighbour search in a SQLite file.

The rows of `vector` are the source of truth. Few vectors are all compared. For many, an approximate index
narrows them down to some hundred candidates, which are then compared exactly, together with the vectors
that the index does not hold yet: a vector can be found from the moment it is written.
docs/vector-index.md has the measurements behind the numbers.
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
from mcp_memory.storage import queries
from mcp_memory.storage.database import Allowed, Connection, Database
from mcp_memory.storage.sqlite.vector_index import (
    CANDIDATES,
    FAULTS,
    PROBED_ROWS,
    Index,
    IndexMaintenance,
    abandon,
    drop_unused,
    indexes,
)

COMPARED_AT_MOST = 10_000
"""Up to this many vectors in scope are all compared, in 6 ms; probing an index takes 5 to 8."""

ENOUGH_CANDIDATES = 100
ENOUGH_PER_RESULT = 3
"""How many candidates must pass the filter before the best of them count as the nearest."""

MOST_CANDIDATES = 20_000
"""Beyond it, random reads of candidates cost more than comparing everything the filter lets through."""

Found = list[tuple[int, float]]

_SQL = queries.load("sqlite")
_log = logging.getLogger(__name__)


def load_vec1(connection: apsw.Connection) -> bool:
    """Define `vec1_cos_distance` on the connection. Returns whether the vec1 index is available too."""
    try:
        apsw.sqlite_extra.load(connection, "vec1")
    except (apsw.sqlite_extra.NotAvailable, apsw.Error, AttributeError):
        # A source or distribution build of apsw has no vec1, and some cannot load extensions at all.
        connection.create_scalar_function("vec1_cos_distance", _cosine_distance, 2, deterministic=True)
        return False
    return True


class SqliteVectors:
    """Stateless: everything is in the file, where other processes see it too."""

    def put(
        self, connection: Connection, model_id: int, owner: Owner, rows: Sequence[tuple[int, int, bytes]]
    ) -> None:
        _unindex(connection, model_id, owner, [seq for seq, _, _ in rows])
        connection.change_many(
            _SQL["put_vector"],
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
        _unindex(connection, model_id, owner, seqs)
        connection.change_many(
            _SQL["remove_vectors"], [{"model_id": model_id, "owner": owner, "seq": seq} for seq in seqs]
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

    def maintain(self, database: Database, model_id: int, dimensions: int) -> Iterator[str]:
        yield from drop_unused(database)
        for owner in get_args(Owner):
            yield from IndexMaintenance(database, model_id, owner).steps()


@dataclass(frozen=True, slots=True)
class _Search:
    """One query in one transaction."""

    connection: Connection
    owner: Owner
    condition: str
    params: Mapping[str, Any]
    limit: int

    def compare(self, after_id: int = 0) -> Found:
        """The exact nearest among all rows that pass the filter."""
        return self._run("nearest", vector_after=after_id)

    def through(self, index: Index) -> Found:
        """The nearest with the help of an index, where that pays."""
        if self._space_is_small():
            return self.compare()
        try:
            probed = self._probe(index)
        except FAULTS as error:
            _log.warning("the vector index %d cannot be read, comparing every vector: %s", index.id, error)
            return self.compare()
        if probed is None:
            return self._run("nearest_of_few")
        found = probed + self.compare(after_id=index.last_id)
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[: self.limit]

    def _space_is_small(self) -> bool:
        [row] = self.connection.run(
            _SQL["count_vectors_in_space"], {**self.params, "most": COMPARED_AT_MOST + 1}
        )
        return bool(row["count"] <= COMPARED_AT_MOST)

    def _probe(self, index: Index) -> Found | None:
        """Candidates that pass the filter; None when it lets too few through."""
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
        profile = index.profile(count, rows)
        return self._run("nearest_candidates", index=index.table, vector_profile=profile)

    def _run(self, query: str, index: str = "", **params: Any) -> Found:
        sql = _SQL[query].format(owner=self.owner, allowed=self.condition, index=index)
        rows = self.connection.run(sql, {**self.params, **params})
        return [(row["seq"], row["similarity"]) for row in rows]


def _unindex(connection: Connection, model_id: int, owner: Owner, seqs: Sequence[int]) -> None:
    """Remove the present vectors of these rows from the indexes.

    Where vec1 is missing they stay; a search skips them, because their rows are deleted.
    """
    for index in indexes(connection, model_id, owner).values():
        if index.state == "unfit":
            continue
        key = {"model_id": model_id, "owner": owner, "last_id": index.last_id}
        try:
            connection.change_many(
                _SQL["unindex_vector"].format(index=index.table), [{**key, "seq": seq} for seq in seqs]
            )
        except FAULTS as error:
            abandon(connection, index, error)


def _finite(blob: bytes) -> bytes:
    # vec1 would refuse the whole batch that holds a non-finite vector, again and again.
    if not math.isfinite(sum(array("f", blob))):
        raise ValueError("a vector must hold finite numbers")
    return blob


def _cosine_distance(*pair: Any) -> float:
    import numpy as np

    left, right = (np.frombuffer(blob, "<f4") for blob in pair)
    scale = float(np.sqrt((left @ left) * (right @ right)))
    return 1.0 - float(left @ right) / scale if scale else 1.0
