"""Connections to a PostgreSQL server, and to one that follows it."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from mcp_memory.storage.postgres_values import register_values

SCHEMA = "mcp_memory"
"""Where our tables are, apart from whatever else the database holds."""

CONNECTING_SECONDS = 10
"""How long to wait for the server to answer."""

REPLICA_PAUSE_SECONDS = 10.0
"""How long reads leave a replica alone that could not be reached."""

Raw = psycopg.Connection[DictRow]

_log = logging.getLogger(__name__)

# Transactions are begun and ended by our own statements: so BEGIN can say all it has to in one go.
_OPTIONS: dict[str, Any] = {"autocommit": True, "row_factory": dict_row, "application_name": "mcp-memory"}


@contextmanager
def connected(url: str) -> Iterator[Raw]:
    """A connection of one's own."""
    with connect(url) as raw:
        yield raw


def connect(url: str) -> Raw:
    raw: Raw = psycopg.connect(url, connect_timeout=CONNECTING_SECONDS, **_OPTIONS)
    configure(raw)
    return raw


def configure(raw: Raw) -> None:
    """Our tables, pgvector's types, and times in UTC."""
    [row] = raw.execute(
        """
        WITH extension AS (
            SELECT n.nspname, t.oid FROM pg_extension e
              JOIN pg_namespace n ON n.oid = e.extnamespace
              JOIN pg_type t ON t.typnamespace = e.extnamespace AND t.typname = 'vector'
             WHERE e.extname = 'vector')
        SELECT (SELECT oid FROM extension) AS vector_oid,
               set_config('TimeZone', 'UTC', false),
               set_config('idle_in_transaction_session_timeout', '60s', false),
               set_config('search_path', concat_ws(', ', CAST(%s AS TEXT), 'public',
                          (SELECT quote_ident(nspname) FROM extension WHERE nspname <> 'public')), false)
        """,
        [SCHEMA],
    ).fetchall()
    register_values(raw, row["vector_oid"])


class Pool:
    """Connections to one server, opened when first needed. `patience`: seconds to wait for one."""

    def __init__(self, url: str, connections: int, patience: float) -> None:
        self._opening = threading.Lock()
        self._connections = connections
        self._pool: ConnectionPool[Raw] = ConnectionPool(
            url, kwargs=_OPTIONS, configure=configure, min_size=1, max_size=connections, open=False,
            timeout=patience, reconnect_timeout=patience, name=SCHEMA,
        )  # fmt: skip

    @contextmanager
    def begun(self, sql: str) -> Iterator[Raw]:
        """A connection on which a transaction was begun."""
        self._open()
        raw = self._begin(sql)
        try:
            yield raw
        finally:
            self._pool.putconn(raw)

    def close(self) -> None:
        self._pool.close()

    def _begin(self, sql: str) -> Raw:
        # One that died in the pool, as all do when the server restarts, is found out here, before
        # anything was done with it, and the next one is taken.
        for attempt in range(self._connections + 1):
            raw = self._pool.getconn()
            try:
                raw.execute(sql)
            except BaseException as error:
                self._pool.putconn(raw)
                if not isinstance(error, psycopg.OperationalError) or attempt == self._connections:
                    raise
            else:
                return raw
        raise AssertionError("unreachable")

    def _open(self) -> None:
        with self._opening:
            if self._pool.closed:
                self._pool.open()


class Replica:
    """A server that follows the primary, a little behind."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._noting = threading.Lock()
        self._written = 0
        self._avoided_until = 0.0

    def has_to_follow(self, primary: Raw, *, flushed: bool) -> None:
        """From now on reads must see what the primary has committed by now; `flushed`: and has on disk."""
        place = "flush" if flushed else "insert"
        [row] = primary.execute(
            f"SELECT CAST(pg_current_wal_{place}_lsn() - '0/0' AS BIGINT) AS written"
        ).fetchall()
        with self._noting:
            self._written = max(self._written, row["written"])

    @contextmanager
    def current(self) -> Iterator[Raw | None]:
        """A connection whose transactions see all that this process has written; None if there is none."""
        with ExitStack() as returning:
            raw = self._connection(returning)
            if raw is None:
                returning.close()
            yield raw

    def _connection(self, returning: ExitStack) -> Raw | None:
        if time.monotonic() < self._avoided_until:
            return None
        try:
            raw = returning.enter_context(self.pool.begun("SELECT 1"))
            # Outside the transaction that is to come: inside it the answer could be newer than what it sees.
            [row] = raw.execute(
                "SELECT NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() - '0/0' >= %s AS current",
                [self._written],
            ).fetchall()
        except (psycopg.OperationalError, PoolTimeout) as error:
            _log.warning("the replica cannot be reached, reads go to the primary: %s", error)
            self._avoided_until = time.monotonic() + REPLICA_PAUSE_SECONDS
            return None
        return raw if row["current"] else None
