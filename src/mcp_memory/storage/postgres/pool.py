"""Connection pools of a PostgreSQL server and of its replica."""

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
from mcp_memory.storage.postgres.hash_form import HashForm
from mcp_memory.storage.postgres.statements import Raw, run
from mcp_memory.storage.postgres.values import register_values

SCHEMA = "mcp_memory"
"""The schema of our tables."""

CONNECTING_SECONDS = 10
"""Timeout for connecting, unless the address sets one."""

ASKING_SECONDS = 2
"""Timeout when connecting only to find out why there is no connection."""

SHORTEST_PATIENCE = 0.25
"""Minimum wait for a connection in seconds: one may have to be opened."""

REPLICA_PAUSE_SECONDS = 10.0
"""How long reads avoid a replica after a failure."""

REPLICA_LAG_SECONDS = 5.0
"""How stale other processes' writes may look on a replica."""

_log = logging.getLogger(__name__)

# Defaults that the address may override. Without keepalives, a dead connection goes unnoticed for hours.
_DEFAULTS: dict[str, Any] = {
    "application_name": "mcp-memory",
    "connect_timeout": CONNECTING_SECONDS,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}

# Autocommit: our own BEGIN sends everything that opens a transaction in one round trip.
_OPTIONS: dict[str, Any] = {"autocommit": True, "row_factory": dict_row, "client_encoding": "UTF8"}


@contextmanager
def connected(url: str) -> Iterator[Raw]:
    """A connection outside the pool, for long-running work."""
    try:
        raw = connect(url)
    except psycopg.OperationalError as error:
        raise unreachable(error) from error
    with raw:
        raw.execute("SET statement_timeout = 0")
        yield raw


def connect(url: str, **options: Any) -> Raw:
    raw: Raw = psycopg.connect(**{**connection_options(url), **options})
    try:
        configure(raw)
    except BaseException:
        raw.close()
        raise
    return raw


def connection_options(url: str) -> dict[str, Any]:
    """Connection parameters of an address."""
    # Our own message: the driver's could quote the password, or the part of it that looks like a host.
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
    """Set up the session, and register pgvector's types."""
    [row] = run(raw, "configure_session", schema=SCHEMA)
    register_values(raw, row["vector_oid"])


def roll_back(raw: Raw) -> None:
    # A lost connection has rolled back on its own.
    with suppress(psycopg.OperationalError):
        raw.execute("ROLLBACK")


def refuse_shared_session(raw: Raw, url: str) -> None:
    """Refuse a pooler that shares a session: settings, locks and notifications would get mixed up."""
    if _backend(raw) == raw.info.backend_pid:
        return  # a direct connection
    with connect(url) as other:
        if _backend(other) == _backend(raw):
            raise Unavailable(
                "DATABASE_URL leads to a pooler that shares a session between clients. "
                "Set pool_mode = session there, or name PostgreSQL itself."
            )


def _backend(raw: Raw) -> int:
    """The server process behind this connection."""
    [row] = run(raw, "backend_pid")
    return int(row["pid"])


class Pool:
    """Connections to one server, opened on first use. `patience`: seconds to wait for one."""

    def __init__(self, url: str, connections: int, patience: float) -> None:
        self._url = url
        self._opening = threading.Lock()
        self._connections = connections
        self.hash_form = HashForm()
        self._pool: ConnectionPool[Raw] = ConnectionPool(
            kwargs=connection_options(url), configure=configure, min_size=1, max_size=connections, open=False,
            timeout=patience, reconnect_timeout=patience, name=SCHEMA,
        )  # fmt: skip

    @contextmanager
    def begun(self, sql: str, patience: float | None = None) -> Iterator[Raw]:
        """A connection with an open transaction; `patience` overrides the usual timeout."""
        self._open()
        raw = self._begin(sql, patience)
        try:
            yield raw
        except errors.ReadOnlySqlTransaction:
            # The server has become a replica since the connection was made: the next attempt reconnects.
            raw.close()
            raise
        finally:
            self._pool.putconn(raw)

    def close(self) -> None:
        self._pool.close()

    def _begin(self, sql: str, patience: float | None) -> Raw:
        # Connections that died in the pool, as all do when the server restarts, fail here, before any work
        # was done, and the next one is tried.
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
            if patience is not None:  # finding the reason would take longer
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
    """A streaming replica of the primary, a little behind."""

    def __init__(self, pool: Pool, primary: Pool) -> None:
        self.pool = pool
        self._primary = primary
        self._lock = threading.Lock()
        self._written = 0
        self._lost_count, self._regained_count = 0, -1
        self._asked_at = float("-inf")
        self._avoided_until = float("-inf")
        self._identity: tuple[object, ...] = ()

    def require_position(self, primary: Raw, *, flushed: bool) -> None:
        """Require that later reads see everything committed so far; `flushed`: and on disk."""
        [row] = run(primary, "primary_position", {"place": "flush" if flushed else "insert"})
        with self._lock:
            self._written = max(self._written, row["written"])
            self._identity = (row["cluster"], row["database"])

    def forget_position(self) -> None:
        """A write may have been committed at an unknown position of the log."""
        with self._lock:
            self._lost_count += 1

    @contextmanager
    def current(self) -> Iterator[Raw | None]:
        """A connection that sees everything this process has written; None if there is none."""
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
            # Before the read transaction: inside it, the position could be newer than its snapshot.
            [row] = run(raw, "replica_position")
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
        """Whether the required position is known. Refreshed regularly, because others write too."""
        with self._lock:
            now, lost_count = time.monotonic(), self._lost_count
            known = lost_count == self._regained_count
            if known and now - self._asked_at < REPLICA_LAG_SECONDS:
                return True
            self._asked_at = now
        try:
            with self._primary.begun("SELECT 1") as primary:
                self.require_position(primary, flushed=True)
        except (psycopg.Error, Unavailable) as error:
            _log.warning("cannot read the log position of the primary: %s", error)
            return known  # without the primary, the replica serves what it has
        self._regained_count = lost_count
        return True

    def _avoid(self, reason: str) -> None:
        _log.warning("reads go to the primary, because the replica %s", reason)
        self._avoided_until = time.monotonic() + REPLICA_PAUSE_SECONDS
