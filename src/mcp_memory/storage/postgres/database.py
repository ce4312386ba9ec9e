"""The PostgreSQL engine: transactions, migrations and background duties."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql as psycopg_sql

from mcp_memory.storage.consistency import repair_inconsistencies
from mcp_memory.storage.database import Duty, Script
from mcp_memory.storage.diagnostics import Finding
from mcp_memory.storage.postgres import online_migration
from mcp_memory.storage.postgres import schema as postgres_schema
from mcp_memory.storage.postgres.connection import PostgresConnection
from mcp_memory.storage.postgres.errors import translated_errors, uncertain_outcome
from mcp_memory.storage.postgres.hash_form import HashForm
from mcp_memory.storage.postgres.pool import (
    Pool,
    Replica,
    connected,
    refuse_shared_session,
    roll_back,
)
from mcp_memory.storage.postgres.signals import (
    CHANNEL,
    SPACE_LOCK,
    PostgresChangeSignal,
    PostgresLeaderElection,
)
from mcp_memory.storage.postgres.statements import SQL, Raw
from mcp_memory.storage.postgres.vectors import PostgresVectors
from mcp_memory.storage.postgres.words import PostgresWords

CONNECTIONS = 10
PATIENCE, REPLICA_PATIENCE = 10.0, 1.0
"""Seconds a transaction waits for a connection before it fails, or falls back to the primary."""

LOCK_SECONDS = 10
"""How long a writer waits for another writer in the same space."""

AT_ONCE_BYTES = 16_000_000
"""Size of a database up to which a migration takes a fraction of a second, for which everybody waits."""

READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = (
    "BEGIN ISOLATION LEVEL READ COMMITTED;"
    # A process that hangs within a transaction must not lock its space forever.
    " SET LOCAL idle_in_transaction_session_timeout = '60s'"
)
NOT_DURABLE = "; SET LOCAL synchronous_commit = off"


class PostgresDatabase:
    """A database that many threads, processes and machines may use at once.

    With `read_url`, read transactions go to that replica once it has replayed everything that this
    process wrote.
    """

    name = "postgres"

    def __init__(
        self,
        url: str,
        read_url: str = "",
        connections: int = CONNECTIONS,
        patience: float = PATIENCE,
        *,
        at_once_bytes: int = AT_ONCE_BYTES,
    ) -> None:
        """A database of more than `at_once_bytes` is migrated while it is used: see `migrate_further`."""
        self._url = url
        self._read_url = read_url
        self._at_once_bytes = at_once_bytes
        self._scripts: Sequence[Script] = ()
        self._primary = Pool(url, connections, patience)
        self._replica = (
            Replica(Pool(read_url, connections, REPLICA_PATIENCE), self._primary) if read_url else None
        )
        self.words = PostgresWords(self._outside_transactions)
        self.vectors = PostgresVectors(self._outside_transactions)

    @contextmanager
    def read(self, *, urgent: bool = False, whole: bool = False) -> Iterator[PostgresConnection]:
        with translated_errors(), self._begun_reading() as (raw, form):
            try:
                yield form.connection(raw)
            finally:
                roll_back(raw)

    @contextmanager
    def write(
        self, *, space: str | None = None, durable: bool = True, patience: float | None = None
    ) -> Iterator[PostgresConnection]:
        form = self._primary.hash_form
        begin = _begin_writing(space, durable, LOCK_SECONDS if patience is None else patience) + form.guard
        with translated_errors(), self._primary.begun(begin, patience) as raw:
            try:
                connection = form.connection(raw)
                yield connection
                connection.send()
            except BaseException:
                roll_back(raw)
                raise
            try:
                with uncertain_outcome(raw):
                    _commit(raw)
            finally:
                self._after_commit(raw, durable)

    def migrate(self, scripts: Sequence[Script]) -> None:
        self._scripts = scripts
        with translated_errors(), connected(self._url) as raw:
            refuse_shared_session(raw, self._url)
            postgres_schema.migrate(raw, scripts, self._at_once_bytes)
            self._primary.hash_form.look(raw)

    def migrate_further(self) -> Iterator[str]:
        if not self._primary.hash_form.is_compact:
            with translated_errors(), connected(self._url) as raw:
                yield from online_migration.migrate_further(raw, self._scripts)

    @contextmanager
    def change_signal(self) -> Iterator[PostgresChangeSignal]:
        signal = PostgresChangeSignal(self._url)
        try:
            yield signal
        finally:
            signal.close()

    @contextmanager
    def leader_election(self, duty: Duty = "maintenance") -> Iterator[PostgresLeaderElection]:
        election = PostgresLeaderElection(self._url, duty)
        try:
            yield election
        finally:
            election.close()

    def exists(self) -> bool:
        from mcp_memory.storage.postgres.diagnostics import has_tables

        with translated_errors(), connected(self._url) as raw:
            return has_tables(raw)

    def size(self) -> int:
        with translated_errors(), connected(self._url) as raw:
            return postgres_schema.size(raw)

    def cache_bytes(self) -> int:
        return 0  # they are in the server's process

    def examine(self, *, quick: bool = False, now: datetime | None = None) -> Iterator[Finding]:
        from mcp_memory.storage.postgres.diagnostics import examine

        return examine(self._url, self._read_url, quick=quick, now=now)

    def repair(self) -> int:
        # PostgreSQL's column types refuse unreadable values.
        with self.write() as connection:
            return repair_inconsistencies(connection)

    def scrub(self) -> bool:
        # Autovacuum removes dead rows; files and backups are the operator's responsibility.
        return True

    def back_up(self, path: Path) -> None:
        from mcp_memory.storage.copying import copy
        from mcp_memory.storage.sqlite import SqliteDatabase
        from mcp_memory.storage.store import Store

        target = Store(SqliteDatabase(path, "NORMAL")).open()
        try:
            copy(Store(self), target)
        finally:
            target.close()

    def set_sequences(self, connection: PostgresConnection, last: Sequence[dict[str, Any]]) -> None:
        connection.change_many(SQL["set_sequence"], last)

    def close(self) -> None:
        self._primary.close()
        if self._replica:
            self._replica.pool.close()

    @contextmanager
    def _begun_reading(self) -> Iterator[tuple[Raw, HashForm]]:
        if self._replica:
            with self._replica.current() as raw:
                if raw is not None:
                    form = self._replica.pool.hash_form
                    raw.execute(READ + form.guard)
                    yield raw, form
                    return
        form = self._primary.hash_form
        with self._primary.begun(READ + form.guard) as raw:
            yield raw, form

    def _after_commit(self, raw: Raw, durable: bool) -> None:
        # The commit has succeeded: a failure here must not look like a failure of the write.
        try:
            if durable:
                # After the transaction, not in it: transactions with a NOTIFY commit one at a time, whatever
                # their space. Listeners that miss a notification only look later.
                raw.execute(f"NOTIFY {CHANNEL}")
            if self._replica:
                self._replica.require_position(raw, flushed=durable)
        except psycopg.Error:
            if self._replica:
                self._replica.forget_position()

    @contextmanager
    def _outside_transactions(self) -> Iterator[PostgresConnection]:
        """For statements that PostgreSQL refuses in a transaction, like CREATE INDEX CONCURRENTLY."""
        with translated_errors(), connected(self._url) as raw:
            connection = PostgresConnection(raw)
            yield connection
            connection.send()


def _begin_writing(space: str | None, durable: bool, patience: float) -> str:
    """Everything that opens a write transaction, in one round trip."""
    waiting = f"; SET LOCAL lock_timeout = '{max(1, round(patience * 1000))}ms'"
    lock = "" if space is None else f"; SELECT pg_advisory_xact_lock({SPACE_LOCK}, hashtext({_text(space)}))"
    return WRITE + waiting + ("" if durable else NOT_DURABLE) + lock


def _text(text: str) -> str:
    return psycopg_sql.Literal(text).as_string(None)


def _commit(raw: Raw) -> None:
    # COMMIT of a transaction with a failed statement rolls back without an error.
    if raw.execute("COMMIT").statusmessage != "COMMIT":
        raise AssertionError("a statement failed, but the transaction was to be committed")
