"""PostgreSQL: one database that many servers use at once."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache

import psycopg
from psycopg import sql as psycopg_sql

from mcp_memory.storage.database import Params, Row, Script, insert_sql
from mcp_memory.storage.postgres import schema as postgres_schema
from mcp_memory.storage.postgres.errors import translated_errors, uncertain_outcome
from mcp_memory.storage.postgres.pool import Pool, Raw, Replica, connected, refuse_shared_session, roll_back
from mcp_memory.storage.postgres.signals import (
    CHANNEL,
    SPACE_LOCK,
    PostgresChangeSignal,
    PostgresLeaderElection,
)
from mcp_memory.storage.postgres.vectors import PostgresVectors
from mcp_memory.storage.postgres.words import PostgresWords

CONNECTIONS = 10
PATIENCE, REPLICA_PATIENCE = 10.0, 1.0
"""Seconds a transaction waits for a connection before it fails, or goes to the primary."""

LOCK_SECONDS = 10
"""How long a writer waits for another one in the same space."""

READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = (
    "BEGIN ISOLATION LEVEL READ COMMITTED;"
    # A process that was frozen in the middle does not keep others from its space for ever.
    " SET LOCAL idle_in_transaction_session_timeout = '60s'"
)
NOT_DURABLE = "; SET LOCAL synchronous_commit = off"
FEW = 20
"""Rows up to which statements, sent together, are quicker than a COPY."""
_NOTHING: Params = {}


class PostgresDatabase:
    """A database that many threads, processes and machines may use at once.

    With `read_url`, transactions that only look go to that replica, as soon as it has all that
    this process wrote before.
    """

    name = "postgres"

    def __init__(
        self, url: str, read_url: str = "", connections: int = CONNECTIONS, patience: float = PATIENCE
    ) -> None:
        self._url = url
        self._primary = Pool(url, connections, patience)
        self._replica = (
            Replica(Pool(read_url, connections, REPLICA_PATIENCE), self._primary) if read_url else None
        )
        self.words = PostgresWords()
        self.vectors = PostgresVectors(self._outside_transactions)

    @contextmanager
    def read(self, *, urgent: bool = False) -> Iterator["PostgresConnection"]:
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

    @contextmanager
    def bell(self) -> Iterator[PostgresChangeSignal]:
        bell = PostgresChangeSignal(self._url)
        try:
            yield bell
        finally:
            bell.close()

    @contextmanager
    def candidacy(self) -> Iterator[PostgresLeaderElection]:
        candidacy = PostgresLeaderElection(self._url)
        try:
            yield candidacy
        finally:
            candidacy.close()

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
        # What was written is kept by now: a failure here must not look like a failure of it.
        try:
            if durable:
                # After the transaction, not in it: of transactions with a NOTIFY only one at a time
                # may commit, whatever space it is in. A bell not rung makes listeners look later.
                raw.execute(f"NOTIFY {CHANNEL}")
            if self._replica:
                self._replica.has_to_follow(raw, flushed=durable)
        except psycopg.Error:
            if self._replica:
                self._replica.lose_track()

    @contextmanager
    def _outside_transactions(self) -> Iterator["PostgresConnection"]:
        """For what PostgreSQL refuses inside one, like making an index while others write."""
        with translated_errors(), connected(self._url) as raw:
            connection = PostgresConnection(raw)
            yield connection
            connection.send()


class PostgresConnection:
    """A transaction on one psycopg connection.

    Statements whose answer nobody reads wait, and are sent together with the next one whose answer is
    read: the way to the server is what takes most of the time.
    """

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self._waiting: list[tuple[str, Params]] = []

    def run(self, sql: str, params: Params = _NOTHING) -> list[Row]:
        statement = translated(sql)
        with self._sending():
            cursor = self.raw.execute(statement.sql, statement.bound(params), binary=True)
        return cursor.fetchall()

    def change(self, sql: str, params: Params = _NOTHING) -> int:
        statement = translated(sql)
        with self._sending():
            cursor = self.raw.execute(statement.sql, statement.bound(params))
        return cursor.rowcount

    def change_many(self, sql: str, rows: Sequence[Params]) -> None:
        statement = translated(sql)
        bound = [statement.bound(row) for row in rows]
        if len(rows) <= FEW:
            self._waiting += [(statement.sql, row) for row in bound]
            return
        self.send()
        with self.raw.cursor() as cursor:
            cursor.executemany(statement.sql, bound)

    def send(self) -> None:
        """Let the server do what waits."""
        with self._sending():
            pass

    @contextmanager
    def _sending(self) -> Iterator[None]:
        if not self._waiting:
            yield
            return
        waiting, self._waiting = self._waiting, []
        try:
            with self.raw.pipeline():
                for sql, params in waiting:
                    self.raw.execute(sql, params)
                yield
        except BaseException:
            # What comes after a failure the server passes over, but the driver takes it for prepared there.
            self.raw.close()
            raise

    def insert_all(self, table: str, columns: Sequence[str], rows: Sequence[Params]) -> None:
        if len(rows) <= FEW:
            self.change_many(insert_sql(table, columns), rows)
            return
        self.send()
        # Binary data must be of exactly the columns' types: PostgreSQL converts nothing here.
        types = self._types(table, columns)
        with (
            self.raw.cursor() as cursor,
            cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(types)
            for row in rows:
                copy.write_row([row[column] for column in columns])

    def insert_numbered(self, table: str, columns: Sequence[str], rows: Sequence[Params]) -> list[int]:
        if len(rows) == 1:
            return [row["seq"] for row in self.run(f"{insert_sql(table, columns)} RETURNING seq", rows[0])]
        numbers = self.run(
            "SELECT nextval(pg_get_serial_sequence(:table, 'seq')) AS seq FROM generate_series(1, :count)",
            {"table": table, "count": len(rows)},
        )
        numbered = [{**row, **number} for row, number in zip(rows, numbers, strict=True)]
        self.insert_all(table, ("seq", *columns), numbered)
        return [number["seq"] for number in numbers]

    def _types(self, table: str, columns: Sequence[str]) -> list[int]:
        known = {
            row["name"]: row["oid"]
            for row in self.run(
                "SELECT CAST(attname AS TEXT) AS name, CAST(atttypid AS BIGINT) AS oid FROM pg_attribute"
                " WHERE attrelid = to_regclass(:table) AND attnum > 0",
                {"table": table},
            )
        }
        return [known[column] for column in columns]


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL as the driver has it; each list of parameters, by its prefix and length, is one array."""

    sql: str
    lists: tuple[tuple[str, int], ...]

    def bound(self, params: Params) -> Params:
        if not self.lists:
            return params
        arrays = {
            f"{prefix}_all": array_text([params[f"{prefix}{number}"] for number in range(length)])
            for prefix, length in self.lists
        }
        return {**params, **arrays}


_LIST = re.compile(r"(?<!NOT )IN \((:([a-z_]+)0(?:, :\2\d+)*)\)")
_LEXEME = re.compile(r"--[^\n]*|'(?:[^']|'')*'|::|%|:([A-Za-z_]\w*)")


@lru_cache(maxsize=2000)
def translated(sql: str) -> Statement:
    """`:name` as the driver has it; what only looks like it, in a text or a comment, stays.

    A list of any length becomes one array: one statement to prepare and plan, not one for each length.
    """
    lists = {prefix: names.count(":") for names, prefix in _LIST.findall(sql)}
    with_arrays = _LIST.sub(r"= ANY(:\2_all)", sql)
    return Statement(_LEXEME.sub(_as_psycopg, with_arrays), tuple(lists.items()))


def array_text(values: Sequence[object]) -> str:
    """An array in writing, whose type the statement decides."""
    return "{" + ",".join(map(_element, values)) + "}"


def _element(value: object) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return "NULL" if value is None else str(value)


def _as_psycopg(found: re.Match[str]) -> str:
    if found[1]:
        return f"%({found[1]})s"
    return "" if found[0].startswith("--") else found[0].replace("%", "%%")


def _begin_writing(space: str | None, durable: bool, patience: float) -> str:
    """All that a transaction begins with, in one go."""
    waiting = f"; SET LOCAL lock_timeout = '{max(1, round(patience * 1000))}ms'"
    lock = "" if space is None else f"; SELECT pg_advisory_xact_lock({SPACE_LOCK}, hashtext({_text(space)}))"
    return WRITE + waiting + ("" if durable else NOT_DURABLE) + lock


def _text(text: str) -> str:
    return psycopg_sql.Literal(text).as_string(None)


def _commit(raw: Raw) -> None:
    # Of a transaction in which a statement failed, COMMIT makes a ROLLBACK, and does not complain.
    if raw.execute("COMMIT").statusmessage != "COMMIT":
        raise AssertionError("a statement failed, but the transaction was to be kept")
