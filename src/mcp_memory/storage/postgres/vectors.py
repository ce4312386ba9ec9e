"""Nearest-neighbour search on PostgreSQL: exact in a small space, by an HNSW index in a large one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from psycopg import errors

from mcp_memory.model import EmbeddingModel, Owner
from mcp_memory.storage.database import Allowed, Connection, Database
from mcp_memory.storage.postgres.signals import INDEX_LOCK
from mcp_memory.storage.postgres.statements import SQL
from mcp_memory.storage.postgres.values import Embedding

INDEX_FROM = 20_000
"""Vectors of one kind in one space above which an index is worth its cost; below, all are compared."""

SEARCHED = 200
"""Candidates that the index keeps (hnsw.ef_search): fewer are faster, with lower recall."""

FULL_DIMENSIONS, MOST_DIMENSIONS = 2_000, 4_000
"""pgvector's index limits in full and in half precision. Longer vectors are all compared."""

MOST_MEMORY_MB = 2_048

Found = list[tuple[int, float]]


class PostgresVectors:
    """Each index covers one space, so that a search never reads the vectors of others."""

    def __init__(self, outside_transactions: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._outside_transactions = outside_transactions

    def put(
        self, connection: Connection, model_id: int, owner: Owner, rows: Sequence[tuple[int, int, bytes]]
    ) -> None:
        self.remove(connection, model_id, owner, [seq for seq, _, _ in rows])
        connection.insert_all(
            "vector",
            {
                "seq": [seq for seq, _, _ in rows],
                "space_id": [space_id for _, space_id, _ in rows],
                "embedding": [Embedding(blob) for _, _, blob in rows],
            },
            {"model_id": model_id, "owner": owner},
        )

    def remove(self, connection: Connection, model_id: int, owner: Owner, seqs: Sequence[int]) -> None:
        key = {"model_id": model_id, "owner": owner, "seqs": list(seqs)}
        connection.change_many(SQL["remove_vectors"], [key])

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
        part = _Part(model_id, owner, space_id, len(query) // 4)
        search = _PostgresSearch(connection, part, allowed, Embedding(query), limit)
        if indexes(connection, part.index_name).get(part.index_name):
            found = search.through_index()
            # A selective filter can exhaust the candidates that the index visits.
            if len(found) == limit:
                return found
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
        return True

    def at_hand(self, connection: Connection, model: EmbeddingModel, owner: Owner, space_id: int) -> None:
        return None

    def maintain(self, database: Database, model_id: int, dimensions: int) -> Iterator[str]:
        with self._outside_transactions() as connection:
            [row] = connection.run(SQL["lock_vector_indexes"].format(lock=INDEX_LOCK))
            if row["locked"]:
                yield from _maintain(connection, model_id, dimensions)


@dataclass(frozen=True, slots=True)
class _Part:
    """The vectors of one model, one kind of owner and one space."""

    model_id: int
    owner: Owner
    space_id: int
    dimensions: int

    @property
    def index_name(self) -> str:
        return f"vector_near_{self.model_id}_{self.owner}_{self.space_id}"

    @property
    def condition(self) -> str:
        # Literal values: with parameters, the planner could not tell that the partial index applies.
        return f"model_id = {self.model_id} AND owner = '{self.owner}' AND space_id = {self.space_id}"

    def key(self, schema: str, column: str) -> str:
        """The indexed expression."""
        # Qualified by pgvector's schema: `vector` alone is the row type of our table.
        return f"CAST({column} AS {schema}.{self._kind}({self.dimensions}))"

    @property
    def operators(self) -> str:
        return f"{self._kind}_cosine_ops"

    @property
    def _kind(self) -> str:
        return "vector" if self.dimensions <= FULL_DIMENSIONS else "halfvec"


@dataclass(frozen=True, slots=True)
class _PostgresSearch:
    """One query in one transaction."""

    connection: Connection
    part: _Part
    allowed: Allowed
    query: Embedding
    limit: int

    def compare(self) -> Found:
        """The exact nearest among all rows that pass the filter."""
        return self._run("nearest")

    def through_index(self) -> Found:
        """The nearest as far as the index finds them."""
        self.connection.run(SQL["tune_vector_search"], {"searched": SEARCHED})
        schema = pgvector_schema(self.connection)
        key, wanted = self.part.key(schema, "v.embedding"), self.part.key(schema, ":vector_query")
        return self._run("nearest_candidates", key=key, wanted=wanted)

    def _run(self, query: str, **slots: str) -> Found:
        part, allowed = self.part, self.allowed
        sql = SQL[query].format(part=part.condition, owner=part.owner, allowed=allowed.condition, **slots)
        params = {**allowed.params, "vector_query": self.query, "vector_limit": self.limit}
        return [(row["seq"], 1 - row["distance"]) for row in self.connection.run(sql, params)]


def pgvector_schema(connection: Connection) -> str:
    [row] = connection.run(SQL["pgvector_schema"])
    return str(row["schema"])


def indexes(connection: Connection, name: str = "vector_near_%") -> dict[str, bool]:
    """Existing indexes by name, and whether each can be used."""
    rows = connection.run(SQL["vector_indexes"], {"name": name})
    return {row["name"]: row["fit"] for row in rows}


def _maintain(connection: Connection, model_id: int, dimensions: int) -> Iterator[str]:
    counts = {
        _Part(row["model_id"], row["owner"], row["space_id"], dimensions): row["count"]
        for row in connection.run(SQL["vector_counts"])
    }
    there = indexes(connection)
    kept = {part.index_name for part, count in counts.items() if count >= INDEX_FROM // 2}
    for name, fit in there.items():
        # An invalid index was left by a server that died while building it.
        if name not in kept or not fit:
            connection.change(SQL["drop_vector_index"].format(index=name))
            yield f"dropped the vector index {name}"
    if dimensions > MOST_DIMENSIONS:
        return
    for part, count in counts.items():
        if part.model_id == model_id and count >= INDEX_FROM and not there.get(part.index_name):
            _build(connection, part, count)
            yield f"built the vector index {part.index_name} over {count} vectors"


def _build(connection: Connection, part: _Part, count: int) -> None:
    # Building in memory is many times as fast.
    megabytes = min(MOST_MEMORY_MB, 64 + count * (4 * part.dimensions + 400) // 2**20)
    connection.change(f"SET maintenance_work_mem = '{megabytes}MB'")
    key = part.key(pgvector_schema(connection), "embedding")
    create = SQL["create_vector_index"].format(
        index=part.index_name, key=key, operators=part.operators, part=part.condition
    )
    try:
        connection.change(create)
    except errors.DiskFull:
        # Parallel workers need shared memory, of which a container has little; a single one needs none.
        connection.change(SQL["drop_vector_index"].format(index=part.index_name))
        connection.change("SET max_parallel_maintenance_workers = 0")
        connection.change(create)
