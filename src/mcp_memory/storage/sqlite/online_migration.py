"""Migrates a large file from schema 13 to the newest while it is read and written.

Times, hashes and the ids in the journal became shorter (`connection.Form`). Texts and numbers have no common
order, so a table holds one or the other. Hence all tables with times are copied beside themselves, in short
transactions, while triggers copy whatever is written meanwhile, by any program. Until the copies are whole,
the file has schema 13 and is used as such. Then they take the place of the tables in one short transaction,
which also sets the schema's number. The replaced tables are removed piece by piece.

It can be interrupted at any point: the mark of what has been copied is kept in the same transaction. If a
trigger is gone, as after a repair by an earlier program, it begins again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from typing import Literal, NamedTuple

import apsw

from mcp_memory.errors import Unavailable
from mcp_memory.storage import queries
from mcp_memory.storage.database import Script
from mcp_memory.storage.schema import TABLE, is_binary, is_time
from mcp_memory.storage.sqlite.connection import LAST_OF_TEXT

COMPACT_SINCE = 15
NEWEST = queries.migrations("sqlite")[-1].number
"""The schema of the copies."""
COPIED = (
    "memory", "memory_version", "entity", "entity_memory", "relation", "association", "reflection", "event",
    "entity_access", "co_occurrence", "search_event",
)  # fmt: skip
"""Tables that may have very many rows."""
IN_PLACE = (
    ("space", ("created_at",)),
    ("embedding_model", ("created_at",)),
    ("feedback", ("at",)),
    ("token", ("created_at", "expires_at")),
    ("answered", ("at",)),
    ("session", ("started_at", "seen_at")),
    ("page_session", ("expires_at",)),
)
"""Tables with few rows, which are converted at the end, and their times."""
AIM = 0.03
"""Seconds that a piece should take: others wait for their turn meanwhile."""
FEWEST, MOST = 50, 100_000
"""Rows of a piece."""
Phase = Literal["begin", "copy", "end", "remove"]
_ASIDE, _COPY = "__replaced", "__compact"
_MARKS = "compacting"
_TRIGGERS = frozenset(
    f"compacting_{table}_{act}" for table in COPIED for act in ("added", "changed", "removed")
)
_REFERENCE = re.compile(r"\s+REFERENCES \w+ \(\w+\)(?: ON DELETE CASCADE)?")
_INDEXED = re.compile(r"(?<= ON )\w+")
_ONLY_INDEXES = re.compile(r"(?:\s|--[^\n]*\n|(?:CREATE|DROP) INDEX [^;]*;)*")
_SQL = queries.load("sqlite")


class _SchemaEntry(NamedTuple):
    """A table, an index, a trigger or a view."""

    kind: str
    name: str
    table: str
    sql: str


def is_migrating(name: str) -> bool:
    """Whether a table, an index or a trigger belongs to a running migration."""
    return name.endswith((_ASIDE, _COPY)) or name == _MARKS or name in _TRIGGERS


def can_serve(raw: apsw.Connection, scripts: Sequence[Script]) -> bool:
    """Whether a file of schema 13 can be used as it is until it is migrated.

    Not if a later schema has more than other indexes of the copied tables, nor if somebody else has given
    these tables columns, indexes or triggers, which the copies would lack.
    """
    if not all(_ONLY_INDEXES.fullmatch(script.sql) for script in scripts[COMPACT_SINCE:]):
        return False
    if _other_objects(COMPACT_SINCE) != _other_objects(NEWEST):
        return False
    known, columns = _schema(LAST_OF_TEXT)
    here = {entry.name for entry in _entries(raw) if entry.table in COPIED and not is_migrating(entry.name)}
    ours = here <= {entry.name for entry in known}
    return ours and all(_columns(raw, table) == columns[table] for table in COPIED)


def phase(raw: apsw.Connection) -> Phase | None:
    """What is to be done next; None: nothing."""
    [[version]] = raw.execute("PRAGMA user_version")
    if version != LAST_OF_TEXT:
        return "remove" if _replaced(raw) else None
    here = {entry.name: entry.sql for entry in _entries(raw)}
    # Copies that another release began may have other indexes.
    copies = {name: sql for name, sql in here.items() if name.endswith(_COPY)}
    if not here.keys() >= {_MARKS, *_TRIGGERS} or copies != _copies():
        return "begin"
    return "copy" if raw.execute(_SQL["marks"]).fetchall() else "end"


def begin(raw: apsw.Connection) -> None:
    """Make empty copies of all tables, and the triggers that keep them up to date."""
    abandon(raw)
    raw.execute(_SQL["create_marks"])
    for table in COPIED:
        for entry in _objects(table):
            raw.execute(_copying(entry))
        for trigger in ("copy_added", "copy_changed", "copy_removed"):
            raw.execute(_SQL[trigger].format(**_slots(table)))
        raw.execute(_SQL["add_mark"].format(**_slots(table)), {"name": table})


def abandon(raw: apsw.Connection) -> None:
    """Leave no trace of a migration that is to begin again."""
    for trigger in _TRIGGERS.intersection(entry.name for entry in _entries(raw)):
        raw.execute(_SQL["drop_copying_trigger"].format(trigger=trigger))
    for table in COPIED:
        raw.execute(_SQL["drop_copies"].format(table=table))
    raw.execute(_SQL["drop_marks"])


class PieceSizes:
    """How many rows of a table are handled at once; learns from the time that each piece took."""

    def __init__(self) -> None:
        self._rows: dict[str, float] = {}

    def rows(self, table: str) -> int:
        return int(self._rows.setdefault(table, FEWEST))

    def learn(self, table: str, seconds: float) -> None:
        rows = self._rows[table]
        # At most twice as many as before: one quick piece says little of the next.
        self._rows[table] = max(min(rows * AIM / max(seconds, 1e-6), rows * 2, MOST), FEWEST)


def copy_piece(raw: apsw.Connection, pace: PieceSizes) -> str | None:
    """Copy the next rows. Returns the table; None if all are copied."""
    if phase(raw) != "copy":
        return None  # another process was here
    table, mark, last = raw.execute(_SQL["marks"]).fetchall()[0]
    slots, piece = _slots(str(table)), {"after": mark, "count": pace.rows(str(table))}
    [[until]] = raw.execute(_SQL["end_of_piece"].format(**slots), piece)
    if until is not None:
        raw.execute(_SQL["copy_rows"].format(**slots), {"after": mark, "until": until})
    is_done = until is None or until >= last
    raw.execute(_SQL["put_mark"], {"name": table, "mark": None if is_done else until})
    return str(table)


def put_in_place(raw: apsw.Connection) -> None:
    """Let the copies take the place of the tables, in a transaction without foreign keys."""
    for table in COPIED:
        [(there, copied)] = raw.execute(_SQL["count_copies"].format(table=table))
        if there != copied:  # never seen; but what is missing here would be lost
            counts = f"{copied:,} of {there:,} rows of {table} were copied"
            raise Unavailable(
                f"{counts}: run `mcp-memory doctor --repair`, after which the copying begins again"
            )
    for table, times in IN_PLACE:
        assignments = ", ".join(f"{time} = {_SQL['compact_time'].format(column=time)}" for time in times)
        raw.execute(_SQL["compact_times_in_place"].format(table=table, assignments=assignments))
    for trigger in sorted(_TRIGGERS):
        raw.execute(_SQL["drop_copying_trigger"].format(trigger=trigger))
    raw.execute(_SQL["drop_marks"])
    for table in COPIED:
        # No number is given out again, also if the newest rows are gone.
        given = raw.execute(_SQL["given_number"], {"name": table}).fetchall()
        raw.execute(_SQL["move_aside"].format(table=table))
        raw.execute(_SQL["move_in"].format(table=table))
        for (last,) in given:
            for statement in ("set_sequence", "add_sequence"):
                raw.execute(_SQL[statement], {"name": table, "last": last})
    _describe_anew(raw)
    raw.execute(f"PRAGMA user_version = {NEWEST}")


def remove_piece(raw: apsw.Connection, pace: PieceSizes) -> str | None:
    """Remove some rows or an index of a replaced table. Returns the table; None if there is none."""
    table = next(iter(_replaced(raw)), None)
    if table is None:
        return None
    count = pace.rows(table)
    index = next((one.name for one in _entries(raw) if one.kind == "index" and one.table == table), None)
    if index is not None:
        raw.execute(_SQL["drop_replaced_index"].format(index=index))
        return table
    slots = {"table": table, "mark": TABLE[table.removesuffix(_ASIDE)].key[0]}
    [[before]] = raw.execute(_SQL["first_mark"].format(**slots))
    if before is None:
        raw.execute(_SQL["drop_replaced_table"].format(table=table))
        return table
    [[until]] = raw.execute(_SQL["end_of_piece"].format(**slots), {"after": before, "count": count})
    raw.execute(_SQL["remove_replaced_rows"].format(**slots), {"until": until})
    return table


def drop_replaced(raw: apsw.Connection) -> None:
    """All of the replaced tables at once: they hold what a purge has to erase."""
    for table in _replaced(raw):
        raw.execute(_SQL["drop_replaced_table"].format(table=table))


def _describe_anew(raw: apsw.Connection) -> None:
    """Give the copies the schema's own names and references, and the replaced tables others and none.

    What is stored stays as it is: for such changes SQLite's documentation recommends this way.
    """
    wanted = {entry.name: entry.sql for table in COPIED for entry in _objects(table)}
    raw.execute("PRAGMA writable_schema = ON")
    try:
        # Those of the replaced tables first: no name is used twice.
        for entry in sorted(_entries(raw), key=lambda entry: not entry.table.endswith(_ASIDE)):
            if entry.kind not in ("table", "index") or entry.table.removesuffix(_ASIDE) not in COPIED:
                continue
            if entry.table.endswith(_ASIDE):
                name = entry.name.removesuffix(_ASIDE) + _ASIDE
                sql = _unreferring(_renamed(entry, name))
            else:
                name = entry.name.removesuffix(_COPY)
                sql = wanted[name]
            raw.execute(_SQL["redescribe"], {"former": entry.name, "name": name, "sql": sql})
        raw.execute("PRAGMA writable_schema = RESET")
    finally:
        raw.execute("PRAGMA writable_schema = OFF")


def _replaced(raw: apsw.Connection) -> list[str]:
    there = {entry.name for entry in _entries(raw) if entry.kind == "table"}
    return [table + _ASIDE for table in COPIED if table + _ASIDE in there]


def _copying(entry: _SchemaEntry) -> str:
    """The statement that makes the copy of a table, which refers to no other: a broken reference is no
    obstacle. Or that of an index.
    """
    sql = _renamed(entry, entry.name + _COPY)
    return _unreferring(sql) if entry.kind == "table" else _INDEXED.sub(rf"\g<0>{_COPY}", sql, count=1)


def _renamed(entry: _SchemaEntry, name: str) -> str:
    beginning = rf'^(CREATE (?:UNIQUE )?(?:TABLE|INDEX) )"?{entry.name}"?'
    return re.sub(beginning, rf"\g<1>{name}", entry.sql, count=1)


def _unreferring(sql: str) -> str:
    return _REFERENCE.sub("", sql)


def _entries(raw: apsw.Connection) -> list[_SchemaEntry]:
    return [_SchemaEntry(*map(str, entry)) for entry in raw.execute(_SQL["described"])]


def _columns(raw: apsw.Connection, table: str) -> list[str]:
    return [str(name) for (name,) in raw.execute(_SQL["stored_columns"], {"table": table})]


@cache
def _schema(version: int) -> tuple[list[_SchemaEntry], Mapping[str, list[str]]]:
    """All that the migrations up to a version make, and the columns of the tables."""
    with closing(apsw.Connection(":memory:")) as connection:
        for script in queries.migrations("sqlite")[:version]:
            connection.execute(script.sql)
        return _entries(connection), {table: _columns(connection, table) for table in COPIED}


def _other_objects(version: int) -> list[_SchemaEntry]:
    return [entry for entry in _schema(version)[0] if entry.table not in COPIED]


@cache
def _objects(table: str) -> tuple[_SchemaEntry, ...]:
    """A table of the newest schema, and its indexes in their order."""
    return tuple(entry for entry in _schema(NEWEST)[0] if entry.table == table)


@cache
def _copies() -> Mapping[str, str]:
    """The statements that make the copies and their indexes, by name."""
    return {entry.name + _COPY: _copying(entry) for table in COPIED for entry in _objects(table)}


@cache
def _slots(table: str) -> Mapping[str, str]:
    columns, key = _schema(NEWEST)[1][table], TABLE[table].key
    return {
        "table": table,
        "mark": key[0],
        "columns": ", ".join(columns),
        "values": ", ".join(_value(table, column) for column in columns),
        "same": " AND ".join(f"n.{column} = o.{column}" for column in key),
        "new": " AND ".join(f"o.{column} = NEW.{column}" for column in key),
        "old": " AND ".join(f"{column} = OLD.{column}" for column in key),
    }


def _value(table: str, column: str) -> str:
    """How the copy of a column is made."""
    if (table, column) == ("event", "at"):
        form = "compact_event_time"
    elif table == "event" and column in ("act", "subject"):
        form = "compact_id"
    elif is_time(column):
        form = "compact_time"
    elif is_binary(column):
        form = "compact_hash"
    else:
        return f"o.{column}"
    return _SQL[form].format(column=f"o.{column}")
