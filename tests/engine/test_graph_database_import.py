"""The SQLite file of the MCP Memory v2 server becomes part of what is known."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.import_source import default_source
from mcp_memory.errors import Invalid

SCHEMA = """
CREATE TABLE entities (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
  entity_type TEXT NOT NULL DEFAULT 'Generic', created_at TEXT NOT NULL, updated_at TEXT NOT NULL{entities});
CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, entity_id INTEGER NOT NULL,
  content TEXT NOT NULL, created_at TEXT NOT NULL{observations});
CREATE TABLE relations (id INTEGER PRIMARY KEY AUTOINCREMENT, from_entity INTEGER NOT NULL,
  to_entity INTEGER NOT NULL, relation_type TEXT NOT NULL, created_at TEXT NOT NULL{relations});
CREATE TABLE entity_access (entity_id INTEGER PRIMARY KEY, access_count INTEGER, last_access TEXT);
CREATE TABLE co_occurrences (entity_a_id INTEGER, entity_b_id INTEGER, co_count INTEGER, last_co TEXT);
INSERT INTO entities (id, name, entity_type, created_at, updated_at) VALUES
  (1, 'CachorroSpace', 'Proyecto', '2026-01-02 03:04:05', '2026-02-02 03:04:05'),
  (2, 'Astro', 'Sistema', '2026-01-03 00:00:00', '2026-01-03 00:00:00');
INSERT INTO observations (id, entity_id, content, created_at) VALUES
  (1, 1, 'Stack: Astro 5', '2026-01-02 03:04:05'),
  (2, 1, 'Stack: Astro 6', '2026-02-02 03:04:05'),
  (3, 2, 'Framework for docs', '2026-01-03 00:00:00');
INSERT INTO relations (id, from_entity, to_entity, relation_type, created_at) VALUES
  (7, 1, 2, 'uses', '2026-01-04 00:00:00'),
  (8, 2, 1, 'contiene', '2026-01-04 00:00:00');
INSERT INTO entity_access VALUES (1, 12, '2026-03-01 00:00:00');
INSERT INTO co_occurrences VALUES (1, 2, 3, '2026-03-01 00:00:00');
"""

NEWER = """
CREATE TABLE reflections (id INTEGER PRIMARY KEY, target_type TEXT, target_id INTEGER, author TEXT,
  content TEXT, mood TEXT, created_at TEXT);
UPDATE entities SET status = 'pausado' WHERE id = 2;
UPDATE observations SET superseded_at = '2026-02-02 03:04:05' WHERE id = 1;
UPDATE observations SET supersedes = 1, kind = 'decision', similarity_flag = 1 WHERE id = 2;
UPDATE relations SET active = 0, ended_at = '2026-02-01 00:00:00', context = 'until v6' WHERE id = 8;
INSERT INTO reflections VALUES
  (1, 'entity', 1, 'nolan', 'This one shaped everything', 'insight', '2026-02-03 00:00:00'),
  (2, 'relation', 7, 'sofia', 'A good choice', NULL, '2026-02-04 00:00:00'),
  (3, 'global', NULL, 'sofia', 'A calm week', NULL, '2026-02-05 00:00:00');
"""

COLUMNS = {
    "entities": ", status TEXT DEFAULT 'activo'",
    "observations": ", similarity_flag INTEGER DEFAULT 0, kind TEXT DEFAULT 'generic', supersedes INTEGER, "
    "superseded_at TEXT",
    "relations": ", context TEXT, active INTEGER DEFAULT 1, ended_at TEXT",
}


def write(path: Path, *, newer: bool = True) -> Path:
    columns = COLUMNS if newer else dict.fromkeys(COLUMNS, "")
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(SCHEMA.format(**columns) + (NEWER if newer else ""))
    return path


@pytest.mark.seed("001 import")
def test_everything_in_the_file_arrives(engine: Engine, tmp_path: Path) -> None:
    done = engine.transfer.import_from(write(tmp_path / "theirs.db"))
    assert (done.format, done.errors, done.skipped) == ("sqlite", 0, 0)
    assert done.records["entity"] == 2
    assert done.records["memory"] == 3
    graph = engine.graph.open_nodes(["CachorroSpace", "Astro"], superseded=True, record=False)
    project, astro = graph.nodes
    assert (project.entity.type, project.entity.status, astro.entity.status) == (
        "Proyecto",
        "active",
        "pausado",
    )
    assert project.entity.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    old, new = project.observations
    assert (old.content, new.content, new.kind) == ("Stack: Astro 5", "Stack: Astro 6", "decision")
    assert (old.superseded_by, new.superseded_by) == (new.id, None)
    assert new.flagged_at is not None
    assert [(one.source, one.type, one.ended_at is None) for one in graph.relations] == [
        ("CachorroSpace", "uses", True),
        ("Astro", "contiene", False),
    ]
    about = engine.reflections.find().reflections
    assert {one.reflection.content for one in about} == {
        "This one shaped everything", "A good choice", "A calm week",
    }  # fmt: skip
    with engine._context.reading() as tx:
        assert tx.usage.standings([project.entity.seq])[project.entity.seq].access_count == 12
        [pair] = tx.usage.co_occurrences([project.entity.seq, astro.entity.seq])
        assert pair.times == 3


@pytest.mark.seed("001 import")
def test_an_older_file_arrives_too_and_twice_is_once(engine: Engine, tmp_path: Path) -> None:
    path = write(tmp_path / "theirs.db", newer=False)
    engine.transfer.import_from(path)
    again = engine.transfer.import_from(path)
    assert not any(again.records.get(kind) for kind in ("entity", "memory", "relation"))
    assert engine.graph.get("CachorroSpace", record=False).nodes[0].texts == [
        "Stack: Astro 5",
        "Stack: Astro 6",
    ]


@pytest.mark.seed("001 import")
def test_the_file_is_found_at_its_usual_place(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    with pytest.raises(Invalid, match="opencode"):
        default_source()
    write(tmp_path / ".config/opencode/mcp-memory/memory.db")
    assert engine.transfer.preview(default_source()).total["entity"] == 2


def test_another_sqlite_file_is_refused(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("CREATE TABLE t (x)")
    done = engine.transfer.import_from(path)
    assert done.is_empty
