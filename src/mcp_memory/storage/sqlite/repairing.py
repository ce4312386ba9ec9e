"""Repairs the findings of a diagnosis, where the file itself holds the right data."""

from __future__ import annotations

from typing import get_args

import apsw

from mcp_memory.model import Owner
from mcp_memory.storage import queries
from mcp_memory.storage.consistency import repair_inconsistencies
from mcp_memory.storage.derived_data import words_of
from mcp_memory.storage.schema import TABLES
from mcp_memory.storage.sqlite import derived_checks as checks
from mcp_memory.storage.sqlite import online_migration
from mcp_memory.storage.sqlite.connection import SqliteConnection
from mcp_memory.storage.sqlite.unreadable_rows import repair_rows
from mcp_memory.storage.sqlite.words import SqliteWords

_SQL = queries.load("sqlite")
_LIVING = {"memory": "forgotten_at IS NULL", "entity": "1 = 1", "reflection": "1 = 1"}


def is_sound(raw: apsw.Connection) -> bool:
    return list(raw.execute("PRAGMA integrity_check(1)")) == [("ok",)]


def rebuild_indexes(raw: apsw.Connection) -> int:
    """Rebuild every index from its table, even if the index's own pages are damaged. Returns their number."""
    indexes = list(raw.execute(_SQL["indexes_with_sql"]))
    # Dropping an index reads its pages, which may be damaged. So only its entry goes, and VACUUM frees the
    # pages.
    raw.execute("PRAGMA writable_schema = ON")
    try:
        raw.execute("BEGIN IMMEDIATE")
        raw.execute(_SQL["forget_indexes"])
        raw.execute("PRAGMA writable_schema = RESET")
        for (sql,) in indexes:
            raw.execute(sql)
        raw.execute("COMMIT")
    finally:
        if raw.in_transaction:
            raw.execute("ROLLBACK")
        raw.execute("PRAGMA writable_schema = OFF")
    raw.execute("VACUUM")
    return len(indexes)


def repair(connection: SqliteConnection) -> int:
    """Repair everything in one transaction. Returns the number of repairs."""
    raw = connection.raw
    raw.execute("PRAGMA defer_foreign_keys = ON")
    online_migration.abandon(raw)  # a running migration begins again, with what is repaired
    online_migration.drop_replaced(raw)
    count = _version(raw) + _objects(raw)
    if checks.missing_objects(raw):
        return count  # nothing else can be checked without the tables
    count += _references(raw)
    if not _is_newest(raw):
        return count  # rows of an earlier schema are stored in other ways: they are judged once migrated
    count += repair_rows(raw) + _contents(raw) + _numbers(raw)
    count += repair_inconsistencies(connection)
    return count + _tags(raw) + _words(connection) + _vectors(raw) + _sketches(raw)


def _is_newest(raw: apsw.Connection) -> bool:
    [[version]] = raw.execute("PRAGMA user_version")
    return bool(version == queries.migrations("sqlite")[-1].number)


def _version(raw: apsw.Connection) -> int:
    [[version]] = raw.execute("PRAGMA user_version")
    newest = queries.migrations("sqlite")[-1].number
    here = {name for name, _ in raw.execute(_SQL["schema_objects"])}
    if version >= newest or not here >= checks.schema_objects(newest).keys():
        return 0
    raw.execute(f"PRAGMA user_version = {newest}")
    return 1


def _objects(raw: apsw.Connection) -> int:
    """Recreate missing indexes, and tables whose rows can be derived; remove triggers, which are not ours."""
    [[version]] = raw.execute("PRAGMA user_version")
    missing, sql = checks.missing_objects(raw), checks.schema_objects(version)
    truths = {table.name for table in TABLES} - {"memory_tag", "pending"}
    made = 0
    for name in checks.triggers(raw):
        raw.execute('DROP TRIGGER "' + name.replace('"', '""') + '"')
        made += 1
    for name in missing:
        if name in truths:
            continue
        try:
            raw.execute(sql[name])
            made += 1
        except apsw.ConstraintError:
            continue  # rows that a unique index forbids: the diagnosis goes on reporting it
    return made


def _references(raw: apsw.Connection) -> int:
    """Remove rows that refer to a missing row; a missing space is created."""
    broken = list(raw.execute("PRAGMA foreign_key_check"))
    for table, rowid, parent, _ in broken:
        if parent == "space":
            raw.execute(_SQL["recover_spaces"].format(table=table))
        elif rowid is not None:
            raw.execute(_SQL["remove_by_rowid"].format(table=table), {"rowid": rowid})
        else:
            raw.execute(_SQL["remove_stray_tags"])
    return len(broken)


def _contents(raw: apsw.Connection) -> int:
    changed = list(checks.changed_contents(raw))
    for seq, _ in changed:
        raw.execute(_SQL["quarantine_changed"], {"seq": seq, "digest": checks.digest_of(raw, seq)})
    return len(changed)


def _numbers(raw: apsw.Connection) -> int:
    low = list(checks.low_sequences(raw))
    for name, highest in low:
        raw.execute(_SQL["set_sequence"], {"name": name, "last": highest})
        raw.execute(_SQL["add_sequence"], {"name": name, "last": highest})
    [[negative]] = raw.execute(_SQL["negative_counts"])
    raw.execute(_SQL["repair_counts"])
    return len(low) + int(negative)


def _tags(raw: apsw.Connection) -> int:
    different = checks.different_tags(raw)
    if different:
        raw.execute(_SQL["remove_tags"])
        raw.execute(_SQL["rebuild_tags"])
    return len(different)


def _words(connection: SqliteConnection) -> int:
    """Index rows again whose words are missing, superfluous or different from their text."""
    count = 0
    words = SqliteWords()
    changed = set(checks.changed_words(connection.raw))
    for owner in get_args(Owner):
        for (space_id,) in list(connection.raw.execute(_SQL["all_spaces"])):
            living = checks.living_rows(connection.raw, owner, space_id)
            indexed = checks.indexed_rows(connection.raw, owner, space_id)
            wrong = (living ^ indexed) | {seq for kind, seq in changed if kind == owner and seq in living}
            if not wrong:
                continue
            count += len(wrong)
            words.remove(connection, owner, space_id, sorted(wrong))
            rows = [
                connection.run(_SQL["row_to_index"].format(owner=owner), {"seq": seq})
                for seq in wrong & living
            ]
            found = [words_of(owner, row) for [row] in rows]
            words.put(connection, owner, [row for row in found if row is not None])
    return count


def _vectors(raw: apsw.Connection) -> int:
    count = raw.total_changes()
    raw.execute(_SQL["remove_misshapen_vectors"])
    for owner in get_args(Owner):
        slots = {"owner": owner, "alive": _LIVING[owner]}
        raw.execute(_SQL["remove_stray_vectors"].format(**slots))
        raw.execute(_SQL["remove_stray_pending"].format(**slots))
        raw.execute(_SQL["ask_for_vectors"].format(**slots))
    return raw.total_changes() - count


def _sketches(raw: apsw.Connection) -> int:
    wrong = list(raw.execute(_SQL["wrong_sketches"]))
    for model_id, owner, space_id in wrong:
        scope = {"model_id": model_id, "owner": owner, "space_id": space_id}
        raw.execute(_SQL["remove_sketch"], scope)
        raw.execute(_SQL["remove_segments"], scope)
    return len(wrong)
