"""Brings a PostgreSQL database to this program's schema, while no other server does."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import IsolationLevel, errors, sql

from mcp_memory.errors import Unavailable
from mcp_memory.storage.database import Script
from mcp_memory.storage.postgres.pool import SCHEMA, Raw, configure
from mcp_memory.storage.postgres.signals import MIGRATION_LOCK

OLDEST_SERVER, OLDEST_PGVECTOR = 14, (0, 8)
"""Before these, functions in plain SQL, and filters that act while an index is searched, are not there."""


def migrate(raw: Raw, scripts: Sequence[Script]) -> None:
    newest = scripts[-1].number
    if _version(raw) == newest:
        return
    # Whatever the role's default is: who waited for the lock must see what was done meanwhile.
    raw.isolation_level = IsolationLevel.READ_COMMITTED
    with raw.transaction():
        raw.execute(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK}, 0)")
        version = _version(raw)
        if version > newest:
            raise Unavailable(
                f"{_place(raw)} was written by a newer mcp-memory "
                f"(schema {version}, this one knows {newest}). "
                "Update mcp-memory, or point DATABASE_URL at another database."
            )
        if version == 0:
            _prepare(raw)
        for script in scripts[version:]:
            _apply(raw, script)
            raw.execute("INSERT INTO migration (number, name) VALUES (%s, %s)", [script.number, script.name])


def _apply(raw: Raw, script: Script) -> None:
    try:
        raw.execute(script.sql)
    except errors.InsufficientPrivilege as error:
        raise Unavailable(
            f"{raw.info.user} may not bring the tables in {_place(raw)} up to date, which belong to another "
            "role. Start this release once with an address that names that role."
        ) from error


def _version(raw: Raw) -> int:
    # Not to_regclass, which may not notice yet what another server made while this one waited for it.
    found = raw.execute(
        "SELECT has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AS readable"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s AND c.relname = 'migration'",
        [SCHEMA],
    ).fetchall()
    if not found:
        return 0
    if not found[0]["readable"]:
        raise _refusal(
            raw,
            "use",
            "GRANT USAGE ON SCHEMA {schema} TO {user};"
            " GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {user};"
            " GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO {user}",
        )
    [row] = raw.execute("SELECT COALESCE(max(number), 0) AS number FROM migration").fetchall()
    return int(row["number"])


def _prepare(raw: Raw) -> None:
    """What the first migration stands on."""
    if raw.info.server_version < OLDEST_SERVER * 10_000:
        raise Unavailable(
            f"{_place(raw)} is on PostgreSQL {_setting(raw, 'server_version')}; "
            f"it takes {OLDEST_SERVER} or newer. Update the server, or name another."
        )
    if raw.info.encoding != "utf-8" or _setting(raw, "server_encoding") != "UTF8":
        raise Unavailable(
            f"{_place(raw)} does not keep text as UTF-8. Make another: CREATE DATABASE memory ENCODING 'UTF8'"
        )
    # Asked first: even IF NOT EXISTS needs the right to make one.
    if not raw.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [SCHEMA]).fetchall():
        with _allowed_to(raw, "CREATE SCHEMA {schema} AUTHORIZATION {user}"):
            raw.execute(f"CREATE SCHEMA {SCHEMA}")
    _add_pgvector(raw)
    _check_pgvector(raw)
    configure(raw)
    with _allowed_to(raw, "GRANT ALL ON SCHEMA {schema} TO {user}"):
        raw.execute(
            "CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL,"
            " applied_at TIMESTAMPTZ NOT NULL DEFAULT now())"
        )


def _add_pgvector(raw: Raw) -> None:
    if raw.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchall():
        return
    if not raw.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchall():
        raise Unavailable(
            f"the server of {_place(raw)} does not have pgvector. Install it there "
            "(https://github.com/pgvector/pgvector#installation), then start again."
        )
    with _allowed_to(raw, "CREATE EXTENSION vector"):
        try:
            raw.execute("CREATE EXTENSION vector SCHEMA public")
        except errors.InvalidSchemaName as error:
            raise Unavailable(
                f"{_place(raw)} has no schema public to put pgvector in. Let an administrator run there, "
                "with a schema of your choice: CREATE EXTENSION vector SCHEMA …;"
            ) from error


def _check_pgvector(raw: Raw) -> None:
    [row] = raw.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchall()
    if tuple(int(part) for part in row["extversion"].split(".")[:2]) < OLDEST_PGVECTOR:
        raise Unavailable(
            f"{_place(raw)} has pgvector {row['extversion']}; it takes 0.8 or newer. "
            "Install that on the server, then let an administrator run there: ALTER EXTENSION vector UPDATE;"
        )


@contextmanager
def _allowed_to(raw: Raw, remedy: str) -> Iterator[None]:
    try:
        yield
    except errors.InsufficientPrivilege as error:
        raise _refusal(raw, "set up", remedy) from error


def _refusal(raw: Raw, what: str, remedy: str) -> Unavailable:
    quoted = sql.Identifier(raw.info.user).as_string(raw)
    return Unavailable(
        f"{raw.info.user} may not {what} {_place(raw)}. Let an administrator run there: "
        f"{remedy.format(user=quoted, schema=SCHEMA)};"
    )


def _place(raw: Raw) -> str:
    return f"the PostgreSQL database {raw.info.dbname!r}"


def _setting(raw: psycopg.Connection[dict[str, str]], name: str) -> str:
    return raw.execute("SELECT current_setting(%s) AS value", [name]).fetchall()[0]["value"]
