"""Nearest-neighbour search in a SQLite file.

The rows of `vector` are the source of truth. Few vectors are all compared. For many, a sketch narrows them
down to some hundred candidates, which are then compared exactly, together with the vectors that the sketch
does not hold yet: a vector can be found from the moment it is written. docs/vector-index.md has the
measurements behind the numbers.
"""

import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_memory.model import EmbeddingModel, Owner
from mcp_memory.storage import queries, vector_codes
from mcp_memory.storage.database import Allowed, Connection, Database, Row
from mcp_memory.storage.sqlite import compaction, sketches, vector_cache
from mcp_memory.storage.sqlite.connection import SqliteConnection
from mcp_memory.storage.sqlite.sketches import SegmentCache, Sketch, SketchScope
from mcp_memory.storage.sqlite.vector_cache import KeptVectors, VectorCache

CANDIDATES = 400
CANDIDATES_PER_ROOT = 3
"""Candidates that are compared exactly, at least and per square root of the vectors: in a large space the
true neighbours lie further down. Recall@10 on real text is 0.99 at 5,000 to 100,000."""

ENOUGH_PER_RESULT = 6
"""How many candidates must pass the filter, per result, before the best of them count as the nearest."""

COMPARED_AT_MOST = 10_000
"""A filter that lets no more than this through is compared exactly."""

REACH = 2
"""How many of the nearest are checked against the filter at first, per result."""

PAGE = 5_000

Found = list[tuple[int, float]]

_SQL = queries.load("sqlite")


class SqliteVectors:
    """Everything is in the file, where other processes see it too; what is kept in memory follows it."""

    def __init__(self) -> None:
        self._cache = VectorCache()
        self._segments = sketches.SegmentCache()

    def put(
        self, connection: Connection, model_id: int, owner: Owner, rows: Sequence[tuple[int, int, bytes]]
    ) -> None:
        key = {"model_id": model_id, "owner": owner}
        connection.change_many(
            _SQL["put_vector"],
            [
                {**key, "seq": seq, "space_id": space_id, "embedding": vector_codes.encode(vector)}
                for seq, space_id, vector in rows
            ],
        )

    def remove(self, connection: Connection, model_id: int, owner: Owner, seqs: Sequence[int]) -> None:
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
        scope = {"vector_model": model_id, "vector_owner": owner, "vector_space": space_id}
        search = _SqliteSearch(connection, owner, allowed, {**allowed.params, **scope}, query, limit)
        assert isinstance(connection, SqliteConnection)
        sketch = _sketch(connection, SketchScope(model_id, owner, space_id))
        if kept := self._kept(connection, scope, sketch, len(query) // 4):
            return search.among(kept)
        if sketch is not None:
            # What a transaction has written may be taken back, and its ids be given out again.
            segments = sketches.SegmentCache() if connection.has_written else self._segments
            return search.through(sketch, segments)
        return search.compare()

    def any_near(
        self,
        connection: Connection,
        model: EmbeddingModel,
        owner: Owner,
        query: bytes,
        space_id: int,
        least_cosine: float,
    ) -> bool:
        assert isinstance(connection, SqliteConnection)
        scope = {"vector_model": model.id, "vector_owner": owner, "vector_space": space_id}
        known = self._cache.at_least(connection, scope, model.dimensions)
        return known is None or known.any_near(query, least_cosine)

    def at_hand(
        self, connection: Connection, model: EmbeddingModel, owner: Owner, space_id: int
    ) -> KeptVectors | None:
        assert isinstance(connection, SqliteConnection)
        scope = {"vector_model": model.id, "vector_owner": owner, "vector_space": space_id}
        sketch = _sketch(connection, SketchScope(model.id, owner, space_id))
        return self._kept(connection, scope, sketch, model.dimensions)

    def _kept(
        self, connection: SqliteConnection, scope: dict[str, Any], sketch: Sketch | None, dimensions: int
    ) -> KeptVectors | None:
        """All vectors of a small space."""
        if sketch is not None and sketch.entry_count > vector_cache.MOST_ROWS:
            return None
        return self._cache.vectors(connection, scope, dimensions)

    def maintain(self, database: Database, model_id: int, dimensions: int) -> Iterator[str]:
        yield from compaction.drop_legacy_indexes(database)
        yield from compaction.compact(database, self, model_id, dimensions)
        yield from sketches.maintain(database, model_id, dimensions)


def _sketch(connection: SqliteConnection, scope: SketchScope) -> Sketch | None:
    """Looked up once in a transaction that only reads."""
    if connection.has_written:
        return sketches.find(connection, scope)
    if scope not in connection.seen:
        connection.seen[scope] = sketches.find(connection, scope)
    found: Sketch | None = connection.seen[scope]
    return found


@dataclass(frozen=True, slots=True)
class _SqliteSearch:
    """One query in one transaction."""

    connection: Connection
    owner: Owner
    allowed: Allowed
    params: Mapping[str, Any]
    query: bytes
    limit: int

    def compare(self, after_id: int = 0) -> Found:
        """The exact nearest among all rows that pass the filter."""
        found: Found = []
        while rows := self._run("nearest", vector_after=after_id, vector_page=PAGE):
            found = self._best(found + self._compared(rows))
            after_id = rows[-1]["id"]
        return found

    def among(self, kept: KeptVectors) -> Found:
        """The nearest of those kept in memory: the best are checked against the filter.

        If it lets too few of them through, all that it lets through are compared: one tag of many has few
        rows, and an index for them.
        """
        if self.allowed.whole_space:
            return kept.nearest_first(self.query, self.limit)[: self.limit]
        found = kept.nearest_first(self.query, REACH * self.limit)
        passing = self._passing(found)
        if len(passing) < self.limit and len(found) < kept.count:
            allowed = [row["seq"] for row in self._run("allowed_seqs")]
            passing = self._best(list(kept.cosines(self.query, allowed).items()))
        return passing[: self.limit]

    def _passing(self, found: Found) -> Found:
        numbers = json.dumps([seq for seq, _ in found])
        passing = {row["seq"] for row in self._run("allowed_rows", words_found=numbers)}
        return [one for one in found if one[0] in passing]

    def through(self, sketch: Sketch, segments: SegmentCache) -> Found:
        """The nearest with the help of a sketch."""
        probed = self._probe(sketch, segments)
        if probed is None:
            return self._best(self._compared(self._run("nearest_of_few")))
        return self._best(probed + self.compare(after_id=sketch.last_id))

    def _probe(self, sketch: Sketch, segments: SegmentCache) -> Found | None:
        """Candidates that pass the filter; None when it lets too few through."""
        enough = self.limit * ENOUGH_PER_RESULT
        count = max(CANDIDATES, 2 * enough, int(CANDIDATES_PER_ROOT * sketch.entry_count**0.5))
        while True:
            found = self._candidates(sketch, segments, count)
            if len(found) >= min(enough, sketch.entry_count):
                return found
            share = (len(found) + 1) / count
            if count >= sketch.entry_count or share * sketch.entry_count <= COMPARED_AT_MOST:
                return None
            count = int(2 * enough / share)

    def _candidates(self, sketch: Sketch, segments: SegmentCache, count: int) -> Found:
        ids = segments.of(self.connection, sketch).candidates(self.query, count)
        return self._compared(self._run("nearest_candidates", vector_ids=json.dumps(ids)))

    def _compared(self, rows: Sequence[Row]) -> Found:
        similarities = vector_codes.cosines([row["embedding"] for row in rows], self.query)
        return [(row["seq"], similarity) for row, similarity in zip(rows, similarities, strict=True)]

    def _best(self, found: Found) -> Found:
        # Pairs that compare by themselves: a key for each of a thousand costs more than the choice.
        best = heapq.nsmallest(self.limit, [(-similarity, seq) for seq, similarity in found])
        return [(seq, -opposite) for opposite, seq in best]

    def _run(self, query: str, **params: Any) -> list[Row]:
        sql = _SQL[query].format(owner=self.owner, allowed=self.allowed.condition)
        return self.connection.run(sql, {**self.params, **params})
