"""Finds the vectors nearest to a query in a SQLite file.

The rows of `vector` are the truth. While they are few, every one is compared. When they are many,
vec1 narrows them down to some hundreds that are then compared; what it has not taken in yet is
compared in full, so a vector is found from the moment it is written. docs/vector-index.md has the
measurements behind the numbers below.
"""

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import apsw
import apsw.sqlite_extra

from mcp_memory.model import Owner
from mcp_memory.storage.database import Allowed, Connection, Database

INDEX_FROM = 20_000
"""Vectors of one owner from which an index pays: comparing 20,000 takes 12 ms of CPU, probing 2 ms."""

COMPARED_AT_MOST = 10_000
"""A space, or what a filter leaves of it, is compared in full up to here: about 6 ms."""

PROBED_ROWS = 50_000
"""How many one-bit codes a query looks at: 5 ms. All of 50,000, half of 100,000, a twentieth of a million."""

CANDIDATES = 400
"""How many of those are compared in full, at least: 1 ms. 150 lose 0.7 points of recall@10 at 100,000."""

CANDIDATES_PER_RESULT = 5
MOST_CANDIDATES = 20_000

BATCH = 500
"""Vectors taken in by one write transaction, so that other writers wait 50 ms at most."""

SAMPLES_PER_BUCKET = 40
"""What the centre of a bucket is learned from: as many as k-means asks for in the literature."""

TRIALS = 20
LEAST_RECALL = 0.9
"""What a new index must find of the ten nearest, over the trials, to be put to use."""

Found = list[tuple[int, float]]


def load(connection: apsw.Connection) -> bool:
    """Give the connection `vec1_cos_distance`, and say whether the vec1 index came with it."""
    try:
        apsw.sqlite_extra.load(connection, "vec1")
    except (apsw.sqlite_extra.NotAvailable, apsw.Error, AttributeError):
        # A source or distribution build of apsw has no vec1, some have no extension loading at all.
        connection.create_scalar_function("vec1_cos_distance", _cosine_distance, 2, deterministic=True)
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Index:
    """One virtual table of vec1, as the table `vector_index` knows it."""

    id: int
    state: str
    vector_count: int
    bucket_count: int
    last_id: int

    @property
    def table(self) -> str:
        return f"vector_index_{self.id}"

    def probes(self, rows: float) -> int:
        """How many buckets hold about so many rows."""
        return max(1, min(self.bucket_count, math.ceil(self.bucket_count * rows / self.vector_count)))


@dataclass(frozen=True, slots=True)
class _Scope:
    """What one search looks for, and where."""

    owner: Owner
    condition: str
    params: Mapping[str, Any]
    limit: int


class SqliteVectors:
    """Keeps no state: everything is in the file, where other processes see it too."""

    def put(
        self, connection: Connection, model_id: int, owner: Owner, rows: Sequence[tuple[int, int, bytes]]
    ) -> None:
        self._unindex(connection, model_id, owner, [seq for seq, _, _ in rows])
        # Replaced, not updated: the new id tells every index that it does not have this vector yet.
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
        self._unindex(connection, model_id, owner, seqs)
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
        own = {
            "vector_model": model_id,
            "vector_owner": owner,
            "vector_space": space_id,
            "vector_query": query,
            "vector_limit": limit,
        }
        scope = _Scope(owner, allowed.condition, {**allowed.params, **own}, limit)
        index = _usable(connection, model_id, owner).get("ready")
        if index is None or _is_small(connection, scope):
            return _compare(connection, scope)
        probed = _probe(connection, index, scope)
        if probed is None:
            return _compare(connection, scope)
        return _best(probed + _compare(connection, scope, after_id=index.last_id), limit)

    def tend(self, database: Database, model_id: int, dimensions: int) -> Iterator[str]:
        for owner in get_args(Owner):
            yield from _tend(database, model_id, owner)

    def _unindex(self, connection: Connection, model_id: int, owner: Owner, seqs: Sequence[int]) -> None:
        # Where vec1 is missing the entries stay behind: a search passes over them, as their rows are gone.
        for index in _usable(connection, model_id, owner).values():
            connection.change_many(
                f"DELETE FROM {index.table} WHERE rowid = (SELECT id FROM vector"
                " WHERE model_id = :model_id AND owner = :owner AND seq = :seq AND id <= :last_id)",
                [{"model_id": model_id, "owner": owner, "seq": n, "last_id": index.last_id} for n in seqs],
            )


def _usable(connection: Connection, model_id: int, owner: Owner) -> dict[str, _Index]:
    """The indexes there are, by state; none on a connection without vec1."""
    rows = connection.run(
        "SELECT id, state, vector_count, bucket_count, last_id FROM vector_index"
        " WHERE model_id = :model_id AND owner = :owner AND state <> 'unfit'"
        "   AND EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'vec1')",
        {"model_id": model_id, "owner": owner},
    )
    return {row["state"]: _Index(**row) for row in rows}


_IN_SPACE = "v.model_id = :vector_model AND v.owner = :vector_owner AND v.space_id = :vector_space"


def _is_small(connection: Connection, scope: _Scope) -> bool:
    [row] = connection.run(
        f"SELECT count(*) AS count FROM (SELECT 1 FROM vector v WHERE {_IN_SPACE} LIMIT {COMPARED_AT_MOST + 1})",
        scope.params,
    )
    return bool(row["count"] <= COMPARED_AT_MOST)


def _compare(connection: Connection, scope: _Scope, after_id: int = 0) -> Found:
    """The nearest of all that the filter lets through, exactly."""
    rows = connection.run(
        "SELECT v.seq, 1 - vec1_cos_distance(v.embedding, :vector_query) AS similarity"
        f" FROM vector v CROSS JOIN {scope.owner} o ON o.seq = v.seq"
        f" WHERE {_IN_SPACE} AND v.id > :vector_after AND {scope.condition}"
        " ORDER BY similarity DESC, v.seq LIMIT :vector_limit",
        {**scope.params, "vector_after": after_id},
    )
    return [(row["seq"], row["similarity"]) for row in rows]


def _probe(connection: Connection, index: _Index, scope: _Scope) -> Found | None:
    """Candidates from the index that the filter lets through; None when it lets too few through for that."""
    needed = scope.limit * CANDIDATES_PER_RESULT
    count = max(CANDIDATES, 2 * needed)
    found = _candidates(connection, index, scope, count, index.probes(PROBED_ROWS))
    if len(found) >= needed:
        return found
    share = (len(found) + 1) / count
    if share * index.vector_count <= COMPARED_AT_MOST or needed / share > MOST_CANDIDATES:
        return None
    found = _candidates(connection, index, scope, int(needed / share), index.probes(PROBED_ROWS / share**0.5))
    return found if len(found) >= scope.limit else None


def _candidates(connection: Connection, index: _Index, scope: _Scope, count: int, probes: int) -> Found:
    rows = connection.run(
        f"SELECT v.seq, 1 - vec1_cos_distance(v.embedding, :vector_query) AS similarity"
        f" FROM {index.table}(:vector_query, :vector_profile) near"
        f" CROSS JOIN vector v ON v.id = near.rowid CROSS JOIN {scope.owner} o ON o.seq = v.seq"
        f" WHERE near.space_id = :vector_space AND {scope.condition}",
        {**scope.params, "vector_profile": f"{{k:{count},nprobe:{probes}}}"},
    )
    return [(row["seq"], row["similarity"]) for row in rows]


def _best(found: Found, limit: int) -> Found:
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]


def _tend(database: Database, model_id: int, owner: Owner) -> Iterator[str]:
    yield from ()


def _finite(blob: bytes) -> bytes:
    # One NaN would make vec1 refuse the batch it is in, for ever.
    if not math.isfinite(sum(array("f", blob))):
        raise ValueError("a vector must hold finite numbers")
    return blob


def _cosine_distance(*pair: Any) -> float:
    import numpy as np

    left, right = (np.frombuffer(blob, "<f4") for blob in pair)
    scale = float(np.sqrt((left @ left) * (right @ right)))
    return 1.0 - float(left @ right) / scale if scale else 1.0
