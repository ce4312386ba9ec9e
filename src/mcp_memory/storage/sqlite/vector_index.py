"""Builds and feeds the approximate indexes over the vectors of a SQLite file.

An index is a virtual table of vec1: vectors sorted into buckets by the centre they are closest to,
each as a code of one bit a dimension. It is derived, and may be dropped at any time. It holds the
vectors up to an id; later ones are for the search to compare. Its upkeep happens in short
transactions, each of which leaves a file that can be searched: it may be killed anywhere, and
whichever process comes next goes on from there.
"""

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import apsw

from mcp_memory.model import Owner
from mcp_memory.storage.database import Connection, Database

INDEX_FROM = 20_000
"""Vectors of one kind of owner from which an index pays: 24,000 are compared in 14 ms, probed in 5."""

PROBED_ROWS = 60_000
"""How many codes a query looks at, in 4 ms: all of 60,000 (recall@10 1.00), 6 % of a million (0.97)."""

CANDIDATES = 400
"""How many of those are compared in full, in 1 ms. 150 would lose 0.007 of recall@10 at 100,000."""

BATCH = 500
"""Vectors taken in by one transaction: 15 ms at 100,000, 50 ms at a million, for which other writers wait."""

SAMPLES_PER_BUCKET = 40
"""How many vectors the centre of a bucket is learned from: 1 s of training at 100,000, 9 s at a million."""

TRIALS, NEAREST, LEAST_RECALL = 20, 10, 0.9
"""What a new index must find of the nearest, over all trials, to be put to use."""

WALKED = 5_000
"""Vectors held in memory at a time to find the nearest exactly."""

FAULTS = (apsw.SQLError, apsw.CorruptError)
"""How a damaged or missing index shows itself. Neither a search nor a write may fail for what is derived."""

# With `wht` at its default, vec1 0.8 puts vectors in wrong buckets.
_TRAINING = '{{nbucket:{buckets},distance:"cos",quantizer:"bq",wht:false,nthread:1}}'

_VEC1_IS_THERE = "EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'vec1')"

_OURS = "model_id = :model_id AND owner = :owner"

# NOT INDEXED: in the order of ids, across the spaces.
_NEXT_BATCH = f"FROM vector NOT INDEXED WHERE {_OURS} AND id > :after ORDER BY id LIMIT :batch"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Index:
    """A row of `vector_index`, which knows one virtual table."""

    id: int
    state: str
    vector_count: int
    bucket_count: int
    last_id: int

    @property
    def table(self) -> str:
        return f"vector_index_{self.id}"

    def profile(self, candidates: int, rows: float = PROBED_ROWS) -> str:
        """The options of a query that looks at about so many rows."""
        share = min(1.0, rows / self.vector_count)
        return f"{{k:{candidates},nprobe:{math.ceil(self.bucket_count * share)}}}"


def indexes(connection: Connection, model_id: int, owner: Owner) -> dict[str, Index]:
    """Those there are, by state; none on a connection without vec1."""
    rows = connection.run(
        "SELECT id, state, vector_count, bucket_count, last_id FROM vector_index"
        f" WHERE {_OURS} AND {_VEC1_IS_THERE}",
        {"model_id": model_id, "owner": owner},
    )
    return {row["state"]: Index(**row) for row in rows}


def disown(connection: Connection, index: Index, error: Exception) -> None:
    """Use this index no more. Its table is dropped when there is time."""
    _log.warning("the vector index %d cannot be changed and is given up: %s", index.id, error)
    connection.change("DELETE FROM vector_index WHERE id = :id", {"id": index.id})


def drop_strays(database: Database) -> Iterator[str]:
    """Drop the indexes that nobody uses: disowned ones, and those whose vectors are all gone."""
    with database.read() as connection:
        strays = connection.run(_STRAYS)
    for stray in strays:
        with database.write() as connection:
            _drop(connection, stray["id"])
        yield f"dropped the vector index {stray['id']}, which had no use"


_STRAYS = f"""
SELECT CAST(substr(name, length('vector_index_') + 1) AS INTEGER) AS id FROM sqlite_schema
 WHERE name GLOB 'vector_index_[0-9]*' AND sql LIKE 'CREATE VIRTUAL TABLE%'
   AND {_VEC1_IS_THERE}
EXCEPT
SELECT id FROM vector_index i
 WHERE EXISTS (SELECT 1 FROM vector v WHERE v.model_id = i.model_id AND v.owner = i.owner)
"""


@dataclass(frozen=True, slots=True)
class IndexMaintenance:
    """The care for the index over what one model made for one kind of owner."""

    database: Database
    model_id: int
    owner: Owner

    def steps(self) -> Iterator[str]:
        """Do what its size asks for, one short transaction a step, and say what each did."""
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
        """A new index, trained and empty, unless the one there is fits the number of vectors."""
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
        """How many vectors an index would hold: none on a connection that cannot have one."""
        [row] = connection.run(
            f"SELECT count(*) AS count FROM vector WHERE {_OURS} AND {_VEC1_IS_THERE}", self._key
        )
        return int(row["count"])

    def _train(self, connection: Connection, buckets: int) -> bytes:
        sample = f"SELECT id FROM vector WHERE {_OURS} ORDER BY random() LIMIT :sample"
        [row] = connection.run(
            f"SELECT vec1_train(embedding, :training) AS trained FROM vector WHERE id IN ({sample})",
            {
                **self._key,
                "training": _TRAINING.format(buckets=buckets),
                "sample": buckets * SAMPLES_PER_BUCKET,
            },
        )
        trained: bytes = row["trained"]
        return trained

    def _create(self, connection: Connection, count: int, trained: bytes) -> None:
        [row] = connection.run(
            "INSERT INTO vector_index (model_id, owner, state, vector_count, bucket_count, last_id)"
            " VALUES (:model_id, :owner, 'building', :count, :buckets, 0) RETURNING id",
            {**self._key, "count": count, "buckets": math.isqrt(count)},
        )
        connection.change(f"CREATE VIRTUAL TABLE vector_index_{row['id']} USING vec1(vector, space_id)")
        connection.change(
            f"INSERT INTO vector_index_{row['id']} (cmd, arg) VALUES ('rebuild', :trained)",
            {"trained": trained},
        )

    def _fill(self, index: Index) -> Iterator[str]:
        while (last_id := self._take_batch(index)) is not None:
            yield f"the vector index {index.id} of {self.owner} holds vectors up to {last_id}"

    def _take_batch(self, index: Index) -> int | None:
        """The id up to which the index now holds all; None when less than a batch was left to take."""
        with self.database.write() as connection:
            # Read again under the lock: another process may feed the same index, or have dropped it.
            current = indexes(connection, self.model_id, self.owner).get(index.state)
            [row] = connection.run("SELECT max(id) AS newest FROM vector")
            if current is None or current.id != index.id or (row["newest"] or 0) - current.last_id < BATCH:
                return None
            params = {**self._key, "after": current.last_id, "batch": BATCH}
            rows = connection.run(f"SELECT id {_NEXT_BATCH}", params)
            last_id: int = rows[-1]["id"] if len(rows) == BATCH else row["newest"]
            insert = f"INSERT INTO {index.table} (rowid, vector, space_id) SELECT id, embedding, space_id"
            try:
                connection.change(f"{insert} {_NEXT_BATCH}", params)
            except FAULTS as error:
                disown(connection, index, error)
                return None
            connection.change(
                "UPDATE vector_index SET last_id = :last_id WHERE id = :id",
                {"last_id": last_id, "id": index.id},
            )
            return last_id

    def _judge(self, index: Index) -> str:
        """Put a full index to use in place of the one before, or throw it away if it finds too little."""
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
                connection.change(f"DROP TABLE {index.table}")
            connection.change(
                "UPDATE vector_index SET state = :state WHERE id = :id", {"state": state, "id": index.id}
            )
        return f"the vector index {index.id} of {self.owner} is {state}" + (f": {fault}" if fault else "")

    def _fault(self, connection: Connection, index: Index) -> str | None:
        """What speaks against using it."""
        try:
            problem = connection.run(f"PRAGMA integrity_check({index.table})")[0]["integrity_check"]
            recall = self._recall(connection, index) if problem == "ok" else 0.0
        except FAULTS as error:
            return str(error)
        if problem != "ok":
            return str(problem)
        return f"it finds {recall:.0%} of the nearest" if recall < LEAST_RECALL else None

    def _recall(self, connection: Connection, index: Index) -> float:
        """The part of the ten nearest that it finds, for vectors picked at random."""
        trials = connection.run(
            "SELECT embedding FROM vector WHERE id IN"
            f" (SELECT id FROM vector WHERE {_OURS} AND id <= :last_id ORDER BY random() LIMIT {TRIALS})",
            {**self._key, "last_id": index.last_id},
        )
        vectors = [trial["embedding"] for trial in trials]
        if not vectors:
            return 1.0
        found = 0
        for vector, nearest in zip(vectors, self._nearest(connection, index, vectors), strict=True):
            probed = connection.run(
                "SELECT vec1_cos_distance(v.embedding, :query) AS distance"
                f" FROM {index.table}(:query, :profile) near CROSS JOIN vector v ON v.id = near.rowid"
                f" ORDER BY distance LIMIT {NEAREST}",
                {"query": vector, "profile": index.profile(CANDIDATES)},
            )
            # By distance: of equal vectors any will do.
            found += sum(row["distance"] <= nearest[-1] + 1e-6 for row in probed)
        return found / (NEAREST * len(vectors))

    def _nearest(self, connection: Connection, index: Index, vectors: Sequence[bytes]) -> list[list[float]]:
        """For each of the vectors the distances of the nearest ones, exactly, in one walk over all."""
        import numpy as np

        asked = np.stack([np.frombuffer(vector, np.float32) for vector in vectors])
        best = np.full((len(vectors), NEAREST), np.inf, np.float32)
        after = 0
        while rows := connection.run(
            f"SELECT id, embedding FROM vector NOT INDEXED WHERE {_OURS} AND id > :after AND id <= :last_id"
            f" ORDER BY id LIMIT {WALKED}",
            {**self._key, "after": after, "last_id": index.last_id},
        ):
            there = np.stack([np.frombuffer(row["embedding"], np.float32) for row in rows])
            # Of unit length, so that the product is the cosine.
            best = np.sort(np.hstack([best, 1 - asked @ there.T]), axis=1)[:, :NEAREST]
            after = rows[-1]["id"]
        return [[float(distance) for distance in distances] for distances in best]


def _drop(connection: Connection, id: int) -> None:
    connection.change(f"DROP TABLE IF EXISTS vector_index_{id}")
    connection.change("DELETE FROM vector_index WHERE id = :id", {"id": id})
