"""Read-only diagnostics of a PostgreSQL database and its replica."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import get_args

import psycopg
from psycopg.rows import DictRow

from mcp_memory.errors import MemoryServerError
from mcp_memory.model import Owner
from mcp_memory.storage import queries
from mcp_memory.storage.consistency import inconsistencies
from mcp_memory.storage.database import Params
from mcp_memory.storage.diagnostics import Finding
from mcp_memory.storage.postgres.errors import translated_errors
from mcp_memory.storage.postgres.online_migration import is_migrating, is_under_way
from mcp_memory.storage.postgres.pool import SCHEMA, connected, refuse_shared_session
from mcp_memory.storage.postgres.schema import OLDEST_PGVECTOR, OLDEST_SERVER
from mcp_memory.storage.postgres.statements import Raw, run, translated

FULL_SHARE = 0.9
"""Share of used connections above which too few are left."""

DEAD_SHARE, FEWEST_DEAD = 0.5, 10_000
"""Dead rows above which searches slow down: relative to live rows, and at least."""

LAG_BYTES = 64 * 2**20
"""How far a replica may lag before it is of little use."""


def examine(
    url: str, read_url: str = "", *, quick: bool = False, now: datetime | None = None
) -> Iterator[Finding]:
    """Findings in the order of the checks; `quick` skips those that read whole tables.

    With `now`, dates in the future are found.
    """
    try:
        with translated_errors(), connected(url) as raw:
            refuse_shared_session(raw, url)
            for look in (_server, _pgvector, _schema, _durability, _connections):
                yield from look(raw)
            if has_tables(raw):
                yield from _tables(raw, quick, now)
            if read_url:
                yield from _replica(raw, read_url)
    except MemoryServerError as error:
        yield Finding("database", False, str(error), "see above; else point DATABASE_URL elsewhere")


def has_tables(raw: Raw) -> bool:
    return bool(run(raw, "our_tables", {"schema": SCHEMA})[0]["exist"])


def _tables(raw: Raw, quick: bool, now: datetime | None) -> Iterator[Finding]:
    for look in (_rights, _indexes, _dead_rows):
        yield from look(raw)
    if not quick:
        yield from _words(raw)
        yield from inconsistencies(partial(_asked, raw), now)


def _asked(raw: Raw, sql: str, params: Params) -> list[DictRow]:
    return raw.execute(translated(sql).sql, params).fetchall()


def _server(raw: Raw) -> Iterator[Finding]:
    [row] = run(raw, "server_facts")
    detail = f"PostgreSQL {row['version']}, {row['encoding']}, {row['size']} in {raw.info.dbname}"
    is_new = raw.info.server_version >= OLDEST_SERVER * 10_000
    advice = f"take PostgreSQL {OLDEST_SERVER} or newer, and a database with ENCODING 'UTF8'"
    yield Finding("server", is_new and row["encoding"] == "UTF8", detail, advice)
    if row["follows"]:
        advice = "point DATABASE_URL at the primary, and DATABASE_READ_URL at this one"
        yield Finding("primary", False, "this is a replica: it takes no writes", advice)


def _pgvector(raw: Raw) -> Iterator[Finding]:
    installed, offered = run(raw, "installed_extension"), run(raw, "available_extension")
    version = installed[0]["version"] if installed else None
    available = offered[0]["version"] if offered else None
    if version is None:
        detail = "not added yet: the first start adds it, if the role may" if available else "not installed"
        advice = "install it on the server: https://github.com/pgvector/pgvector#installation"
        yield Finding("pgvector", available is not None, detail, advice)
        return
    newer = f"; {available} is installed on the server" if available not in (version, None) else ""
    is_new = tuple(int(part) for part in version.split(".")[:2]) >= OLDEST_PGVECTOR
    yield Finding(
        "pgvector", is_new, version + newer, "let an administrator run ALTER EXTENSION vector UPDATE"
    )


def _schema(raw: Raw) -> Iterator[Finding]:
    newest = queries.migrations("postgres")[-1].number
    if not has_tables(raw):
        yield Finding("schema", True, f"there is no schema {SCHEMA} yet: the first start creates it")
        return
    version = run(raw, "schema_version")[0]["number"]
    if is_under_way(raw):
        detail = f"version {version}; a running server migrates it to {newest} in the background"
        yield Finding("schema", True, detail)
        return
    advice = "update mcp-memory" if version > newest else "start this release once: that migrates it"
    yield Finding("schema", version == newest, f"version {version}, this program knows {newest}", advice)


def _rights(raw: Raw) -> Iterator[Finding]:
    closed = run(raw, "tables_without_rights", schema=SCHEMA)
    if closed:
        names = ", ".join(row["name"] for row in closed[:5]) + (", …" if len(closed) > 5 else "")
        advice = (
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {raw.info.user};"
            f" GRANT ALL ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {raw.info.user}"
        )
        yield Finding("rights", False, f"{raw.info.user} may not read and write {names}", advice)
        return
    others = run(raw, "other_owners", schema=SCHEMA)
    detail = f"{raw.info.user} may read and write all"
    if others:
        detail += f"; only {others[0]['owner']} can create vector indexes and migrate the tables"
    yield Finding("rights", True, detail)


def _durability(raw: Raw) -> Iterator[Finding]:
    # Not synchronous_commit, which our own sessions turn on.
    settings = ("fsync", "full_page_writes")
    off = [name for name in settings if run(raw, "server_setting", name=name)[0]["value"] == "off"]
    detail = f"{' and '.join(off)}: off" if off else "acknowledged writes survive a power cut"
    yield Finding(
        "durability", not off, detail, "turn it on, or a power cut may lose or damage the last writes"
    )


def _connections(raw: Raw) -> Iterator[Finding]:
    [row] = run(raw, "connection_counts")
    is_well = row["used"] < FULL_SHARE * row["allowed"]
    advice = "raise max_connections, or put pgbouncer in session mode before it"
    yield Finding("connections", is_well, f"{row['used']} of {row['allowed']} are in use", advice)


def _indexes(raw: Raw) -> Iterator[Finding]:
    rows = [row for row in run(raw, "all_indexes", schema=SCHEMA) if not is_migrating(row["name"])]
    unfit = sorted(row["name"] for row in rows if not row["fit"])
    near = sum(row["name"].startswith("vector_near_") for row in rows)
    detail = (
        f"{', '.join(unfit)} cannot be used" if unfit else f"all {len(rows)} are fit, {near} over vectors"
    )
    advice = "a running server rebuilds those over vectors; for others: REINDEX INDEX CONCURRENTLY …"
    yield Finding("indexes", not unfit, detail, advice)


def _dead_rows(raw: Raw) -> Iterator[Finding]:
    rows = run(raw, "dead_rows", schema=SCHEMA)
    full = [row for row in rows if row["dead"] > max(FEWEST_DEAD, DEAD_SHARE * row["living"])]
    worst = ", ".join(f"{row['name']} has {row['dead']:,} for {row['living']:,} living" for row in full)
    dead = sum(row["dead"] for row in rows)
    yield Finding(
        "dead rows", not full, worst or f"{dead:,} wait for vacuum",
        "let autovacuum run, or run VACUUM (ANALYZE); a transaction that stays open may block it",
    )  # fmt: skip


def _words(raw: Raw) -> Iterator[Finding]:
    """The full-text index holds every living row, and no other."""
    for owner in get_args(Owner):
        living = "WHERE forgotten_at IS NULL" if owner == "memory" else ""
        [row] = run(raw, "word_index_differences", {"owner": owner, "living": living})
        is_well = not row["missing"] and not row["extra"]
        detail = "complete" if is_well else f"{row['missing']:,} rows are missing, {row['extra']:,} too many"
        advice = "copy everything to a new database with `mcp-memory copy`, which rebuilds it"
        yield Finding(f"words of {_PLURALS[owner]}", is_well, detail, advice)


_PLURALS = {"memory": "memories", "entity": "entities", "reflection": "reflections"}


def _replica(primary: Raw, read_url: str) -> Iterator[Finding]:
    advice = (
        "name a streaming replica of this server, or leave DATABASE_READ_URL out; reads go to the primary"
    )
    try:
        with translated_errors(), connected(read_url) as raw:
            [replica] = run(raw, "replica_position")
            [here] = run(primary, "primary_position", {"place": "flush"})
    except (MemoryServerError, psycopg.Error) as error:
        yield Finding("replica", False, str(error), advice)
        return
    if not replica["follows"]:
        yield Finding("replica", False, "it does not follow the primary", advice)
    elif (replica["cluster"], replica["database"]) != (here["cluster"], here["database"]):
        yield Finding("replica", False, "it belongs to another database", advice)
    else:
        lag = max(0, here["written"] - (replica["replayed"] or 0))
        advice = "check that it still receives the log, and keeps up"
        yield Finding("replica", lag <= LAG_BYTES, f"follows, {lag / 2**20:,.1f} MB behind", advice)
