"""Brings a PostgreSQL database to this program's schema, while no other server does."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import errors, sql

from mcp_memory.errors import Unavailable
from mcp_memory.storage.database import Script
from mcp_memory.storage.postgres_pool import SCHEMA, Raw, configure
from mcp_memory.storage.postgres_signals import MIGRATION_LOCK


def migrate(raw: Raw, scripts: Sequence[Script]) -> None:
    newest = scripts[-1].number
    if _version(raw) == newest:
        return
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
            raw.execute(script.sql)
            raw.execute("INSERT INTO migration (number, name) VALUES (%s, %s)", [script.number, script.name])


def _version(raw: Raw) -> int:
    # Not to_regclass, which may not notice yet what another server made while this one waited for it.
    if not raw.execute(
        "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'migration'", [SCHEMA]
    ).fetchall():
        return 0
    [row] = raw.execute("SELECT COALESCE(max(number), 0) AS number FROM migration").fetchall()
    return int(row["number"])


def _prepare(raw: Raw) -> None:
    """What the first migration stands on."""
    if raw.info.encoding != "utf-8" or _setting(raw, "server_encoding") != "UTF8":
        raise Unavailable(
            f"{_place(raw)} does not keep text as UTF-8. Make another: CREATE DATABASE memory ENCODING 'UTF8'"
        )
    # Asked first: even IF NOT EXISTS needs the right to make one.
    if not raw.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [SCHEMA]).fetchall():
        with _allowed_to(raw, f"CREATE SCHEMA {SCHEMA} AUTHORIZATION {{user}}"):
            raw.execute(f"CREATE SCHEMA {SCHEMA}")
    _add_pgvector(raw)
    configure(raw)
    with _allowed_to(raw, f"GRANT ALL ON SCHEMA {SCHEMA} TO {{user}}"):
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
        raw.execute("CREATE EXTENSION vector SCHEMA public")


@contextmanager
def _allowed_to(raw: Raw, remedy: str) -> Iterator[None]:
    place, user = _place(raw), raw.info.user
    try:
        yield
    except errors.InsufficientPrivilege as error:
        quoted = sql.Identifier(user).as_string(raw)
        raise Unavailable(
            f"{user} may not set up {place}. Let an administrator run there: {remedy.format(user=quoted)};"
        ) from error


def _place(raw: Raw) -> str:
    return f"the PostgreSQL database {raw.info.dbname!r}"


def _setting(raw: psycopg.Connection[dict[str, str]], name: str) -> str:
    return raw.execute("SELECT current_setting(%s) AS value", [name]).fetchall()[0]["value"]
