"""How a server stores content hashes, which a migration may change while it is used."""

from collections.abc import Sequence
from typing import Any

from mcp_memory.storage.database import Columns, Params, Row
from mcp_memory.storage.postgres.connection import NO_PARAMS, PostgresConnection
from mcp_memory.storage.postgres.statements import Raw, run
from mcp_memory.storage.schema import is_binary
from mcp_memory.text.fingerprint import ContentHash

LAST_OF_TEXT = 13
"""The schema whose tables are served until they are migrated."""

_GUARD = "; LOCK TABLE memory IN ACCESS SHARE MODE"


class HashForm:
    """Of one server: a replica may be behind its primary.

    Until the hashes are compact, each transaction begins with a lock that a migration has to wait for. So
    the form that it finds is the form of all its statements.
    """

    def __init__(self) -> None:
        self.is_compact = False
        """Never taken back: a thread with an older snapshot may be here too."""

    @property
    def guard(self) -> str:
        """Belongs to the statements that begin a transaction."""
        return "" if self.is_compact else _GUARD

    def connection(self, raw: Raw) -> PostgresConnection:
        """The transaction that has begun there."""
        if self.is_compact or self.look(raw):
            return PostgresConnection(raw)
        # A statement that was prepared for texts would fail on bytes.
        raw.prepare_threshold = None
        return WholeHashConnection(raw)

    def look(self, raw: Raw) -> bool:
        """Whether the hashes are compact as this connection sees them."""
        is_compact = bool(run(raw, "schema_version")[0]["number"] > LAST_OF_TEXT)
        if is_compact:
            self.is_compact = True
        return is_compact


class WholeHashConnection(PostgresConnection):
    """A transaction on tables of schema 13, where a hash is a text of 64 digits."""

    def run(self, sql: str, params: Params = NO_PARAMS) -> list[Row]:
        rows = super().run(sql, _stored(params))
        for column in filter(is_binary, rows[0] if rows else ()):
            for row in rows:
                row[column] = _hash_of(row[column])
        return rows

    def tuples(self, sql: str, params: Params = NO_PARAMS) -> list[tuple[Any, ...]]:
        return super().tuples(sql, _stored(params))

    def change(self, sql: str, params: Params = NO_PARAMS) -> int:
        return super().change(sql, _stored(params))

    def change_many(self, sql: str, rows: Sequence[Params]) -> None:
        super().change_many(sql, [_stored(row) for row in rows])

    def insert_all(
        self, table: str, columns: Columns, shared: Params = NO_PARAMS, *, at_once: bool = False
    ) -> None:
        stored = {name: list(map(_stored_value, values)) for name, values in columns.items()}
        super().insert_all(table, stored, _stored(shared), at_once=at_once)


def _stored(params: Params) -> Params:
    return {name: _stored_value(value) for name, value in params.items()}


def _stored_value(value: Any) -> Any:
    return value.whole.hex() if isinstance(value, ContentHash) else value


def _hash_of(stored: str | None) -> bytes | None:
    """As it will be after the migration."""
    if stored is None:
        return None
    is_whole = len(stored) == 64 and _DIGITS.issuperset(stored)
    return ContentHash(bytes.fromhex(stored)) if is_whole else stored.encode()


_DIGITS = frozenset("0123456789abcdef")
