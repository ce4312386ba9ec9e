"""Migrates a large database from schema 13 to 16 while it is read and written.

Content hashes became shorter, and indexes changed. Changing the type of a column rewrites the table while
everybody waits. Hence a second column takes the new form. A trigger fills it for whatever is written, by any
program, and background work for all other rows, in short transactions. Indexes are built without blocking
writes. Until then the database has schema 13, and is used as such (`hash_form`). In the end one short
transaction lets the column and its indexes take the place of the former ones, and records the new schema.

What is there tells what is left to do, so it can be interrupted at any point, and any server may resume it.
The tables become those of a new database, but for the place of the column among the others.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from psycopg import IsolationLevel, errors

from mcp_memory.errors import Unavailable
from mcp_memory.storage.database import Script
from mcp_memory.storage.postgres.hash_form import LAST_OF_TEXT
from mcp_memory.storage.postgres.signals import MIGRATION_LOCK
from mcp_memory.storage.postgres.statements import SQL, Raw, run

NEWEST: Final = 16
"""The schema of the result. Of a later one, `can_serve` has to decide what it needs before it is there."""
WITHOUT_INDEX: Final = 13
"""The migration whose index is built in the background. Programs that do not know it must not start."""
FUNCTIONS: Final = 15
"""The migration whose function this program's statements need at once."""
AIM = 0.03
"""Seconds that a piece should take: who changes one of its rows waits meanwhile."""
FEWEST, MOST = 50, 20_000
"""Rows of a piece."""
LOCK_MILLISECONDS = 40
"""How long to wait for the lock that nobody else may hold: others queue up behind this wait."""
ATTEMPTS, PAUSE = 10, 0.2
"""To get that lock, with so many seconds in between; then there will be other attempts, later."""
_NEW, _REPLACED = "__compact", "__replaced"
_MEMORY_INDEXES = ("memory_content", "memory_archived")


def is_migrating(name: str) -> bool:
    """Whether an index belongs to a running migration."""
    return name.endswith((_NEW, _REPLACED))


def can_serve(raw: Raw, scripts: Sequence[Script]) -> bool:
    """Whether tables of schema 12 or 13 can be used as they are until they are migrated.

    Not if something of others uses the column: migrating at once either keeps it, or says what to drop.
    """
    return scripts[-1].number == NEWEST and not _other_uses(raw)


def is_under_way(raw: Raw) -> bool:
    """Whether the database is used as it is, and migrated further in the background."""
    return bool(run(raw, "migration_under_way", number=LAST_OF_TEXT)[0]["under_way"])


def abandon(raw: Raw) -> None:
    """Leave tables that can be migrated at once."""
    if not is_under_way(raw):
        return
    if not run(raw, "index_of_subjects"):
        run(raw, "forget_migration", number=WITHOUT_INDEX)
    raw.execute(SQL["drop_hash_copies"])
    raw.execute(SQL["drop_preparations"])


def migrate_further(raw: Raw, scripts: Sequence[Script]) -> Iterator[str]:
    """Yields what each step did. Stops where others have to finish first, to be resumed later."""
    raw.isolation_level = IsolationLevel.READ_COMMITTED
    if not is_under_way(raw) or not run(raw, "may_migrate", {"lock": MIGRATION_LOCK})[0]["locked"]:
        return
    yield from _index_subjects(raw)
    if not _has_copies(raw):
        if not _alone(raw, lambda: _begin(raw)):
            return
        yield "began to copy hashes"
    yield from _copy_hashes(raw)
    if not _has_copies(raw, whole=True):
        return
    yield from _index_hashes(raw)
    if _alone(raw, lambda: _put_in_place(raw, scripts)):
        yield "put the copies in place"


def _index_subjects(raw: Raw) -> Iterator[str]:
    if not run(raw, "index_of_subjects"):
        _build(raw, "event_subject")
        with raw.transaction():
            raw.execute(SQL["replace_event_subject"])
        yield "built the index event_subject"
    raw.execute(SQL["drop_index"].format(index=f"event_subject{_REPLACED}"))


def _begin(raw: Raw) -> None:
    """Add the column, and the trigger that fills it."""
    compact = SQL["compact_hash"]
    raw.execute(SQL["drop_hash_copies"])
    raw.execute(
        SQL["add_hash_copies"].format(
            new=compact.format(hash="NEW.content_hash"), stored=compact.format(hash="content_hash")
        )
    )


def _copy_hashes(raw: Raw) -> Iterator[str]:
    """Copy what was written before there was a trigger, until all copies are known to be there and right."""
    count = float(FEWEST)
    while not _has_copies(raw, whole=True):
        first = run(raw, "first_without_copy")[0]["seq"]
        if first is None:
            raw.execute(SQL["check_hash_copies"])
            yield "checked the copies of the hashes"
            return
        copied = 0
        while first is not None:
            begun = time.monotonic()
            rows = _copy_piece(raw, first, int(count))
            # At most twice as many as before: one quick piece says little of the next.
            seconds = max(time.monotonic() - begun, 1e-6)
            count = max(min(count * AIM / seconds, count * 2, MOST), FEWEST)
            first = max(rows) + 1 if rows else None
            copied += len(rows)
            if rows:
                yield f"copied {len(rows)} hashes"
        if not copied:
            return  # what is left is being changed by others, who fill it


def _copy_piece(raw: Raw, first: int, count: int) -> list[int]:
    with raw.transaction():
        raw.execute(SQL["without_waiting_for_disk"])
        return [row["seq"] for row in run(raw, "copy_hashes", first=first, count=count)]


def _index_hashes(raw: Raw) -> Iterator[str]:
    missing = [index for index in _MEMORY_INDEXES if not _is_usable(raw, index + _NEW)]
    if missing:
        raw.execute(SQL["vacuum_memory"])
    for index in missing:
        _build(raw, index)
        yield f"built the index {index}"


def _build(raw: Raw, index: str) -> None:
    # A server that died while building left an invalid one.
    raw.execute(SQL["drop_index"].format(index=index + _NEW))
    raw.execute(SQL[f"create_{index}"])


def _put_in_place(raw: Raw, scripts: Sequence[Script]) -> None:
    """Let the copies and their indexes take the place of the former ones."""
    is_ready = _has_copies(raw, whole=True) and all(
        _is_usable(raw, index + _NEW) for index in _MEMORY_INDEXES
    )
    if not is_ready or _version(raw) != LAST_OF_TEXT:
        raise Unavailable("another program changes the tables that are being migrated")
    if others := _other_uses(raw):
        # An index of others would vanish without a word.
        raise Unavailable(
            f"memory.content_hash cannot be replaced, because it is used by {', '.join(others)}. "
            "Drop what is named there, and make it anew when the database is migrated."
        )
    raw.execute(SQL["put_hash_copies_in_place"])
    for script in scripts[LAST_OF_TEXT:]:
        run(raw, "add_migration", number=script.number, name=script.name)


def _alone(raw: Raw, change: Callable[[], None]) -> bool:
    """Change the table of memories while nobody else uses it. Returns whether that was possible."""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE)
        try:
            with raw.transaction():
                raw.execute(SQL["lock_memory_against_vacuum"])
                raw.execute(SQL["lock_memory"].format(milliseconds=LOCK_MILLISECONDS))
                change()
            return True
        except errors.LockNotAvailable:
            continue
    return False


def _has_copies(raw: Raw, *, whole: bool = False) -> bool:
    """Whether a trigger copies hashes; `whole`: and all are copied."""
    [row] = run(raw, "hash_copies")
    return bool(row["begun"] and (row["whole"] or not whole))


def _is_usable(raw: Raw, index: str) -> bool:
    return bool(run(raw, "fit_index", index=index))


def _other_uses(raw: Raw) -> list[str]:
    return [row["name"] for row in run(raw, "other_uses_of_hash")]


def _version(raw: Raw) -> int:
    return int(run(raw, "schema_version")[0]["number"])
