"""The doctor finds on both databases what neither of them enforces, and repairs what is safe."""

from __future__ import annotations

from datetime import timedelta

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.storage import Database
from tests.fakes import Clock

SPOILING = {
    "reflections": (
        "INSERT INTO reflection (space_id, id, target_type, target_seq, author, content, created_at)"
        " SELECT seq, 'r', 'entity', 4711, 'a', 'wise words', :past FROM space"
    ),
    "superseded": "UPDATE memory SET superseded_by = id, superseded_at = :past",
    "journal": "UPDATE event SET name = 'forged' WHERE at < :late",
    "tokens": (
        "INSERT INTO token (name, digest, spaces, rights, created_at)"
        " VALUES ('emptied', '', '[]', 'read', :past)"
    ),
    "dates": "UPDATE memory SET accessed_at = :late",
}


def reported(database: Database, clock: Clock) -> set[str]:
    return {one.subject for one in database.examine(now=clock()) if not one.is_well} & SPOILING.keys()


def test_loose_ends_are_found_and_repaired_where_it_is_safe(
    engine: Engine, database: Database, clock: Clock
) -> None:
    engine.memories.remember(NewMemory(content="still there"))
    assert reported(database, clock) == set()
    with database.write() as connection:
        for statement in SPOILING.values():
            times = {"past": clock(), "late": clock() + timedelta(days=3)}
            used = {name: time for name, time in times.items() if f":{name}" in statement}
            assert connection.change(statement, used)
    assert reported(database, clock) == SPOILING.keys()
    assert database.repair() >= 2
    assert reported(database, clock) == {"journal", "tokens", "dates"}
    assert engine.reflections.get("r").reflection.content == "wise words"
    assert engine.recall.recall("still there").hits
