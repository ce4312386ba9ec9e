"""The tools that keep order, as a model calls them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp_types import TextContent

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Conflict, Invalid, NotFound
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Caller, Memory
from mcp_memory.server.mcp import changes, memory_maintenance
from mcp_memory.storage import Database
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.conftest import EngineMaker
from tests.fakes import Clock

BY_NAME = {tool.name: tool for tool in (*memory_maintenance.TOOLS, *changes.TOOLS)}
HOOKS = ("React hooks let components use state", "React hooks let components use state.")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """One kind is enough to see how tools answer."""
    opened = SqliteDatabase(tmp_path / "memory.db", "NORMAL")
    yield opened
    opened.close()


def call(engine: Engine, tool: str, **arguments: Any) -> dict[str, Any]:
    """What the tool answers, after checking that it keeps its contract."""
    result = BY_NAME[tool].run(engine, arguments)
    structured = result.structured_content or {}
    [part] = result.content
    assert isinstance(part, TextContent)
    assert json.loads(part.text) == structured
    jsonschema.validate(structured, BY_NAME[tool].output_schema)
    return structured


def remember(engine: Engine, content: str, **given: Any) -> Memory:
    return engine.memories.remember(NewMemory(content=content, **given)).memory


def observe(engine: Engine, *contents: str) -> None:
    """Keep texts that say the same side by side, which only the knowledge graph does."""
    engine.graph.create_entities([NewEntity(name="React", observations=contents)])


def test_delete_memories_by_id_reports_what_is_not_there(engine: Engine) -> None:
    memory = remember(engine, "tea is hot")
    answer = call(engine, "delete_memories", memory_ids=[memory.id, "unknown"])
    assert (answer["deleted_count"], answer["deleted_ids"]) == (1, [memory.id])
    assert answer["not_found"] == ["unknown"]
    undone = call(engine, "undo_change", change_id=answer["change_id"])
    assert undone["restored_ids"] == [memory.id]


def test_delete_memories_by_filter_with_a_preview(engine: Engine, clock: Clock) -> None:
    old = remember(engine, "tea is hot", type="fact")
    clock.advance(days=100)
    remember(engine, "snow is cold", type="fact")
    for condition in ({"before_date": "2026-02-01"}, {"min_confidence_below": 0.5}):
        preview = call(engine, "delete_memories", **condition, memory_types=["fact"], dry_run=True)
        assert preview["deleted_ids"] == [old.id]
        assert "change_id" not in preview
    assert call(engine, "get_memory_stats")["total_memories"] == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "nothing says which memories to delete"),
        ({"memory_ids": []}, "nothing says which memories to delete"),
        ({"min_confidence_below": 2}, "between 0 and 1"),
        ({"before_date": "soon"}, "before_date"),
        ({"memory_types": ["a\0b"]}, "NUL"),
        ({"ids": ["x"]}, "allowed: .*memory_ids"),
    ],
)
def test_a_delete_that_makes_no_sense_deletes_nothing(
    engine: Engine, arguments: dict[str, Any], complaint: str
) -> None:
    remember(engine, "tea is hot")
    with pytest.raises(Invalid, match=complaint):
        call(engine, "delete_memories", **arguments)
    assert call(engine, "get_memory_stats")["total_memories"] == 1


def test_get_entity_graph_shows_nodes_edges_and_memories(engine: Engine) -> None:
    engine.graph.create_relations(
        [
            NewRelation(source=source, target=target, type="to", strength=0.8, make_ends=True)
            for source, target in (("A", "B"), ("A", "C"), ("B", "D"))
        ]
    )
    remember(engine, "B is fine", entity_names=("B",))
    answer = call(engine, "get_entity_graph", entity_name="A")
    assert [node["name"] for node in answer["nodes"]] == ["A", "B", "C"]
    assert [memory["content"] for memory in answer["nodes"][1]["memories"]] == ["B is fine"]
    assert [(edge["source"], edge["target"], edge["strength"]) for edge in answer["edges"]] == [
        ("A", "B", 0.8),
        ("A", "C", 0.8),
    ]
    wider = call(engine, "get_entity_graph", entity_name="A", depth=2, include_memories=False)
    assert [node["name"] for node in wider["nodes"]] == ["A", "B", "C", "D"]
    assert "memories" not in wider["nodes"][0]
    assert call(engine, "get_entity_graph", entity_name="A", min_strength=0.9)["edges"] == []
    with pytest.raises(NotFound):
        call(engine, "get_entity_graph", entity_name="Z")


def test_consolidate_memories_reports_and_dry_run_changes_nothing(engine: Engine) -> None:
    observe(engine, *HOOKS, "React has 3 hooks", "React has 4 hooks")
    preview = call(engine, "consolidate_memories", dry_run=True, similarity_threshold=0.7)
    assert (preview["clusters_found"], preview["memories_merged"], preview["memories_deleted"]) == (1, 2, 1)
    assert preview["kept_apart_count"] == 1
    assert "number" in preview["kept_apart"][0]["reason"]
    assert call(engine, "get_memory_stats")["total_memories"] == 4
    report = call(engine, "consolidate_memories", similarity_threshold=0.7)
    assert report["clusters"][0]["primary"]["content"] == HOOKS[0]
    assert report["clusters"][0]["absorbed"][0]["content"] == HOOKS[1]
    assert call(engine, "get_memory_stats")["total_memories"] == 3
    history = call(engine, "memory_history", memory_id=report["clusters"][0]["primary"]["id"])
    assert [version["reason"] for version in history["versions"]] == ["absorbed", "consolidated"]
    call(engine, "undo_change", change_id=report["change_id"])
    assert call(engine, "get_memory_stats")["total_memories"] == 4


def test_get_memory_stats_has_exactly_its_fields(engine: Engine, clock: Clock) -> None:
    remember(engine, "tea is hot", type="fact")
    assert call(engine, "get_memory_stats") == {
        "total_memories": 1,
        "total_entities": 0,
        "total_relations": 0,
        "memories_by_type": {"fact": 1},
        "average_confidence": 1.0,
        "oldest_memory": clock.now.isoformat(),
        "newest_memory": clock.now.isoformat(),
        "low_confidence_count": 0,
    }


def test_undo_without_an_id_takes_back_ones_own_latest_change(make_engine: EngineMaker) -> None:
    mine, theirs = make_engine(caller=Caller(client="mine")), make_engine(caller=Caller(client="theirs"))
    memory = remember(mine, "tea is hot")
    mine.memories.update(memory.id, {"content": "tea is cold"})
    remember(theirs, "snow is white")
    answer = call(mine, "undo_change")
    assert answer["undone"].startswith("changed")
    assert mine.memories.get(memory.id).content == "tea is hot"
    call(mine, "undo_change", change_id=answer["redo_id"])
    assert mine.memories.get(memory.id).content == "tea is cold"
    with pytest.raises(Conflict):
        call(mine, "undo_change", change_id=answer["redo_id"])


def test_changes_are_listed_in_pages(engine: Engine) -> None:
    for content in ("tea is hot", "snow is cold", "grass is green"):
        remember(engine, content)
    first = call(engine, "list_changes", limit=2)
    assert [change["summary"] for change in first["changes"]] == [
        "remembered the memory “grass is green”",
        "remembered the memory “snow is cold”",
    ]
    second = call(engine, "list_changes", limit=2, cursor=first["next_cursor"])
    assert len(second["changes"]) == 1
    assert "next_cursor" not in second
    with pytest.raises(Invalid):
        call(engine, "list_changes", limit=101)


def test_restore_memory_brings_back_a_memory_or_a_version(engine: Engine) -> None:
    memory = remember(engine, "tea is hot")
    engine.memories.forget(memory.id)
    assert call(engine, "restore_memory", memory_id=memory.id)["memory"]["content"] == "tea is hot"
    engine.memories.update(memory.id, {"content": "tea is cold"})
    [version] = call(engine, "memory_history", memory_id=memory.id)["versions"]
    assert (version["version"], version["content"]) == (1, "tea is hot")
    assert call(engine, "restore_memory", memory_id=memory.id, version=1)["memory"]["content"] == "tea is hot"
    with pytest.raises(NotFound):
        call(engine, "restore_memory", memory_id="unknown")


@pytest.mark.seed("004 §2.5")
def test_memory_history_shows_confidence_and_metadata_of_each_version(engine: Engine) -> None:
    memory = remember(engine, "tea is hot")
    engine.memories.update(memory.id, {"confidence": 0.4, "metadata": {"cup": "blue"}})
    engine.memories.update(memory.id, {"content": "tea is cold"})
    first, second = call(engine, "memory_history", memory_id=memory.id)["versions"]
    assert (first["confidence"], first["metadata"]) == (1.0, {})
    assert (second["confidence"], second["metadata"]) == (0.4, {"cup": "blue"})
