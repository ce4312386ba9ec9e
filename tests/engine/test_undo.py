"""What happened can be read, and taken back as if it had not."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewAssociation, NewMemory
from mcp_memory.engine.relating import Triple
from mcp_memory.errors import Conflict, MemoryServerError, NotFound
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Caller, Filter, Memory, Owner
from mcp_memory.storage import Store
from mcp_memory.storage.database import Allowed
from mcp_memory.storage.schema import COLUMNS, TABLE
from mcp_memory.text.words import query_terms
from tests.conftest import EngineMaker
from tests.fakes import Clock


def remember(engine: Engine, content: str, **given: Any) -> Memory:
    return engine.memories.remember(NewMemory(content=content, **given)).memory


def known(store: Store, clock: Clock) -> dict[str, Any]:
    """Everything that is stored, with what is found by words, apart from what mere use changes."""
    with store.read("default", clock()) as tx:
        run = tx.scope.connection.run
        tables: dict[str, Any] = {
            table: [
                {key: value for key, value in row.items() if key not in TABLE[table].volatile}
                for row in run(f"SELECT {', '.join(columns)} FROM {table} ORDER BY seq")
            ]
            for table, columns in COLUMNS.items()
        }
        tables["tags"] = run("SELECT tag, memory_seq FROM memory_tag ORDER BY tag, memory_seq")
        owners: tuple[Owner, ...] = ("memory", "entity")
        everything = Allowed("o.space_id = :space_id", {"space_id": tx.scope.space_id})
        for owner in owners:
            found = tx.indexes.matching(owner, query_terms("tea coffee Alice Acme works"), everything, 100)
            tables[f"words of {owner}"] = sorted(seq for seq, _ in found)
    return tables


def setting(engine: Engine) -> None:
    """Two people, how they relate, what is known of them, and memories of their own."""
    engine.graph.create_entities(
        [
            NewEntity(name="Alice", type="person", observations=("likes tea", "works at Acme")),
            NewEntity(name="Bob", type="person", observations=("likes coffee",)),
        ]
    )
    engine.graph.create_relations(
        [
            NewRelation(source="Alice", target="Bob", type="knows", strength=0.7),
            NewRelation(source="Alice", target="Bob", type="contiene", with_inverse=True),
        ]
    )
    first = remember(engine, "Alice drinks green tea at noon", tags=("drink",), entity_names=("Alice",))
    engine.memories.save(
        NewMemory(content="Bob met Alice at Acme", type="event"), [NewAssociation(target_id=first.id)]
    )
    engine.memories.update(first.id, {"content": "Alice drinks green tea at one"})


def an_id(engine: Engine, content: str) -> str:
    with engine._context.reading() as tx:
        return next(iter(tx.memories.exactly([content]).values())).id


def a_tea_memory(engine: Engine) -> str:
    return an_id(engine, "Alice drinks green tea at one")


ACTS: dict[str, Callable[[Engine], object]] = {
    "create an entity": lambda engine: engine.graph.create_entities(
        [NewEntity(name="Carol", type="person", observations=("likes tea", "likes cake"))]
    ),
    "fill in an entity": lambda engine: engine.graph.create_entities(
        [NewEntity(name="Alice", type="engineer", description="writes", metadata={"age": 1e16})]
    ),
    "delete entities": lambda engine: engine.graph.delete_entities(["Alice", "Bob"]),
    "delete an entity with its memories": lambda engine: engine.graph.delete_entities(
        ["Alice"], cascade_memories=True
    ),
    "add observations": lambda engine: engine.graph.add_observations("Bob", ["likes tea", "is tall"]),
    "supersede an observation": lambda engine: engine.graph.add_observations(
        "Bob", ["prefers tea"], supersedes="likes coffee"
    ),
    "delete observations": lambda engine: engine.graph.delete_observations("Alice", ["likes tea"]),
    "create relations": lambda engine: engine.graph.create_relations(
        [NewRelation(source="Bob", target="Dave", type="contiene", make_ends=True, with_inverse=True)]
    ),
    "strengthen a relation": lambda engine: engine.graph.create_relations(
        [NewRelation(source="Alice", target="Bob", type="knows", strength=0.9, confidence=0.4)]
    ),
    "delete relations": lambda engine: engine.graph.delete_relations([Triple("Alice", "Bob", "contiene")]),
    "end a relation": lambda engine: engine.graph.end_relation(Triple("Alice", "Bob", "contiene")),
    "remember": lambda engine: remember(
        engine, "Alice bought coffee", tags=("drink", "shop"), entity_names=("Alice", "Shop")
    ),
    "remember the same again": lambda engine: remember(
        engine, "Alice drinks green tea at one", tags=("again",), entity_names=("Bob",), confidence=1.0
    ),
    "save as an update": lambda engine: engine.memories.save(
        NewMemory(content="Alice drinks black tea at one"),
        [NewAssociation(target_id=a_tea_memory(engine), type="updates")],
    ),
    "edit": lambda engine: engine.memories.update(
        a_tea_memory(engine), {"content": "Alice drinks coffee", "confidence": 0.3, "tags": ["x"]}
    ),
    "pin": lambda engine: engine.memories.pin(a_tea_memory(engine)),
    "forget": lambda engine: engine.memories.forget(a_tea_memory(engine), "wrong"),
    "delete by id": lambda engine: engine.memories.delete([a_tea_memory(engine)]),
    "delete by type": lambda engine: engine.memories.delete(types=["observation", "event"]),
    "restore a version": lambda engine: engine.history.restore_version(a_tea_memory(engine), 1),
    "reflect": lambda engine: engine.reflections.add("entity", "a thought", target="Alice"),
}


@pytest.mark.parametrize("act", ACTS)
def test_an_undo_leaves_everything_as_it_was(act: str, engine: Engine, store: Store, clock: Clock) -> None:
    setting(engine)
    before = known(store, clock)
    clock.advance(hours=1)
    ACTS[act](engine)
    after = known(store, clock)
    assert after != before
    clock.advance(hours=1)
    undone = engine.history.undo_last()
    assert known(store, clock) == before
    engine.history.undo(undone.by_act)
    assert known(store, clock) == after


def test_an_undone_change_says_so_and_cannot_be_undone_twice(engine: Engine) -> None:
    remember(engine, "the sky is blue")
    [change] = engine.history.recent()
    assert change.undoable
    undone = engine.history.undo(change.act)
    assert undone.summary == "remembered the memory “the sky is blue”"
    with pytest.raises(Conflict, match="undone already"):
        engine.history.undo(change.act)
    newest, first = engine.history.recent()
    assert newest.summary == "undid a change"
    assert (first.undone, first.undoable) == (True, False)
    engine.history.undo(newest.act)
    assert [change.undone for change in engine.history.recent() if change.act == first.act] == [False]


def test_repeated_undo_walks_back_and_leaves_other_clients_alone(
    make_engine: EngineMaker, clock: Clock
) -> None:
    mine, theirs = make_engine(caller=Caller(client="mine")), make_engine(caller=Caller(client="theirs"))
    one = remember(mine, "one thing")
    other = remember(theirs, "another matter")
    two = remember(mine, "second note")
    mine.history.undo_last(by="mine")
    mine.history.undo_last(by="mine")
    assert [memory.id for memory in mine.memories.fetch([one.id, two.id, other.id])] == [other.id]
    with pytest.raises(NotFound, match="no change left"):
        mine.history.undo_last(by="mine")


def test_an_edit_since_stands_in_the_way_and_nothing_is_undone(
    engine: Engine, store: Store, clock: Clock
) -> None:
    first = remember(engine, "the door is green", entity_names=("House",))
    created = engine.history.recent()[0].act
    engine.memories.update(first.id, {"content": "the door is red"})
    before = known(store, clock)
    with pytest.raises(Conflict, match=r"'the door is red' has changed since.*Undo the later change first"):
        engine.history.undo(created)
    assert known(store, clock) == before


def test_reading_does_not_stand_in_the_way(engine: Engine) -> None:
    memory = remember(engine, "the door is green")
    engine.memories.update(memory.id, {"content": "the door is red", "confidence": 0.4})
    engine.memories.get(memory.id)
    engine.history.undo_last()
    assert engine.memories.get(memory.id).content == "the door is green"
    assert engine.memories.get(memory.id).confidence == 1.0


def test_what_was_stored_again_stands_in_the_way(engine: Engine) -> None:
    memory = remember(engine, "the door is green")
    engine.memories.delete([memory.id])
    deletion = engine.history.recent()[0].act
    remember(engine, "the door is green")
    with pytest.raises(Conflict, match="exists again since"):
        engine.history.undo(deletion)
    with pytest.raises(Conflict, match="exists again since"):
        engine.history.restore(memory.id)


def test_what_hangs_on_it_since_does_not_go_silently(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Alice"), NewEntity(name="Bob")])
    created = engine.history.recent()[0].act
    engine.graph.create_relations([NewRelation(source="Alice", target="Bob", type="knows")])
    with pytest.raises(Conflict, match="'Bob' has relations since"):
        engine.history.undo(created)
    assert len(engine.graph.open_nodes(["Alice"]).relations) == 1
    memory = remember(engine, "tea is hot")
    stored = engine.history.recent()[0].act
    engine.graph.add_observations("Alice", ["tea is hot"])
    with pytest.raises(Conflict, match="has"):
        engine.history.undo(stored)
    assert engine.memories.get(memory.id)


def test_what_it_belonged_to_must_still_be_there(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Alice"), NewEntity(name="Bob")])
    engine.graph.create_relations([NewRelation(source="Alice", target="Bob", type="knows")])
    engine.graph.delete_relations([Triple("Alice", "Bob", "knows")])
    deletion = engine.history.recent()[0].act
    engine.graph.delete_entities(["Bob"])
    with pytest.raises(Conflict, match="which was deleted since"):
        engine.history.undo(deletion)


def test_how_often_an_entity_was_used_comes_back_with_it(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Alice"), NewEntity(name="Bob")])
    engine.graph.open_nodes(["Alice", "Bob"])
    engine.graph.delete_entities(["Alice"])
    engine.history.undo_last()
    with engine._context.reading() as tx:
        alice, bob = tx.entities.get("Alice"), tx.entities.get("Bob")
        assert tx.usage.standings([alice.seq])[alice.seq].access_count == 1
        assert len(tx.usage.co_occurrences([alice.seq, bob.seq])) == 1


def test_followers_of_the_journal_learn_what_an_undo_did(engine: Engine) -> None:
    memory = remember(engine, "the door is green")
    engine.memories.delete([memory.id])
    seen = engine.history.last_seq()
    engine.history.undo_last()
    events = engine.history.events_after(seen)
    assert [event.name for event in events] == ["change_undone", "memory_created"]
    assert events[1].payload == {"id": memory.id, "content": "the door is green", "type": "observation"}


def test_the_journal_writes_an_id_once_and_tells_it_as_before(engine: Engine) -> None:
    memory = remember(engine, "the door is green")
    [event] = engine.history.of(memory.id).events
    assert event.payload == {"id": memory.id, "content": "the door is green", "type": "observation"}
    with engine._context.reading() as tx:
        [row] = tx.scope.connection.run("SELECT subject, payload FROM event")
    assert (row["subject"], "id" in row["payload"]) == (memory.id, False)


def test_an_event_that_repeats_its_id_is_told_alike(engine: Engine) -> None:
    # As schemas up to 12 wrote them.
    memory = remember(engine, "the door is green")
    told = engine.history.of(memory.id).events
    with engine._context.writing() as tx:
        rewritten = {"seq": told[0].seq, "payload": dict(told[0].payload), "before": []}
        tx.scope.change("rewrite_event", **rewritten)
    assert engine.history.of(memory.id).events == told


def test_a_restored_vector_is_made_again(engine: Engine) -> None:
    memory = remember(engine, "the door is green")
    engine.memories.delete([memory.id])
    engine.history.undo_last()
    engine.indexing.catch_up("memory")
    model = engine.indexing.model()
    assert model is not None
    with engine._context.reading() as tx:
        assert list(tx.indexes.vectors("memory", model, [memory.seq])) == [memory.seq]


def test_what_is_too_old_cannot_be_undone_and_its_words_are_gone(engine: Engine, clock: Clock) -> None:
    memory = remember(engine, "the door is green")
    engine.memories.delete([memory.id])
    clock.advance(days=31)
    remember(engine, "a new thing")
    assert engine.history.age_journal() == 2
    with pytest.raises(Conflict, match="the time to undo it is over"):
        engine.history.undo(engine.history.recent()[1].act)
    with pytest.raises(NotFound, match="none with it was deleted in the last 30 days"):
        engine.history.restore(memory.id)
    with engine._context.reading() as tx:
        assert "green" not in str(tx.scope.connection.run("SELECT payload, before FROM event"))
    engine.history.undo_last()
    clock.advance(days=366)
    engine.history.age_journal()
    assert engine.history.recent() == []


def test_changes_are_listed_in_pages_newest_first(engine: Engine) -> None:
    for number in range(7):
        remember(engine, f"note number {number} about subject {number * 17}")
    first = engine.history.recent(limit=3)
    second = engine.history.recent(limit=3, before=first[-1].cursor)
    third = engine.history.recent(limit=3, before=second[-1].cursor)
    numbers = [change.summary.split()[5] for change in (*first, *second, *third)]
    assert numbers == ["6", "5", "4", "3", "2", "1", "0"]
    assert {change.client for change in first} == {"test"}


def test_an_unknown_change_is_not_found_nor_one_of_another_space(
    make_engine: EngineMaker, engine: Engine
) -> None:
    with pytest.raises(NotFound, match="list the changes"):
        engine.history.undo("nothing")
    remember(engine, "the door is green")
    [change] = engine.history.recent()
    elsewhere = make_engine(caller=Caller(space="elsewhere"))
    assert elsewhere.history.recent() == []
    with pytest.raises(NotFound):
        elsewhere.history.undo(change.act)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happened_can_be_walked_back_step_by_step(
    seed: int, engine: Engine, store: Store, clock: Clock
) -> None:
    dice = random.Random(seed)
    setting(engine)
    states = [known(store, clock)]
    for act in dice.choices([*RANDOM_ACTS.values()], k=25):
        clock.advance(hours=dice.randrange(100))
        with suppress(MemoryServerError):
            act(engine, dice)
        state = known(store, clock)
        if state != states[-1]:
            states.append(state)
    assert len(states) > 8
    # It ends: when no change is left to be undone, undoing raises.
    for state in reversed(states[:-1]):
        while known(store, clock) != state:
            engine.history.undo_last()


def any_memory(engine: Engine, dice: random.Random) -> str:
    found = engine.memories.find(Filter(), limit=200).memories
    return dice.choice(found).id if found else "none"


def any_name(dice: random.Random) -> str:
    return dice.choice(["Alice", "Bob", "Carol", "Dave", "Acme"])


def any_text(dice: random.Random) -> str:
    words = ["tea", "coffee", "works", "likes", "the", "a", "not", "three"]
    return " ".join(dice.choices(words, k=3))


RANDOM_ACTS: dict[str, Callable[[Engine, random.Random], object]] = {
    "create": lambda engine, dice: engine.graph.create_entities(
        [NewEntity(name=any_name(dice), observations=(any_text(dice), any_text(dice)))]
    ),
    "observe": lambda engine, dice: engine.graph.add_observations(any_name(dice), [any_text(dice)]),
    "relate": lambda engine, dice: engine.graph.create_relations(
        [NewRelation(source=any_name(dice), target=any_name(dice), type="contiene", with_inverse=True)]
    ),
    "end": lambda engine, dice: engine.graph.end_relation(Triple(any_name(dice), any_name(dice), "contiene")),
    "delete entity": lambda engine, dice: engine.graph.delete_entities(
        [any_name(dice)], cascade_memories=dice.random() < 0.5
    ),
    "remember": lambda engine, dice: remember(
        engine, any_text(dice), tags=(any_name(dice),), entity_names=(any_name(dice),), confidence=0.2
    ),
    "save": lambda engine, dice: engine.memories.save(
        NewMemory(content=any_text(dice)),
        [NewAssociation(target_id=any_memory(engine, dice), type="updates")],
    ),
    "edit": lambda engine, dice: engine.memories.update(
        any_memory(engine, dice), {"content": any_text(dice)}
    ),
    "read": lambda engine, dice: engine.memories.get(any_memory(engine, dice)),
    "forget": lambda engine, dice: engine.memories.forget(any_memory(engine, dice)),
    "delete": lambda engine, dice: engine.memories.delete([any_memory(engine, dice)]),
    "reflect": lambda engine, dice: engine.reflections.add("entity", "a thought", target=any_name(dice)),
    "prune": lambda engine, dice: engine.maintenance.prune(),
    "consolidate": lambda engine, dice: engine.maintenance.consolidate(0.5),
}
