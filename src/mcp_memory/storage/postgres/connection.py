"""One transaction on a psycopg connection: pipelined statements and bulk writes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from psycopg.rows import tuple_row

from mcp_memory.storage.database import Columns, Params, Row, insert_sql
from mcp_memory.storage.postgres.statements import SQL, Raw, translated
from mcp_memory.storage.scope import in_list

FEW = 20
"""Rows up to which pipelined statements are faster than a COPY."""
NO_PARAMS: Params = {}


class PostgresConnection:
    """A transaction on one psycopg connection.

    Statements without a result are buffered, and sent in one pipeline with the next statement that has
    one: most of the time is network latency.
    """

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self._buffer: list[tuple[str, Params]] = []

    def run(self, sql: str, params: Params = NO_PARAMS) -> list[Row]:
        statement = translated(sql)
        with self._sending():
            cursor = self.raw.execute(statement.sql, statement.bound(params), binary=True)
        return cursor.fetchall()

    def tuples(self, sql: str, params: Params = NO_PARAMS) -> list[tuple[Any, ...]]:
        statement = translated(sql)
        with self._sending(), self.raw.cursor(row_factory=tuple_row) as cursor:
            cursor.execute(statement.sql, statement.bound(params), binary=True)
            return cursor.fetchall()

    def listed(self, keys: Sequence[Any]) -> tuple[str, Params]:
        return in_list(keys)

    def change(self, sql: str, params: Params = NO_PARAMS) -> int:
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
        self, table: str, columns: Columns, shared: Params = NO_PARAMS, *, at_once: bool = False
    ) -> None:
        names = (*shared, *columns)
        rows = [(*shared.values(), *values) for values in zip(*columns.values(), strict=True)]
        if len(rows) <= FEW:
            self.change_many(insert_sql(table, names), [dict(zip(names, row, strict=True)) for row in rows])
            return
        self.send()
        # Binary data must have exactly the types of the columns: PostgreSQL converts nothing here.
        types = self._types(table, names)
        with (
            self.raw.cursor() as cursor,
            cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    def insert_numbered(self, table: str, columns: Columns, shared: Params = NO_PARAMS) -> list[int]:
        count = len(next(iter(columns.values())))
        if count == 1:
            row = {**shared, **{name: values[0] for name, values in columns.items()}}
            return [found["seq"] for found in self.run(f"{insert_sql(table, tuple(row))} RETURNING seq", row)]
        numbered = self.run(SQL["next_numbers"], {"table": table, "count": count})
        numbers = [row["seq"] for row in numbered]
        self.insert_all(table, {"seq": numbers, **columns}, shared)
        return numbers

    def _types(self, table: str, columns: Sequence[str]) -> list[int]:
        known = {row["name"]: row["oid"] for row in self.run(SQL["column_types"], {"table": table})}
        return [known[column] for column in columns]
