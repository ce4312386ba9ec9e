"""Examines a PostgreSQL database, and its replica, without changing anything."""

from collections.abc import Generator, Iterator
from typing import Any, get_args

import psycopg

from mcp_memory.errors import MemoryServerError
from mcp_memory.model import Owner
from mcp_memory.storage import queries
from mcp_memory.storage.diagnostics import Finding
from mcp_memory.storage.postgres.errors import translated_errors
from mcp_memory.storage.postgres.pool import IDENTITY, SCHEMA, Raw, connected, refuse_shared_session
from mcp_memory.storage.postgres.schema import OLDEST_PGVECTOR, OLDEST_SERVER

FULL_SHARE = 0.9
"""The share of the server's connections from which on there are too few left."""

DEAD_SHARE, FEWEST_DEAD = 0.5, 10_000
"""Rows that were deleted or replaced, beside those that live, from which on searches suffer."""

LAG_BYTES = 64 * 2**20
"""How far a replica may be behind before it is of little use."""


def examine(url: str, read_url: str = "", *, quick: bool = False) -> Generator[Finding, None, bool]:
    """What is found, in the order it was looked at; `quick` leaves out what reads whole tables.

    Returns whether our tables are there.
    """
    is_there = False
    try:
        with translated_errors(), connected(url) as raw:
            refuse_shared_session(raw, url)
            for look in (_server, _pgvector, _schema, _durability, _connections):
                yield from look(raw)
            is_there = _is_set_up(raw)
            if is_there:
                yield from _tables(raw, quick)
            if read_url:
                yield from _replica(raw, read_url)
    except MemoryServerError as error:
        yield Finding("database", False, str(error), "see above; else point DATABASE_URL elsewhere")
    return is_there


def is_set_up(url: str) -> bool:
    """Whether our tables are there."""
    with translated_errors(), connected(url) as raw:
        return _is_set_up(raw)


def _tables(raw: Raw, quick: bool) -> Iterator[Finding]:
    for look in (_rights, _indexes, _dead_rows):
        yield from look(raw)
    if not quick:
        yield from _words(raw)


def _server(raw: Raw) -> Iterator[Finding]:
    row = _row(
        raw,
        "SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,"
        " pg_size_pretty(pg_database_size(current_database())) AS size, pg_is_in_recovery() AS follows",
    )
    detail = f"PostgreSQL {row['version']}, {row['encoding']}, {row['size']} in {raw.info.dbname}"
    is_new = raw.info.server_version >= OLDEST_SERVER * 10_000
    advice = f"take PostgreSQL {OLDEST_SERVER} or newer, and a database with ENCODING 'UTF8'"
    yield Finding("server", is_new and row["encoding"] == "UTF8", detail, advice)
    if row["follows"]:
        advice = "point DATABASE_URL at the primary, and DATABASE_READ_URL at this one"
        yield Finding("primary", False, "this is a replica: it takes no writes", advice)


def _pgvector(raw: Raw) -> Iterator[Finding]:
    row = _row(
        raw,
        "SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS version,"
        " (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available",
    )
    version, available = row["version"], row["available"]
    if version is None:
        detail = "is not there yet: the first start adds it, if it may" if available else "is not installed"
        advice = "install it on the server: https://github.com/pgvector/pgvector#installation"
        yield Finding("pgvector", available is not None, detail, advice)
        return
    newer = f"; {available} is installed on the server" if available not in (version, None) else ""
    is_new = tuple(int(part) for part in version.split(".")[:2]) >= OLDEST_PGVECTOR
    yield Finding(
        "pgvector", is_new, version + newer, "let an administrator run ALTER EXTENSION vector UPDATE"
    )


def _is_set_up(raw: Raw) -> bool:
    return bool(_row(raw, f"SELECT to_regclass('{SCHEMA}.migration') IS NOT NULL AS there")["there"])


def _schema(raw: Raw) -> Iterator[Finding]:
    newest = queries.migrations("postgres")[-1].number
    if not _is_set_up(raw):
        yield Finding("schema", True, f"there is no schema {SCHEMA} yet: the first start makes it")
        return
    version = _row(raw, "SELECT max(number) AS number FROM migration")["number"]
    advice = "update mcp-memory" if version > newest else "start this release once: that brings it up to date"
    yield Finding("schema", version == newest, f"version {version}, this program knows {newest}", advice)


def _rights(raw: Raw) -> Iterator[Finding]:
    closed = raw.execute(
        "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s AND (c.relkind = 'r' AND NOT"
        " (SELECT bool_and(has_table_privilege(c.oid, kind))"
        " FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS kind)"
        " OR c.relkind = 'S' AND NOT has_sequence_privilege(c.oid, 'USAGE')) ORDER BY 1",
        [SCHEMA],
    ).fetchall()
    if closed:
        names = ", ".join(row["name"] for row in closed[:5]) + (", …" if len(closed) > 5 else "")
        advice = (
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {raw.info.user};"
            f" GRANT ALL ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {raw.info.user}"
        )
        yield Finding("rights", False, f"{raw.info.user} may not read and write {names}", advice)
        return
    others = raw.execute(
        "SELECT DISTINCT tableowner AS owner FROM pg_tables"
        " WHERE schemaname = %s AND NOT pg_has_role(tableowner, 'USAGE')",
        [SCHEMA],
    ).fetchall()
    detail = f"{raw.info.user} may read and write all"
    if others:
        detail += f"; only {others[0]['owner']} can make vector indexes and bring the tables up to date"
    yield Finding("rights", True, detail)


def _durability(raw: Raw) -> Iterator[Finding]:
    # Not synchronous_commit, which our own sessions turn on.
    settings = ("fsync", "full_page_writes")
    off = [name for name in settings if _row(raw, f"SHOW {name}")[name] == "off"]
    detail = f"{' and '.join(off)}: off" if off else "what was acknowledged survives a power cut"
    yield Finding(
        "durability", not off, detail, "turn it on, or a power cut may lose or damage what was written last"
    )


def _connections(raw: Raw) -> Iterator[Finding]:
    row = _row(
        raw,
        "SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,"
        " CAST(current_setting('max_connections') AS INTEGER) AS allowed",
    )
    is_well = row["used"] < FULL_SHARE * row["allowed"]
    advice = "raise max_connections, or put pgbouncer in session mode before it"
    yield Finding("connections", is_well, f"{row['used']} of {row['allowed']} are in use", advice)


def _indexes(raw: Raw) -> Iterator[Finding]:
    rows = raw.execute(
        "SELECT c.relname AS name, i.indisvalid AND i.indisready AS fit FROM pg_index i"
        " JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s",
        [SCHEMA],
    ).fetchall()
    unfit = sorted(row["name"] for row in rows if not row["fit"])
    near = sum(row["name"].startswith("vector_near_") for row in rows)
    detail = (
        f"{', '.join(unfit)} cannot be used" if unfit else f"all {len(rows)} are fit, {near} over vectors"
    )
    advice = "a running server makes those over vectors again; others: REINDEX INDEX CONCURRENTLY …"
    yield Finding("indexes", not unfit, detail, advice)


def _dead_rows(raw: Raw) -> Iterator[Finding]:
    rows = raw.execute(
        "SELECT relname AS name, n_live_tup AS living, n_dead_tup AS dead FROM pg_stat_user_tables"
        " WHERE schemaname = %s ORDER BY n_dead_tup DESC",
        [SCHEMA],
    ).fetchall()
    full = [row for row in rows if row["dead"] > max(FEWEST_DEAD, DEAD_SHARE * row["living"])]
    worst = ", ".join(f"{row['name']} has {row['dead']:,} for {row['living']:,} living" for row in full)
    dead = sum(row["dead"] for row in rows)
    yield Finding(
        "dead rows", not full, worst or f"{dead:,} wait to be cleared away",
        "let autovacuum run, or run VACUUM (ANALYZE); an old open transaction may stand in its way",
    )  # fmt: skip


def _words(raw: Raw) -> Iterator[Finding]:
    """Every living row is in the full-text index, and nothing else is."""
    for owner in get_args(Owner):
        living = f"(SELECT seq FROM {owner} {'WHERE forgotten_at IS NULL' if owner == 'memory' else ''})"
        row = _row(
            raw,
            f"SELECT count(*) FILTER (WHERE w.seq IS NULL) AS missing,"
            f" count(*) FILTER (WHERE l.seq IS NULL) AS extra"
            f" FROM {living} AS l FULL JOIN {owner}_words AS w ON w.seq = l.seq",
        )
        is_well = not row["missing"] and not row["extra"]
        detail = "complete" if is_well else f"{row['missing']:,} rows are missing, {row['extra']:,} too many"
        advice = "copy everything to a new database with `mcp-memory copy`, which makes it again"
        yield Finding(f"words of {_PLURALS[owner]}", is_well, detail, advice)


_PLURALS = {"memory": "memories", "entity": "entities", "reflection": "reflections"}


def _replica(primary: Raw, read_url: str) -> Iterator[Finding]:
    advice = (
        "name a streaming replica of this server, or leave DATABASE_READ_URL out; reads go to the primary"
    )
    try:
        with translated_errors(), connected(read_url) as raw:
            there = _row(raw, f"SELECT pg_is_in_recovery() AS follows, {IDENTITY}")
            here = _row(primary, f"SELECT true AS follows, {IDENTITY}")
            if there != here:
                what = "belongs to another database" if there["follows"] else "does not follow the primary"
                yield Finding("replica", False, f"it {what}", advice)
                return
            behind = _behind(primary, raw)
    except (MemoryServerError, psycopg.Error) as error:
        yield Finding("replica", False, str(error), advice)
        return
    advice = "look whether it is still fed, and keeps up"
    yield Finding("replica", behind <= LAG_BYTES, f"follows, {behind / 2**20:,.1f} MB behind", advice)


def _behind(primary: Raw, replica: Raw) -> int:
    written = _row(primary, "SELECT pg_current_wal_flush_lsn() - '0/0' AS place")["place"]
    replayed = _row(replica, "SELECT pg_last_wal_replay_lsn() - '0/0' AS place")["place"]
    return max(0, int(written) - int(replayed or 0))


def _row(raw: Raw, sql: str) -> dict[str, Any]:
    [row] = raw.execute(sql).fetchall()
    return row
