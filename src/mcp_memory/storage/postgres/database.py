"""The PostgreSQL engine: transactions, bulk writes, migrations and background duties."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql as psycopg_sql
from psycopg.rows import tuple_row

from mcp_memory.storage.consistency import repair_inconsistencies
from mcp_memory.storage.database import Duty, Params, Row, Script, insert_sql
from mcp_memory.storage.diagnostics import Finding
from mcp_memory.storage.postgres import schema as postgres_schema
from mcp_memory.storage.postgres.errors import translated_errors, uncertain_outcome
from mcp_memory.storage.postgres.pool import (
    SCHEMA,
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
from mcp_memory.storage.postgres.statements import SQL, Raw, run, translated
from mcp_memory.storage.postgres.vectors import PostgresVectors
from mcp_memory.storage.postgres.words import PostgresWords
from mcp_memory.storage.scope import in_list

CONNECTIONS = 10
PATIENCE, REPLICA_PATIENCE = 10.0, 1.0
"""Seconds a transaction waits for a connection before it fails, or falls back to the primary."""

LOCK_SECONDS = 10
"""How long a writer waits for another writer in the same space."""

READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = (
    "BEGIN ISOLATION LEVEL READ COMMITTED;"
    # A process that hangs within a transaction must not lock its space forever.
    " SET LOCAL idle_in_transaction_session_timeout = '60s'"
)
NOT_DURABLE = "; SET LOCAL synchronous_commit = off"
FEW = 20
"""Rows up to which pipelined statements are faster than a COPY."""
_NO_PARAMS: Params = {}


class PostgresDatabase:
    """A database that many threads, processes and machines may use at once.

    With `read_url`, read transactions go to that replica once it has replayed everything that this
    process wrote.
    """

    name = "postgres"

    def __init__(
        self, url: str, read_url: str = "", connections: int = CONNECTIONS, patience: float = PATIENCE
    ) -> None:
        self._url = url
        self._read_url = read_url
        self._primary = Pool(url, connections, patience)
        self._replica = (
            Replica(Pool(read_url, connections, REPLICA_PATIENCE), self._primary) if read_url else None
        )
        self.words = PostgresWords(self._outside_transactions)
        self.vectors = PostgresVectors(self._outside_transactions)

    @contextmanager
    def read(self, *, urgent: bool = False, whole: bool = False) -> Iterator["PostgresConnection"]:
        with translated_errors(), self._begun_reading() as raw:
            try:
                yield PostgresConnection(raw)
            finally:
                roll_back(raw)

    @contextmanager
    def write(
        self, *, space: str | None = None, durable: bool = True, patience: float | None = None
    ) -> Iterator["PostgresConnection"]:
        begin = _begin_writing(space, durable, LOCK_SECONDS if patience is None else patience)
        with translated_errors(), self._primary.begun(begin, patience) as raw:
            try:
                connection = PostgresConnection(raw)
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
        with translated_errors(), connected(self._url) as raw:
            refuse_shared_session(raw, self._url)
            postgres_schema.migrate(raw, scripts)

    def migrate_further(self) -> Iterator[str]:
        yield from ()  # `migrate` does everything

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
            return int(run(raw, "schema_size", schema=SCHEMA)[0]["bytes"])

    def cache_bytes(self) -> int:
        return 0  # they are in the server's process

    def examine(self, *, quick: bool = False, now: datetime | None = None) -> Iterator[Finding]:
        from mcp_memory.storage.postgres.diagnostics import examine

        return examine(self._url, self._read_url, quick=quick, now=now)

    def repair(self) -> int:
        # PostgreSQL's column types refuse unreadable values.
        with self.write() as connection:
            return repair_inconsistencies(connection)

    def scrub(self) -> None:
        """Autovacuum removes dead rows; files and backups are the operator's responsibility."""

    def back_up(self, path: Path) -> None:
        from mcp_memory.storage.copying import copy
        from mcp_memory.storage.sqlite import SqliteDatabase
        from mcp_memory.storage.store import Store

        target = Store(SqliteDatabase(path, "NORMAL")).open()
        try:
            copy(Store(self), target)
        finally:
            target.close()

    def set_sequences(self, connection: "PostgresConnection", last: Sequence[dict[str, Any]]) -> None:
        connection.change_many(SQL["set_sequence"], last)

    def close(self) -> None:
        self._primary.close()
        if self._replica:
            self._replica.pool.close()

    @contextmanager
    def _begun_reading(self) -> Iterator[Raw]:
        with self._replica.current() if self._replica else nullcontext() as raw:
            if raw is not None:
                raw.execute(READ)
                yield raw
                return
        with self._primary.begun(READ) as raw:
            yield raw

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
    def _outside_transactions(self) -> Iterator["PostgresConnection"]:
        """For statements that PostgreSQL refuses in a transaction, like CREATE INDEX CONCURRENTLY."""
        with translated_errors(), connected(self._url) as raw:
            connection = PostgresConnection(raw)
            yield connection
            connection.send()


class PostgresConnection:
    """A transaction on one psycopg connection.

    Statements without a result are buffered, and sent in one pipeline with the next statement that has
    one: most of the time is network latency.
    """

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self._buffer: list[tuple[str, Params]] = []

    def run(self, sql: str, params: Params = _NO_PARAMS) -> list[Row]:
        statement = translated(sql)
        with self._sending():
            cursor = self.raw.execute(statement.sql, statement.bound(params), binary=True)
        return cursor.fetchall()

    def tuples(self, sql: str, params: Params = _NO_PARAMS) -> list[tuple[Any, ...]]:
        statement = translated(sql)
        with self._sending(), self.raw.cursor(row_factory=tuple_row) as cursor:
            cursor.execute(statement.sql, statement.bound(params), binary=True)
            return cursor.fetchall()

    def listed(self, keys: Sequence[Any]) -> tuple[str, Params]:
        return in_list(keys)

    def change(self, sql: str, params: Params = _NO_PARAMS) -> int:
        statement = translated(sql)
        with self._sending():
            cursor = self.raw.execute(statement.sql, statement.bound(params))
        return cursor.rowcount

    def change_many(self, sql: str, rows: Sequence[Params]) -> None:
        statement = translated(sql)
        bound = [statement.bound(row) for row in rows]
        if len(rows) <= FEW:
            self._buffer += [(statement.sql, row) for row in bound]
            return
        self.send()
        with self.raw.cursor() as cursor:
            cursor.executemany(statement.sql, bound)

    def send(self) -> None:
        """Send the buffered statements."""
        with self._sending():
            pass

    @contextmanager
    def _sending(self) -> Iterator[None]:
        if not self._buffer:
            yield
            return
        buffer, self._buffer = self._buffer, []
        try:
            with self.raw.pipeline():
                for sql, params in buffer:
                    self.raw.execute(sql, params)
                yield
        except BaseException:
            # After a failure the server skips statements that the driver takes for prepared.
            self.raw.close()
            raise

    def insert_all(
        self,
        table: str,
        columns: Sequence[str],
        rows: Sequence[Params],
        shared: Collection[str] = (),
        *,
        at_once: bool = False,
    ) -> None:
        if len(rows) <= FEW:
            self.change_many(insert_sql(table, columns), rows)
            return
        self.send()
        # Binary data must have exactly the types of the columns: PostgreSQL converts nothing here.
        types = self._types(table, columns)
        with (
            self.raw.cursor() as cursor,
            cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(types)
            for row in rows:
                copy.write_row([row[column] for column in columns])

    def insert_numbered(
        self, table: str, columns: Sequence[str], rows: Sequence[Params], shared: Collection[str] = ()
    ) -> list[int]:
        if len(rows) == 1:
            return [row["seq"] for row in self.run(f"{insert_sql(table, columns)} RETURNING seq", rows[0])]
        numbers = self.run(SQL["next_numbers"], {"table": table, "count": len(rows)})
        numbered = [{**row, **number} for row, number in zip(rows, numbers, strict=True)]
        self.insert_all(table, ("seq", *columns), numbered)
        return [number["seq"] for number in numbers]

    def _types(self, table: str, columns: Sequence[str]) -> list[int]:
        known = {row["name"]: row["oid"] for row in self.run(SQL["column_types"], {"table": table})}
        return [known[column] for column in columns]


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
