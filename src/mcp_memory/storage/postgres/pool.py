"""Connections to a PostgreSQL server, and to one that follows it."""

import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from mcp_memory.errors import Invalid, Unavailable
from mcp_memory.storage.postgres.errors import unreachable
from mcp_memory.storage.postgres.values import register_values

SCHEMA = "mcp_memory"
"""Where our tables are, apart from whatever else the database holds."""

CONNECTING_SECONDS = 10
"""How long to wait for the server to answer, unless the address says."""

ASKING_SECONDS = 2
"""How long to wait when only the reason is wanted why there is no connection."""

SHORTEST_PATIENCE = 0.25
"""Seconds that anybody waits for a connection: one may have to be made."""

REPLICA_PAUSE_SECONDS = 10.0
"""How long reads leave a replica alone that could not be read from."""

REPLICA_LAG_SECONDS = 5.0
"""How old what others wrote may look through a replica."""

Raw = psycopg.Connection[DictRow]

_log = logging.getLogger(__name__)

# What holds unless the address says otherwise. The system would take hours to notice a line that is dead.
_DEFAULTS: dict[str, Any] = {
    "application_name": "mcp-memory",
    "connect_timeout": CONNECTING_SECONDS,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}

# Transactions are begun and ended by our own statements: so BEGIN can say all it has to in one go.
_OPTIONS: dict[str, Any] = {"autocommit": True, "row_factory": dict_row, "client_encoding": "UTF8"}


@contextmanager
def connected(url: str) -> Iterator[Raw]:
    """A connection of one's own, for work that may take its time."""
    try:
        raw = connect(url)
    except psycopg.OperationalError as error:
        raise unreachable(error) from error
    with raw:
        raw.execute("SET statement_timeout = 0")
        yield raw


def connect(url: str, **options: Any) -> Raw:
    raw: Raw = psycopg.connect(**{**connecting(url), **options})
    configure(raw)
    return raw


def connecting(url: str) -> dict[str, Any]:
    """How to connect to an address."""
    # Whatever is wrong with it, the driver's reason could quote the password, or the half of it that
    # looks like a host or a port.
    with suppress(psycopg.ProgrammingError):
        given = conninfo_to_dict(url)
        host, port = str(given.get("host", "")), str(given.get("port", ""))
        if "@" not in host.lstrip("@") and re.fullmatch(r"[\d,]*", port):
            return {**_DEFAULTS, **given, **_OPTIONS}
    raise Invalid(
        "the address of PostgreSQL cannot be read: write postgresql://user:password@host/database, "
        "and special characters of the password as %40 for @, %2F for /, %25 for %"
    )


def configure(raw: Raw) -> None:
    """Our tables, pgvector's types, times in UTC, and an end to sessions whose machine is gone."""
    [row] = raw.execute(
        """
        WITH extension AS (
            SELECT n.nspname, t.oid FROM pg_extension e
              JOIN pg_namespace n ON n.oid = e.extnamespace
              JOIN pg_type t ON t.typnamespace = e.extnamespace AND t.typname = 'vector'
             WHERE e.extname = 'vector')
        SELECT (SELECT oid FROM extension) AS vector_oid,
               set_config('TimeZone', 'UTC', false),
               set_config('idle_in_transaction_session_timeout', '1h', false),
               set_config('tcp_keepalives_idle', '30', false),
               set_config('tcp_keepalives_interval', '10', false),
               set_config('tcp_keepalives_count', '3', false),
               -- What is acknowledged is on disk, whatever is usual for this role.
               set_config('synchronous_commit',
                          replace(current_setting('synchronous_commit'), 'off', 'on'), false),
               -- To compile a statement of ours takes longer than to run it.
               set_config('jit', 'off', false),
               set_config('search_path', concat_ws(', ', CAST(%s AS TEXT), 'public',
                          (SELECT quote_ident(nspname) FROM extension WHERE nspname <> 'public')), false)
        """,
        [SCHEMA],
    ).fetchall()
    register_values(raw, row["vector_oid"])


def roll_back(raw: Raw) -> None:
    # A lost connection has rolled back on its own.
    with suppress(psycopg.OperationalError):
        raw.execute("ROLLBACK")


def refuse_shared_session(raw: Raw, url: str) -> None:
    """A pooler that lends one session to many mixes up their settings, their locks and their bells."""
    if _backend(raw) == raw.info.backend_pid:
        return  # nothing stands in between
    with connect(url) as other:
        if _backend(other) == _backend(raw):
            raise Unavailable(
                "DATABASE_URL leads to a pooler that lends one session to several clients in turn. "
                "Set pool_mode = session there, or name PostgreSQL itself."
            )


def _backend(raw: Raw) -> int:
    """The process that serves this connection at the moment."""
    [row] = raw.execute("SELECT pg_backend_pid() AS pid").fetchall()
    return int(row["pid"])


class Pool:
    """Connections to one server, opened when first needed. `patience`: seconds to wait for one."""

    def __init__(self, url: str, connections: int, patience: float) -> None:
        self._url = url
        self._opening = threading.Lock()
        self._connections = connections
        self._pool: ConnectionPool[Raw] = ConnectionPool(
            kwargs=connecting(url), configure=configure, min_size=1, max_size=connections, open=False,
            timeout=patience, reconnect_timeout=patience, name=SCHEMA,
        )  # fmt: skip

    @contextmanager
    def begun(self, sql: str, patience: float | None = None) -> Iterator[Raw]:
        """A connection on which a transaction was begun; `patience`, if it is less than usual."""
        self._open()
        raw = self._begin(sql, patience)
        try:
            yield raw
        except errors.ReadOnlySqlTransaction:
            # What was the primary when it was connected to is that no more: the next try looks anew.
            raw.close()
            raise
        finally:
            self._pool.putconn(raw)

    def close(self) -> None:
        self._pool.close()

    def _begin(self, sql: str, patience: float | None) -> Raw:
        # One that died in the pool, as all do when the server restarts, is found out here, before
        # anything was done with it, and the next one is taken.
        for attempt in range(self._connections + 1):
            raw = self._taken(patience)
            try:
                raw.execute(sql)
            except BaseException:
                died = raw.closed
                roll_back(raw)
                self._pool.putconn(raw)
                if not died or attempt == self._connections:
                    raise
            else:
                return raw
        raise AssertionError("unreachable")

    def _taken(self, patience: float | None) -> Raw:
        try:
            return self._pool.getconn(None if patience is None else max(patience, SHORTEST_PATIENCE))
        except PoolTimeout as error:
            if patience is not None:  # who is in a hurry has no use for the reason
                raise Unavailable("no connection to PostgreSQL was free in time; try again") from error
            raise self._why_none() from error

    def _why_none(self) -> Unavailable:
        try:
            connect(self._url, connect_timeout=ASKING_SECONDS).close()
        except psycopg.Error as error:
            return unreachable(error)
        return Unavailable(f"all {self._connections} connections to PostgreSQL are in use; try again")

    def _open(self) -> None:
        with self._opening:
            if self._pool.closed:
                self._pool.open()


class Replica:
    """A server that follows the primary, a little behind."""

    def __init__(self, pool: Pool, primary: Pool) -> None:
        self.pool = pool
        self._primary = primary
        self._noting = threading.Lock()
        self._written = 0
        self._lost_count, self._regained_count = 0, -1
        self._asked_at = float("-inf")
        self._avoided_until = float("-inf")
        self._identity: tuple[object, ...] = ()

    def has_to_follow(self, primary: Raw, *, flushed: bool) -> None:
        """From now on reads must see what the primary has committed by now; `flushed`: and has on disk."""
        place = "flush" if flushed else "insert"
        [row] = primary.execute(
            f"SELECT CAST(pg_current_wal_{place}_lsn() - '0/0' AS BIGINT) AS written, {IDENTITY}"
        ).fetchall()
        with self._noting:
            self._written = max(self._written, row["written"])
            self._identity = (row["cluster"], row["database"])

    def lose_track(self) -> None:
        """Something may have been written of which it is not known where in the log it stands."""
        with self._noting:
            self._lost_count += 1

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
        if not self._asked_primary():
            return None
        try:
            raw = returning.enter_context(self.pool.begun("SELECT 1"))
            # Outside the transaction that is to come: inside it the answer could be newer than what it sees.
            [row] = raw.execute(_PLACE).fetchall()
        except (psycopg.Error, Unavailable) as error:
            self._avoid(f"cannot be read from: {error}")
            return None
        return raw if self._is_ours(row) and (row["replayed"] or 0) >= self._written else None

    def _is_ours(self, row: DictRow) -> bool:
        if not row["follows"]:
            self._avoid("follows no primary")
        elif (row["cluster"], row["database"]) != self._identity:
            self._avoid("follows another database than DATABASE_URL names")
        else:
            return True
        return False

    def _asked_primary(self) -> bool:
        """Whether it is known how far the replica has to be. Asked anew now and then: others write too."""
        with self._noting:
            now, lost_count = time.monotonic(), self._lost_count
            known = lost_count == self._regained_count
            if known and now - self._asked_at < REPLICA_LAG_SECONDS:
                return True
            self._asked_at = now
        try:
            with self._primary.begun("SELECT 1") as primary:
                self.has_to_follow(primary, flushed=True)
        except (psycopg.Error, Unavailable) as error:
            _log.warning("the primary cannot be asked how far it is: %s", error)
            return known  # without the primary, the replica goes on with what it has
        self._regained_count = lost_count
        return True

    def _avoid(self, reason: str) -> None:
        _log.warning("reads go to the primary, because the replica %s", reason)
        self._avoided_until = time.monotonic() + REPLICA_PAUSE_SECONDS


# A place in the log says something only within one cluster; and a cluster has many databases.
IDENTITY = (
    "(SELECT system_identifier FROM pg_control_system()) AS cluster,"
    " (SELECT oid FROM pg_database WHERE datname = current_database()) AS database"
)
_PLACE = (
    "SELECT pg_is_in_recovery() AS follows,"
    f" CAST(pg_last_wal_replay_lsn() - '0/0' AS BIGINT) AS replayed, {IDENTITY}"
)
