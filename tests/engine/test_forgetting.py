"""Memories are forgotten, deleted, purged; and come back, as far as they may."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Conflict, Invalid, NotFound
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Filter, Memory
from tests.fakes import Clock


def remember(engine: Engine, content: str, **given: Any) -> Memory:
    return engine.memories.remember(NewMemory(content=content, **given)).memory


def contents(engine: Engine) -> list[str]:
    return [memory.content for memory in engine.memories.find(Filter(), order="oldest").memories]


def everything_stored(engine: Engine) -> str:
    """All rows of all tables that hold text, as one text."""
    tables = (
        "memory",
        "memory_version",
        "memory_tag",
        "entity",
        "relation",
        "reflection",
        "event",
        "search_event",
    )
    with engine._context.reading() as tx:
        return str([tx.scope.connection.run(f"SELECT * FROM {table}") for table in tables])


def test_a_forgotten_memory_is_kept_out_of_everything_and_can_be_restored(
    engine: Engine, clock: Clock
) -> None:
    memory = remember(engine, "User prefers dark mode", tags=("ui",), entity_names=("User",))
    forgotten = engine.memories.forget(memory.id, "outdated")
    assert forgotten.forgotten
    assert "User prefers dark mode" in forgotten.message
    assert contents(engine) == []
    assert engine.graph.open_nodes(["User"]).nodes[0].observations == ()
    with pytest.raises(NotFound):
        engine.memories.get(memory.id)
    clock.advance(days=90)
    assert engine.history.restore(memory.id).forgotten_at is None
    assert contents(engine) == ["User prefers dark mode"]
    assert engine.graph.open_nodes(["User"]).nodes[0].texts == ["User prefers dark mode"]


def test_forgetting_twice_is_harmless_and_an_unknown_id_changes_nothing(engine: Engine) -> None:
    memory = remember(engine, "User prefers dark mode")
    engine.memories.forget(memory.id)
    changes = len(engine.history.recent())
    again = engine.memories.forget(memory.id, "again")
    assert not again.forgotten
    assert "already" in again.message
    unknown = engine.memories.forget("00000000-0000-7000-8000-ffffffffffff")
    assert not unknown.forgotten
    assert len(engine.history.recent()) == changes


def test_what_was_stored_anew_keeps_a_forgotten_twin_from_returning(engine: Engine) -> None:
    memory = remember(engine, "User prefers dark mode")
    engine.memories.forget(memory.id)
    twin = remember(engine, "User  prefers dark mode")
    with pytest.raises(Conflict, match=twin.id):
        engine.history.restore(memory.id)


def test_a_deleted_memory_is_restored_alone_out_of_a_larger_deletion(engine: Engine) -> None:
    wanted = remember(
        engine, "tea is best at four", type="preference", tags=("drink",), entity_names=("Tea",)
    )
    remember(engine, "the train leaves at nine", type="preference")
    deleted = engine.memories.delete(types=["preference"])
    assert len(deleted.memories) == 2
    engine.history.restore(wanted.id)
    assert contents(engine) == ["tea is best at four"]
    assert engine.graph.open_nodes(["Tea"]).nodes[0].texts == ["tea is best at four"]
    assert deleted.act
    engine.history.undo(deleted.act)
    assert contents(engine) == ["tea is best at four", "the train leaves at nine"]


def test_delete_memory_cascades_to_its_links_and_preserves_entities(engine: Engine) -> None:
    memory = remember(engine, "Alice manages the frontend team", entity_names=("Alice", "Frontend Team"))
    engine.memories.delete([memory.id])
    with engine._context.reading() as tx:
        assert tx.scope.connection.run("SELECT seq FROM entity_memory") == []
    assert [node.entity.name for node in engine.graph.open_nodes(["Alice", "Frontend Team"]).nodes] == [
        "Alice",
        "Frontend Team",
    ]


@pytest.mark.seed("004 §7.2.5")
def test_delete_needs_a_condition(engine: Engine) -> None:
    remember(engine, "tea is hot")
    with pytest.raises(Invalid, match="nothing says which memories to delete"):
        engine.memories.delete()
    with pytest.raises(Invalid):
        engine.memories.delete([], types=[])
    with pytest.raises(Invalid, match="between 0 and 1"):
        engine.memories.delete(below_confidence=1.5)
    assert contents(engine) == ["tea is hot"]


def test_delete_takes_what_meets_every_condition_and_reports_the_rest(engine: Engine, clock: Clock) -> None:
    old = remember(engine, "tea is hot", type="fact")
    clock.advance(days=60)
    new = remember(engine, "the sky is blue", type="fact")
    other = remember(engine, "use tabs", type="decision")
    before = datetime(2026, 2, 1, tzinfo=UTC)
    preview = engine.memories.delete(types=["fact"], before=before, dry_run=True)
    assert [memory.id for memory in preview.memories] == [old.id]
    assert preview.act is None
    assert len(contents(engine)) == 3
    deleted = engine.memories.delete([old.id, new.id, "unknown"], below_confidence=0.5)
    assert [memory.id for memory in deleted.memories] == [old.id]
    assert (deleted.missing, deleted.kept) == (("unknown",), (new.id,))
    assert contents(engine) == [new.content, other.content]
    engine.history.undo_last()
    assert len(contents(engine)) == 3


def test_earlier_versions_are_read_and_restored(engine: Engine) -> None:
    memory = remember(engine, "the door is green", tags=("a",))
    engine.memories.update(memory.id, {"content": "the door is red", "tags": ["b"]})
    engine.memories.update(memory.id, {"content": "the door is blue"})
    versions = engine.history.versions(memory.id)
    assert [(version.number, version.content) for version in versions] == [
        (1, "the door is green"),
        (2, "the door is red"),
    ]
    restored = engine.history.restore_version(memory.id, 1)
    assert (restored.content, restored.tags, restored.version) == ("the door is green", ("a",), 4)
    assert [version.content for version in engine.history.versions(memory.id)][-1] == "the door is blue"
    with pytest.raises(NotFound, match="there are: 1, 2, 3"):
        engine.history.restore_version(memory.id, 9)
    engine.memories.update(memory.id, {"content": "the door is gone"})
    remember(engine, "the door is red")
    with pytest.raises(Conflict, match="says exactly that"):
        engine.history.restore_version(memory.id, 2)


def test_a_purged_memory_leaves_no_trace_and_no_way_back(engine: Engine) -> None:
    memory = remember(engine, "the secret code is swordfish", tags=("hidden",), entity_names=("Safe",))
    engine.memories.update(memory.id, {"content": "the secret code is marlin"})
    engine.memories.forget(memory.id, "marlin is wrong")
    engine.history.restore(memory.id)
    preview = engine.history.purge(memory.id, dry_run=True)
    assert preview.memory_ids == (memory.id,)
    assert "swordfish" in everything_stored(engine)
    purged = engine.history.purge(memory.id)
    assert purged.event_count > 0
    stored = everything_stored(engine)
    assert "swordfish" not in stored
    assert "marlin" not in stored
    assert "hidden" not in stored
    for change in engine.history.recent():
        if change.undoable:
            with pytest.raises(Conflict):
                engine.history.undo(change.act)
    with pytest.raises(NotFound):
        engine.history.restore(memory.id)


@pytest.mark.parametrize("which", ["entity", "memory"])
def test_a_purge_takes_the_searches_that_found_it_along(engine: Engine, which: str) -> None:
    engine.graph.create_entities([NewEntity(name="Box", observations=("it holds the quokka",))])
    engine.graph.create_entities([NewEntity(name="Lamp", observations=("it is green",))])
    assert engine.entities.search("where is my quokka", 1).hits
    assert engine.entities.search("what is green", 1).hits
    [memory] = [one for one in engine.memories.find(Filter()).memories if "quokka" in one.content]
    engine.history.purge("Box" if which == "entity" else memory.id)
    assert "quokka" not in everything_stored(engine)
    assert "what is green" in everything_stored(engine)


def test_what_is_written_while_a_purge_searches_the_journal_is_erased_too(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Box", type="Thing", observations=("holds xyloliths",))])
    [memory] = engine.memories.find(Filter()).memories
    with engine._context.reading() as tx:
        known = tx.purging.mentions(tx.purging.find("Box"))
    engine.memories.update(memory.id, {"content": "held many xyloliths"})
    engine.graph.add_observations("Box", ["lost a xylolith"])
    with engine._context.writing() as tx:
        tx.purging.erase(tx.purging.find("Box"), known)
    assert "xylolith" not in everything_stored(engine)


def test_a_deleted_memory_can_still_be_purged(engine: Engine) -> None:
    memory = remember(engine, "the secret code is swordfish")
    engine.memories.delete([memory.id])
    engine.history.purge(memory.id)
    assert "swordfish" not in everything_stored(engine)
    with pytest.raises(NotFound, match="nor an entity"):
        engine.history.purge("nobody")


@pytest.mark.parametrize("deleted_before", [False, True])
def test_who_asks_to_be_forgotten_is_forgotten(engine: Engine, deleted_before: bool) -> None:
    engine.graph.create_entities(
        [NewEntity(name="Zaphod", type="person", observations=("has two heads",)), NewEntity(name="Trillian")]
    )
    engine.graph.create_relations([NewRelation(source="Zaphod", target="Trillian", type="travels_with")])
    engine.reflections.add("entity", "a hoopy frood", target="Zaphod")
    if deleted_before:
        engine.graph.delete_entities(["Zaphod"], cascade_memories=True)
    else:
        remember(engine, "he stole the heart of gold", entity_names=("Zaphod", "Trillian"))
    engine.history.purge("Zaphod")
    stored = everything_stored(engine)
    for trace in ("Zaphod", "two heads", "heart of gold", "hoopy"):
        assert trace not in stored
    assert "Trillian" in stored
