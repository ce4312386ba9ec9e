"""Nearest neighbours on PostgreSQL: exact in a small space, through an index of its own in a large one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from psycopg import errors

from mcp_memory.model import Owner
from mcp_memory.storage.database import Allowed, Connection, Database
from mcp_memory.storage.postgres.signals import INDEX_LOCK
from mcp_memory.storage.postgres.values import Embedding

INDEX_FROM = 20_000
"""Vectors of one kind in one space from which an index pays; fewer are compared one by one."""

SEARCHED = 200
"""How many candidates the index keeps in view (hnsw.ef_search): fewer are faster and find less."""

FULL_DIMENSIONS, MOST_DIMENSIONS = 2_000, 4_000
"""Up to where pgvector indexes vectors in full precision, and in half. Longer ones are compared."""

MOST_MEMORY_MB = 2_048

Found = list[tuple[int, float]]


class PostgresVectors:
    """An index covers one space, so that no search wades through the vectors of others."""

    def __init__(self, outside_transactions: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._outside_transactions = outside_transactions

    def put(
        self, connection: Connection, model_id: int, owner: Owner, rows: Sequence[tuple[int, int, bytes]]
    ) -> None:
        self.remove(connection, model_id, owner, [seq for seq, _, _ in rows])
        connection.insert_all(
            "vector",
            ("model_id", "owner", "seq", "space_id", "embedding"),
            [
                {
                    "model_id": model_id,
                    "owner": owner,
                    "seq": seq,
                    "space_id": space_id,
                    "embedding": Embedding(blob),
                }
                for seq, space_id, blob in rows
            ],
        )

    def remove(self, connection: Connection, model_id: int, owner: Owner, seqs: Sequence[int]) -> None:
        connection.change_many(
            "DELETE FROM vector WHERE model_id = :model_id AND owner = :owner AND seq IN"
            " (SELECT CAST(seq AS BIGINT) FROM json_array_elements_text(:seqs) AS given (seq))",
            [{"model_id": model_id, "owner": owner, "seqs": list(seqs)}],
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
        part = _Part(model_id, owner, space_id, len(query) // 4)
        search = _Search(connection, part, allowed, Embedding(query), limit)
        if indexes(connection, part.index_name).get(part.index_name):
            found = search.through_index()
            # A filter that lets little through can exhaust what the index is willing to look at.
            if len(found) == limit:
                return found
        return search.compare()

    def tend(self, database: Database, model_id: int, dimensions: int) -> Iterator[str]:
        with self._outside_transactions() as connection:
            # Only the table's owner may make an index on it; and one server at a time does.
            [row] = connection.run(
                "SELECT CASE WHEN pg_has_role(relowner, 'USAGE')"
                f" THEN pg_try_advisory_lock({INDEX_LOCK}, 0) END AS mine"
                " FROM pg_class WHERE oid = to_regclass('vector')"
            )
            if row["mine"]:
                yield from _tend(connection, model_id, dimensions)


@dataclass(frozen=True, slots=True)
class _Part:
    """The vectors that one model made for one kind of owner in one space."""

    model_id: int
    owner: Owner
    space_id: int
    dimensions: int

    @property
    def index_name(self) -> str:
        return f"vector_near_{self.model_id}_{self.owner}_{self.space_id}"

    @property
    def condition(self) -> str:
        # Written out, not bound: only so can the planner tell that the part's index covers it.
        return f"model_id = {self.model_id} AND owner = '{self.owner}' AND space_id = {self.space_id}"

    def key(self, schema: str, column: str) -> str:
        """What the index sorts by."""
        # Named with pgvector's schema: `vector` alone is the row type of our table.
        return f"CAST({column} AS {schema}.{self._kind}({self.dimensions}))"

    @property
    def operators(self) -> str:
        return f"{self._kind}_cosine_ops"

    @property
    def _kind(self) -> str:
        return "vector" if self.dimensions <= FULL_DIMENSIONS else "halfvec"


@dataclass(frozen=True, slots=True)
class _Search:
    """One query, in one transaction."""

    connection: Connection
    part: _Part
    allowed: Allowed
    query: Embedding
    limit: int

    def compare(self) -> Found:
        """The nearest of all that the filter lets through, exactly."""
        return self._run(
            f"SELECT v.seq, v.embedding <=> :vector_query AS distance FROM {self._rows}"
            " ORDER BY distance, v.seq LIMIT :vector_limit"
        )

    def through_index(self) -> Found:
        """The nearest as far as the index finds them."""
        self.connection.run(
            f"SELECT set_config('hnsw.ef_search', '{SEARCHED}', true),"
            # Goes on until enough have passed the filter; without it, a filter acts after the limit.
            " set_config('hnsw.iterative_scan', 'relaxed_order', true)"
        )
        schema = pgvector_schema(self.connection)
        key, wanted = self.part.key(schema, "v.embedding"), self.part.key(schema, ":vector_query")
        return self._run(
            "WITH candidate AS MATERIALIZED ("
            f" SELECT v.seq, v.embedding <=> :vector_query AS distance FROM {self._rows}"
            f" ORDER BY {key} <=> {wanted} LIMIT 2 * :vector_limit)"
            " SELECT seq, distance FROM candidate ORDER BY distance, seq LIMIT :vector_limit"
        )

    @property
    def _rows(self) -> str:
        part = self.part
        return (
            f"(SELECT seq, embedding FROM vector WHERE {part.condition}) v"
            f" JOIN {part.owner} o ON o.seq = v.seq WHERE {self.allowed.condition}"
        )

    def _run(self, sql: str) -> Found:
        params = {**self.allowed.params, "vector_query": self.query, "vector_limit": self.limit}
        return [(row["seq"], 1 - row["distance"]) for row in self.connection.run(sql, params)]


def pgvector_schema(connection: Connection) -> str:
    [row] = connection.run(
        "SELECT quote_ident(n.nspname) AS schema FROM pg_extension e"
        " JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    )
    return str(row["schema"])


def indexes(connection: Connection, name: str = "vector_near_%") -> dict[str, bool]:
    """Those there are, by name, and whether each is fit for use."""
    rows = connection.run(
        "SELECT CAST(c.relname AS TEXT) AS name, i.indisvalid AS fit FROM pg_class t"
        " JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE t.oid = to_regclass('vector') AND c.relname LIKE :name",
        {"name": name},
    )
    return {row["name"]: row["fit"] for row in rows}


def _tend(connection: Connection, model_id: int, dimensions: int) -> Iterator[str]:
    counts = {
        _Part(row["model_id"], row["owner"], row["space_id"], dimensions): row["count"]
        for row in connection.run(
            "SELECT model_id, owner, space_id, count(*) AS count FROM vector GROUP BY 1, 2, 3"
        )
    }
    there = indexes(connection)
    kept = {part.index_name for part, count in counts.items() if count >= INDEX_FROM // 2}
    for name, fit in there.items():
        # One that is unfit was left by a server that died while it made it.
        if name not in kept or not fit:
            connection.change(f"DROP INDEX CONCURRENTLY {name}")
            yield f"dropped the vector index {name}"
    if dimensions > MOST_DIMENSIONS:
        return
    for part, count in counts.items():
        if part.model_id == model_id and count >= INDEX_FROM and not there.get(part.index_name):
            _build(connection, part, count)
            yield f"made the vector index {part.index_name} over {count} vectors"


def _build(connection: Connection, part: _Part, count: int) -> None:
    # Built in memory if it fits there, which is many times as fast.
    megabytes = min(MOST_MEMORY_MB, 64 + count * (4 * part.dimensions + 400) // 2**20)
    connection.change(f"SET maintenance_work_mem = '{megabytes}MB'")
    # CONCURRENTLY: nobody has to wait while it is made.
    key = part.key(pgvector_schema(connection), "embedding")
    create = (
        f"CREATE INDEX CONCURRENTLY {part.index_name} ON vector"
        f" USING hnsw (({key}) {part.operators}) WHERE {part.condition}"
    )
    try:
        connection.change(create)
    except errors.DiskFull:
        # Several workers build it in shared memory, of which a container has little; one needs none.
        connection.change(f"DROP INDEX CONCURRENTLY IF EXISTS {part.index_name}")
        connection.change("SET max_parallel_maintenance_workers = 0")
        connection.change(create)
