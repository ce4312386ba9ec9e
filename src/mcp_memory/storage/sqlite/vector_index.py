"""Builds and maintains the approximate indexes over the vectors of a SQLite file.

An index is a virtual table of vec1: vectors sorted into buckets by their nearest centre, each as a code of
one bit per dimension. It is derived and may be dropped at any time. It holds the vectors up to an id; a
search compares later ones itself. Maintenance runs in short transactions, each of which leaves a
searchable file: it can be killed at any point, and the next process resumes.
"""

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import apsw

from mcp_memory.model import Owner
from mcp_memory.storage import queries
from mcp_memory.storage.database import Connection, Database

INDEX_FROM = 20_000
"""Vectors of one kind of owner from which an index pays: 24,000 are compared in 14 ms, probed in 5."""

PROBED_ROWS = 60_000
"""Codes that a query reads, in 4 ms: all of 60,000 (recall@10 1.00), 6 % of a million (0.97)."""

CANDIDATES = 400
"""How many of those are compared exactly, in 1 ms. 150 would lose 0.007 of recall@10 at 100,000."""

BATCH = 500
"""Vectors indexed per transaction: other writers wait 15 ms at 100,000 vectors, 50 ms at a million."""

SAMPLES_PER_BUCKET = 40
"""Training vectors per bucket: 1 s of training at 100,000 vectors, 9 s at a million."""

TRIALS, NEAREST, LEAST_RECALL = 20, 10, 0.9
"""Recall that a new index must reach, over all trials, before it serves."""

WALKED = 5_000
"""Vectors held in memory at a time for an exact comparison."""

FAULTS = (apsw.SQLError, apsw.CorruptError)
"""Errors of a damaged or missing index. Derived data must fail neither a search nor a write."""

# With `wht` at its default, vec1 0.8 puts vectors in wrong buckets.
_TRAINING = '{{nbucket:{buckets},distance:"cos",quantizer:"bq",wht:false,nthread:1}}'

_SQL = queries.load("sqlite")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Index:
    """A row of `vector_index`: the metadata of one virtual table."""

    id: int
    state: str
    vector_count: int
    bucket_count: int
    last_id: int

    @property
    def table(self) -> str:
        return _table(self.id)

    def profile(self, candidates: int, rows: float = PROBED_ROWS) -> str:
        """Query options that read about `rows` rows."""
        share = min(1.0, rows / self.vector_count)
        return f"{{k:{candidates},nprobe:{math.ceil(self.bucket_count * share)}}}"


def indexes(connection: Connection, model_id: int, owner: Owner) -> dict[str, Index]:
    """Existing indexes by state; none on a connection without vec1."""
    rows = connection.run(_SQL["vector_indexes"], {"model_id": model_id, "owner": owner})
    return {row["state"]: Index(**row) for row in rows}


def abandon(connection: Connection, index: Index, error: Exception) -> None:
    """Stop using a faulty index. Maintenance drops its table later."""
    _log.warning("the vector index %d cannot be changed and is abandoned: %s", index.id, error)
    connection.change(_SQL["remove_vector_index"], {"id": index.id})


def drop_unused(database: Database) -> Iterator[str]:
    """Drop abandoned indexes, and those whose vectors are all deleted."""
    with database.read() as connection:
        unused = connection.run(_SQL["unused_vector_indexes"])
    for row in unused:
        with database.write() as connection:
            _drop(connection, row["id"])
        yield f"dropped the unused vector index {row['id']}"


@dataclass(frozen=True, slots=True)
class IndexMaintenance:
    """Maintains the index over the vectors of one model and one kind of owner."""

    database: Database
    model_id: int
    owner: Owner

    def steps(self) -> Iterator[str]:
        """Build, fill and replace the index as its size requires. Each step is one short transaction."""
        ready = self._find("ready")
        if ready:
            yield from self._fill(ready)
        building = self._find("building") or self._begin()
        if building:
            yield from self._fill(building)
            building = self._find("building")
        if building:
            yield self._judge(building)

    @property
    def _key(self) -> dict[str, object]:
        return {"model_id": self.model_id, "owner": self.owner}

    def _find(self, state: str) -> Index | None:
        with self.database.read() as connection:
            return indexes(connection, self.model_id, self.owner).get(state)

    def _begin(self) -> Index | None:
        """Create a new index, trained and empty, unless the present one fits the number of vectors."""
        with self.database.read() as connection:
            count = self._count(connection)
            known = indexes(connection, self.model_id, self.owner).values()
            if count < INDEX_FROM or any(
                index.vector_count / 2 < count < index.vector_count * 2 for index in known
            ):
                return None
            trained = self._train(connection, math.isqrt(count))
        with self.database.write() as connection:
            if "building" not in indexes(connection, self.model_id, self.owner):
                self._create(connection, count, trained)
        return self._find("building")

    def _count(self, connection: Connection) -> int:
        [row] = connection.run(_SQL["count_indexable_vectors"], self._key)
        return int(row["count"])

    def _train(self, connection: Connection, buckets: int) -> bytes:
        training = {"training": _TRAINING.format(buckets=buckets), "sample": buckets * SAMPLES_PER_BUCKET}
        [row] = connection.run(_SQL["train_vector_index"], {**self._key, **training})
        trained: bytes = row["trained"]
        return trained

    def _create(self, connection: Connection, count: int, trained: bytes) -> None:
        [row] = connection.run(
            _SQL["add_vector_index"], {**self._key, "count": count, "buckets": math.isqrt(count)}
        )
        table = _table(row["id"])
        connection.change(_SQL["create_vector_index"].format(index=table))
        connection.change(_SQL["apply_trained_model"].format(index=table), {"trained": trained})

    def _fill(self, index: Index) -> Iterator[str]:
        while (last_id := self._take_batch(index)) is not None:
            yield f"the vector index {index.id} of {self.owner} holds vectors up to {last_id}"

    def _take_batch(self, index: Index) -> int | None:
        """Index the next batch. Returns its last id; None when less than a batch was left."""
        with self.database.write() as connection:
            # Read again under the lock: another process may fill the same index, or have dropped it.
            current = indexes(connection, self.model_id, self.owner).get(index.state)
            [row] = connection.run(_SQL["newest_vector"])
            if current is None or current.id != index.id or (row["newest"] or 0) - current.last_id < BATCH:
                return None
            params = {**self._key, "after": current.last_id, "batch": BATCH}
            rows = connection.run(_SQL["vectors_to_index"], params)
            last_id: int = rows[-1]["id"] if len(rows) == BATCH else row["newest"]
            try:
                connection.change(_SQL["index_vectors"].format(index=index.table), params)
            except FAULTS as error:
                abandon(connection, index, error)
                return None
            connection.change(_SQL["set_vector_index_last_id"], {"last_id": last_id, "id": index.id})
            return last_id

    def _judge(self, index: Index) -> str:
        """Let a full index replace the present one, or reject it if its recall is too low."""
        with self.database.read() as connection:
            fault = self._fault(connection, index)
        state = "unfit" if fault else "ready"
        with self.database.write() as connection:
            known = indexes(connection, self.model_id, self.owner)
            if "building" not in known or known["building"].id != index.id:
                return f"another process finished the vector index {index.id} of {self.owner}"
            for old in known.values():
                if old.state in ("unfit", state):
                    _drop(connection, old.id)
            if fault:
                connection.change(_SQL["drop_vector_index"].format(index=index.table))
            connection.change(_SQL["set_vector_index_state"], {"state": state, "id": index.id})
        return f"the vector index {index.id} of {self.owner} is {state}" + (f": {fault}" if fault else "")

    def _fault(self, connection: Connection, index: Index) -> str | None:
        """Why the index must not be used, if so."""
        try:
            problem = connection.run(f"PRAGMA integrity_check({index.table})")[0]["integrity_check"]
            recall = self._recall(connection, index) if problem == "ok" else 0.0
        except FAULTS as error:
            return str(error)
        if problem != "ok":
            return str(problem)
        return f"it finds {recall:.0%} of the nearest" if recall < LEAST_RECALL else None

    def _recall(self, connection: Connection, index: Index) -> float:
        """Recall@10 over vectors picked at random."""
        sample = {**self._key, "last_id": index.last_id, "count": TRIALS}
        trials = connection.run(_SQL["sample_vectors"], sample)
        vectors = [trial["embedding"] for trial in trials]
        if not vectors:
            return 1.0
        found = 0
        for vector, nearest in zip(vectors, self._nearest(connection, index, vectors), strict=True):
            probed = connection.run(
                _SQL["probe_vector_index"].format(index=index.table),
                {"query": vector, "profile": index.profile(CANDIDATES), "count": NEAREST},
            )
            # By distance: of equal vectors any will do.
            found += sum(row["distance"] <= nearest[-1] + 1e-6 for row in probed)
        return found / (NEAREST * len(vectors))

    def _nearest(self, connection: Connection, index: Index, vectors: Sequence[bytes]) -> list[list[float]]:
        """The exact distances of each vector's nearest ones, in one pass over all."""
        import numpy as np

        asked = np.stack([np.frombuffer(vector, np.float32) for vector in vectors])
        best = np.full((len(vectors), NEAREST), np.inf, np.float32)
        after = 0
        bounds = {**self._key, "last_id": index.last_id, "count": WALKED}
        while rows := connection.run(_SQL["indexed_vectors"], {**bounds, "after": after}):
            there = np.stack([np.frombuffer(row["embedding"], np.float32) for row in rows])
            # Unit vectors: the product is the cosine.
            best = np.sort(np.hstack([best, 1 - asked @ there.T]), axis=1)[:, :NEAREST]
            after = rows[-1]["id"]
        return [[float(distance) for distance in distances] for distances in best]


def _drop(connection: Connection, id: int) -> None:
    connection.change(_SQL["drop_vector_index"].format(index=_table(id)))
    connection.change(_SQL["remove_vector_index"], {"id": id})


def _table(id: int) -> str:
    return f"vector_index_{id:d}"
