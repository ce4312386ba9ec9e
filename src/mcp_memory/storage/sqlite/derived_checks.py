"""Checks derived data and invariants that SQLite's own checks do not cover."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import apsw

from mcp_memory.model import Owner
from mcp_memory.storage import queries
from mcp_memory.storage.database import WordRow
from mcp_memory.storage.derived_data import words_of
from mcp_memory.storage.diagnostics import Finding
from mcp_memory.storage.schema import TABLES
from mcp_memory.storage.sqlite.online_migration import is_migrating
from mcp_memory.storage.sqlite.words import index_of
from mcp_memory.text.fingerprint import exact_fingerprint, fingerprint, spelling_fingerprint
from mcp_memory.text.words import tokens

_SQL = queries.load("sqlite")

_PLURALS = {"memory": "memories", "entity": "entities", "reflection": "reflections"}

REPAIR = "run `mcp-memory doctor --repair`"
RESTORE = "restore a backup: `mcp-memory backup list`, `mcp-memory backup restore FILE`"


def schema_objects(version: int) -> Mapping[str, str]:
    """The tables and indexes that the migrations up to a version make, with their SQL."""
    connection = apsw.Connection(":memory:")
    try:
        for script in queries.migrations("sqlite")[:version]:
            connection.execute(script.sql)
        return dict(connection.execute(_SQL["schema_objects"]))
    finally:
        connection.close()


def missing_objects(connection: apsw.Connection) -> list[str]:
    """Tables and indexes of the schema version that the file lacks."""
    [[version]] = connection.execute("PRAGMA user_version")
    here = {name for name, _ in connection.execute(_SQL["schema_objects"])}
    return [name for name in schema_objects(version) if name not in here]


def objects(connection: apsw.Connection) -> Iterator[Finding]:
    [[version]] = connection.execute("PRAGMA user_version")
    here = {name for name, _ in connection.execute(_SQL["schema_objects"])}
    newest = queries.migrations("sqlite")[-1].number
    if version < newest and here >= schema_objects(newest).keys():
        detail = f"the file says version {version}, but its tables are those of {newest}"
        yield Finding("tables", False, detail, REPAIR)
        return
    if strange := triggers(connection):
        detail = f"triggers that are not ours change rows unasked: {', '.join(strange[:5])}"
        yield Finding("tables", False, detail, REPAIR)
        return
    missing = missing_objects(connection)
    names = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
    truths = {table.name for table in TABLES}
    advice = RESTORE if truths & set(missing) else REPAIR
    yield Finding("tables", not missing, f"missing: {names}" if missing else "all are there", advice)


def strangers(connection: apsw.Connection) -> Finding:
    """Tables, views and indexes that no release has made."""
    [[version]] = connection.execute("PRAGMA user_version")
    here = {name for name, _ in connection.execute(_SQL["schema_objects"]) if not is_migrating(name)}
    known = schema_objects(queries.migrations("sqlite")[-1].number).keys() | schema_objects(version).keys()
    extra = sorted(here - known)
    names = ", ".join(extra[:5]) + (", …" if len(extra) > 5 else "")
    advice = "another program has made them; if nobody needs them, remove them with its tools"
    return Finding("other tables", not extra, f"not ours: {names}" if extra else "none", advice)


def triggers(connection: apsw.Connection) -> list[str]:
    """Names of triggers. The schema has none, but for those of a running migration."""
    return [name for (name,) in connection.execute(_SQL["triggers"]) if not is_migrating(name)]


def contents(connection: apsw.Connection) -> Iterator[Finding]:
    """Each memory's text matches its digest."""
    changed = list(changed_contents(connection))
    names = ", ".join(id or f"number {seq}" for seq, id in changed[:3])
    detail = f"the text of {len(changed):,} memories is not the one that was stored: {names}"
    advice = f"{RESTORE}; or {REPAIR}, which keeps the text as it is and quarantines the memory"
    yield Finding("texts", not changed, detail if changed else "as they were stored", advice)


def changed_contents(connection: apsw.Connection) -> Iterator[tuple[int, str | None]]:
    for seq, id, content, digest in connection.execute(_SQL["contents"]):
        known = (fingerprint, exact_fingerprint, spelling_fingerprint)
        if not any(digest == digest_of(str(content)) for digest_of in known):
            yield seq, id


def digest_of(connection: apsw.Connection, seq: int) -> bytes:
    [[content, origin]] = connection.execute(_SQL["text_of_memory"], {"seq": seq})
    return (exact_fingerprint if origin == "observation" else fingerprint)(str(content))


def numbers(connection: apsw.Connection) -> Iterator[Finding]:
    """Numbers of deleted rows are not reused, and no count is negative."""
    low = [name for name, _ in low_sequences(connection)]
    [[negative]] = connection.execute(_SQL["negative_counts"])
    wrong = [f"numbers of {', '.join(low)} would be given out twice"] if low else []
    wrong += [f"{negative:,} memories have an impossible count"] if negative else []
    yield Finding("numbers", not wrong, "; ".join(wrong) or "in order", REPAIR)


def low_sequences(connection: apsw.Connection) -> Iterator[tuple[str, int]]:
    """Tables whose next number is taken, with the highest number in use."""
    given = dict(connection.execute(_SQL["given_numbers"]))
    for table in TABLES:
        if "seq" in table.columns and table.key == ("seq",):
            [[highest]] = connection.execute(_SQL["highest_number"].format(table=table.name))
            if highest is not None and highest > given.get(table.name, 0):
                yield table.name, highest


def tags(connection: apsw.Connection) -> Iterator[Finding]:
    different = len(different_tags(connection))
    detail = f"{different:,} differ from those of their memories" if different else "complete"
    yield Finding("tags", not different, detail, REPAIR)


def different_tags(connection: apsw.Connection) -> set[tuple[int, str]]:
    noted = {(seq, tag) for seq, tag in connection.execute(_SQL["indexed_tags"])}
    held = {(seq, tag) for seq, text in connection.execute(_SQL["tags_of_memories"]) for tag in _list(text)}
    return noted ^ held


def words(connection: apsw.Connection) -> Iterator[Finding]:
    """The full-text index of each space holds every living row, and no other."""
    spaces = [row[0] for row in connection.execute(_SQL["all_spaces"])]
    changed = [owner for owner, _ in changed_words(connection)]
    for owner in get_args(Owner):
        missing = extra = 0
        for space_id in spaces:
            living, indexed = (
                living_rows(connection, owner, space_id),
                indexed_rows(connection, owner, space_id),
            )
            missing += len(living - indexed)
            extra += len(indexed - living)
        counts = {
            "rows are missing": missing,
            "too many": extra,
            "differ from their text": changed.count(owner),
        }
        is_well = not any(counts.values())
        detail = "complete" if is_well else ", ".join(f"{count:,} {what}" for what, count in counts.items())
        yield Finding(f"words of {_PLURALS[owner]}", is_well, detail, REPAIR)


def living_rows(connection: apsw.Connection, owner: Owner, space_id: int) -> set[int]:
    living = "AND forgotten_at IS NULL" if owner == "memory" else ""
    rows = _SQL["rows_to_index"].format(owner=owner, living=living)
    return {row[0] for row in connection.execute(rows, {"space_id": space_id})}


def indexed_rows(connection: apsw.Connection, owner: Owner, space_id: int) -> set[int]:
    index = index_of(owner, space_id)
    if not list(connection.execute(_SQL["table_exists"], {"name": index})):
        shared = connection.execute(_SQL["shared_rows"], {"owner": owner, "space_id": space_id})
        return {row[0] for row in shared}
    return {row[0] for row in connection.execute(_SQL["indexed_rows"].format(index=index))}


def changed_words(connection: apsw.Connection) -> Iterator[tuple[Owner, int]]:
    """Rows in the shared table whose words are not those of their text."""
    for owner in get_args(Owner):
        for row in _rows(connection, _SQL["words_and_rows"].format(owner=owner), {"owner": owner}):
            words = words_of(owner, {**row, "tags": _list(row.get("tags", "[]"))})
            kept = (set(row["kept_body"].split()), set(row["kept_extra"].split()))
            if words is not None and not _fit(kept, words, row["name" if owner == "entity" else "content"]):
                yield owner, row["seq"]


def _fit(kept: tuple[set[str], set[str]], words: WordRow, text: str) -> bool:
    """Whether these are the words of a row; rows of earlier versions may lack stems by language."""
    body, extra = kept
    return set(tokens(text)) <= body <= set(words.body.split()) and extra == set(words.extra.split())


def vectors(connection: apsw.Connection) -> Iterator[Finding]:
    """Vectors have their model's length and a row; a row without a vector waits for one."""
    misshapen = len(list(connection.execute(_SQL["misshapen_vectors"])))
    strays = unasked = 0
    for owner in get_args(Owner):
        slots = {"owner": owner, "alive": "forgotten_at IS NULL" if owner == "memory" else "1 = 1"}
        strays += len(list(connection.execute(_SQL["stray_vectors"].format(**slots))))
        unasked += len(list(connection.execute(_SQL["rows_without_vector"].format(**slots))))
    found = {
        "have a wrong length": misshapen,
        "belong to no row": strays,
        "are neither made nor waited for": unasked,
    }
    wrong = [f"{count:,} {what}" for what, count in found.items() if count]
    yield Finding("vectors kept", not wrong, "; ".join(wrong) or "each fits its row", REPAIR)


def sketches(connection: apsw.Connection) -> Iterator[Finding]:
    wrong = list(connection.execute(_SQL["wrong_sketches"]))
    detail = f"{len(wrong):,} do not fit their vectors" if wrong else "all fit their vectors"
    yield Finding("sketches", not wrong, detail, REPAIR)


def _rows(connection: apsw.Connection, sql: str, params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    cursor = connection.execute(sql, params)
    for values in cursor:
        yield dict(zip((column[0] for column in cursor.get_description()), values, strict=True))


def _list(text: str) -> list[str]:
    """The strings of a JSON list; unreadable ones are another check's finding."""
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return []
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []
