"""Rows that SQLite keeps and the program cannot read are found, and can be repaired."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import Filter
from mcp_memory.storage.sqlite import SqliteDatabase
from tests.surfaces.rest.conftest import engine_on

BAD = [
    ("tags", '"abc"'),
    ("tags", "["),
    ("metadata", '"x"'),
    ("metadata", "not json"),
    ("created_at", "5 o'clock"),
    ("updated_at", "2026-13-45"),
    ("accessed_at", "soon"),
]


def with_value(path: Path, column: str, value: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(f"UPDATE memory SET {column} = ? WHERE content = 'bad'", (value,))
    connection.close()


@pytest.mark.parametrize(("column", "value"), BAD)
def test_a_value_that_cannot_be_read_is_found_and_repaired(tmp_path: Path, column: str, value: str) -> None:
    path = tmp_path / "memory.db"
    engine = engine_on(path)
    for content in ("good", "bad"):
        engine.memories.remember(NewMemory(content=content))
    engine.close()
    with_value(path, column, value)
    [found] = [finding for finding in SqliteDatabase(path).examine() if finding.subject == "rows"]
    assert not found.is_well
    assert f"memory 2 ({column})" in found.detail
    assert "doctor --repair" in found.advice
    assert SqliteDatabase(path).repair() == 1
    [found] = [finding for finding in SqliteDatabase(path).examine() if finding.subject == "rows"]
    assert found.is_well
    after = engine_on(path)
    assert {memory.content for memory in after.memories.find(Filter()).memories} == {"good"}
    everything = after.memories.find(Filter(quarantined=None)).memories
    assert {memory.content for memory in everything} == {"good", "bad"}
    after.close()
