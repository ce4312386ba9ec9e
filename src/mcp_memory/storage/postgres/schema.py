"""Migrates a PostgreSQL database, one server at a time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from psycopg import IsolationLevel, errors, sql

from mcp_memory.errors import Unavailable
from mcp_memory.storage.database import Script
from mcp_memory.storage.postgres import online_migration
from mcp_memory.storage.postgres.hash_form import LAST_OF_TEXT
from mcp_memory.storage.postgres.online_migration import FUNCTIONS, WITHOUT_INDEX
from mcp_memory.storage.postgres.pool import SCHEMA, configure
from mcp_memory.storage.postgres.signals import MIGRATION_LOCK
from mcp_memory.storage.postgres.statements import Raw, run

OLDEST_SERVER, OLDEST_PGVECTOR = 14, (0, 8)
"""Earlier versions lack SQL-standard function bodies, and filters during an index scan."""


def migrate(raw: Raw, scripts: Sequence[Script], at_once_bytes: int) -> None:
    """A database of more than `at_once_bytes` may be left to be migrated while it is used."""
    version, newest = _version(raw), scripts[-1].number
    if version == newest:
        return
    is_large = size(raw) > at_once_bytes
    if is_large and version == LAST_OF_TEXT and _is_served(raw, scripts):
        return
    # Whatever the role's default: after waiting for the lock, the other server's migration must be visible.
    raw.isolation_level = IsolationLevel.READ_COMMITTED
    with raw.transaction():
        run(raw, "lock_migration", {"lock": MIGRATION_LOCK})
        version = _version(raw)
        if version > newest:
            raise Unavailable(
                f"{_place(raw)} was written by a newer mcp-memory "
                f"(schema {version}, this one knows {newest}). "
                "Update mcp-memory, or point DATABASE_URL at another database."
            )
        if version == 0:
            _prepare(raw)
        if not is_large or not _is_left_to_background(raw, scripts):
            online_migration.abandon(raw)
            _apply(raw, scripts[_version(raw) :])


def _is_served(raw: Raw, scripts: Sequence[Script]) -> bool:
    """Whether the database is used as it is already."""
    return online_migration.is_under_way(raw) and online_migration.can_serve(raw, scripts)


def _is_left_to_background(raw: Raw, scripts: Sequence[Script]) -> bool:
    """Give tables up to schema 13 what takes no time. Returns whether that is enough to use them."""
    if _version(raw) > LAST_OF_TEXT:
        return False
    _apply(raw, scripts[_version(raw) : WITHOUT_INDEX - 1])
    if not online_migration.can_serve(raw, scripts):
        return False
    if not online_migration.is_under_way(raw):
        for script in scripts[_version(raw) : WITHOUT_INDEX]:
            _note(raw, script)
        _run(raw, scripts[FUNCTIONS - 1])
    return True


def _apply(raw: Raw, scripts: Sequence[Script]) -> None:
    for script in scripts:
        _run(raw, script)
        _note(raw, script)


def _note(raw: Raw, script: Script) -> None:
    run(raw, "add_migration", number=script.number, name=script.name)


def _run(raw: Raw, script: Script) -> None:
    try:
        raw.execute(script.sql)
    except errors.InsufficientPrivilege as error:
        raise Unavailable(
            f"{raw.info.user} may not migrate the tables in {_place(raw)}, which belong to another role. "
            "Start this release once with an address that names that role."
        ) from error
    except (errors.FeatureNotSupported, errors.DependentObjectsStillExist) as error:
        told = (error.diag.message_primary, error.diag.message_detail)
        raise Unavailable(
            f"{_place(raw)} could not be migrated, and is as it was: {'; '.join(filter(None, told))}. "
            "Drop what is named there, start again, and make it anew afterwards."
        ) from error


def _version(raw: Raw) -> int:
    found = run(raw, "migration_table", schema=SCHEMA)
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
    [row] = run(raw, "schema_version")
    return int(row["number"])


def _prepare(raw: Raw) -> None:
    """Check the server, and create the schema, pgvector and the table of migrations."""
    if raw.info.server_version < OLDEST_SERVER * 10_000:
        raise Unavailable(
            f"{_place(raw)} is on PostgreSQL {_setting(raw, 'server_version')}; "
            f"mcp-memory needs {OLDEST_SERVER} or newer. Update the server, or use another."
        )
    if raw.info.encoding != "utf-8" or _setting(raw, "server_encoding") != "UTF8":
        raise Unavailable(
            f"{_place(raw)} does not store text as UTF-8. "
            "Create another: CREATE DATABASE memory ENCODING 'UTF8'"
        )
    # Checked first: even IF NOT EXISTS needs the right to create one.
    if not run(raw, "schema_exists", schema=SCHEMA):
        with _allowed_to(raw, "CREATE SCHEMA {schema} AUTHORIZATION {user}"):
            run(raw, "create_schema", {"schema": SCHEMA})
    _add_pgvector(raw)
    _check_pgvector(raw)
    configure(raw)
    with _allowed_to(raw, "GRANT ALL ON SCHEMA {schema} TO {user}"):
        run(raw, "create_migration_table")


def _add_pgvector(raw: Raw) -> None:
    if run(raw, "installed_extension"):
        return
    if not run(raw, "available_extension"):
        raise Unavailable(
            f"the server of {_place(raw)} does not have pgvector. Install it there "
            "(https://github.com/pgvector/pgvector#installation), then start again."
        )
    with _allowed_to(raw, "CREATE EXTENSION vector"):
        try:
            run(raw, "create_extension")
        except errors.InvalidSchemaName as error:
            raise Unavailable(
                f"{_place(raw)} has no schema public to put pgvector in. Let an administrator run there, "
                "with a schema of your choice: CREATE EXTENSION vector SCHEMA …;"
            ) from error


def _check_pgvector(raw: Raw) -> None:
    [row] = run(raw, "installed_extension")
    if tuple(int(part) for part in row["version"].split(".")[:2]) < OLDEST_PGVECTOR:
        raise Unavailable(
            f"{_place(raw)} has pgvector {row['version']}; mcp-memory needs 0.8 or newer. "
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


def _setting(raw: Raw, name: str) -> str:
    return str(run(raw, "server_setting", name=name)[0]["value"])


def size(raw: Raw) -> int:
    """Bytes on disk."""
    return int(run(raw, "schema_size", schema=SCHEMA)[0]["bytes"])
