"""Every kind of write, as acts that any number of runs repeat exactly: given ids, given clock, no model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from mcp_memory.capture import Candidate
from mcp_memory.engine import Context, Engine
from mcp_memory.engine.captures import Heard
from mcp_memory.engine.drafts import NewAssociation, NewMemory
from mcp_memory.engine.relating import Triple
from mcp_memory.engine.splitting import Split
from mcp_memory.errors import MemoryServerError
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Caller
from mcp_memory.storage import Database, Store
from tests.fakes import Clock, HashEmbedder

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
IMPORTED = 40
ELSEWHERE = "elsewhere"
"""The space whose export is imported."""


def engine_on(database: Database, number: int = 0) -> Engine:
    """An engine whose ids and time depend on the act's number alone, started as every engine is."""
    clock = Clock(NOON + timedelta(minutes=number))
    ids = (f"{number:08x}-0000-7000-8000-{id:012x}" for id in count(1))
    engine = Engine(
        Context(
            store=Store(database).open(),
            embedder=HashEmbedder(32),
            clock=clock,
            new_id=lambda: next(ids),
            caller=Caller(client="acts"),
        )
    )
    engine.transfer.take_back_unfinished()
    return engine


def for_act(engine: Engine, number: int) -> Engine:
    """The same store, with the ids and the time of that act."""
    fresh = (f"{number:08x}-0000-7000-8000-{id:012x}" for id in count(1))
    clock = Clock(NOON + timedelta(minutes=number))
    return Engine(replace(engine._context, clock=clock, new_id=lambda: next(fresh)))


def prepare(engine: Engine) -> None:
    """What the acts need to be there."""
    for number in range(12):
        remember(engine, f"base fact number {number} about topic{number}")
    for old in ("first", "second"):
        remember(engine, f"the very same sentence for consolidation, {old} wording")
    observations = tuple(f"observation {number} of the hub" for number in range(6))
    engine.graph.create_entities(
        [
            NewEntity(
                name=name, type="thing", observations=observations if name == "hub" else (f"{name} is",)
            )
            for name in ("hub", "left", "right", "doomed", "purged", "renamed")
        ]
    )
    engine.graph.create_relations(
        [NewRelation(source="hub", target=name, type="has") for name in ("left", "right", "doomed")]
    )
    versioned = remember(engine, "a memory with a past, as it was at first")
    engine.memories.update(versioned, {"content": "a memory with a past, as it became"})
    gone = remember(engine, "a memory that was deleted")
    engine.memories.delete([gone])
    engine.reflections.add("global", "a reflection to delete")
    engine.captures.take_in(heard("We never deploy on Fridays.", session="before"))
    engine.access.create_token("old-token")
    elsewhere = engine.acting_for(Caller(ELSEWHERE, "acts"))
    # So many that importing them takes several transactions.
    for number in range(IMPORTED):
        elsewhere.memories.remember(NewMemory(content=f"imported fact number {number} on subject{number}"))
    elsewhere.graph.create_entities(
        [NewEntity(name="imported", type="thing", observations=("it came along",))]
    )


def remember(engine: Engine, content: str) -> str:
    return engine.memories.remember(NewMemory(content=content, tags=("kept",))).memory.id


def heard(text: str, session: str) -> Heard:
    one = Candidate(text=text, type="preference", rule="preference", turn="t1", corrects=False)
    return Heard(session=session, client="acts", project="github.com/acme/shop", candidates=(one,), cursor=1)


def id_of(engine: Engine, beginning: str) -> str:
    """Of the memory that begins so, whatever became of it."""
    for line in engine.transfer.export_full():
        record = json.loads(line)
        if record["record"] == "memory" and record["content"].startswith(beginning):
            return str(record["id"])
    raise LookupError(beginning)


def fact(engine: Engine, number: int) -> str:
    return id_of(engine, f"base fact number {number} ")


def _import_full(engine: Engine) -> None:
    lines = [line.encode() for line in engine.acting_for(Caller(ELSEWHERE)).transfer.export_full()]
    engine.transfer.import_full(lines)


def _import_anthropic(engine: Engine) -> None:
    records = [
        {
            "type": "entity",
            "name": "Ana",
            "entityType": "person",
            "observations": ["likes tea", "lives here"],
        },
        {"type": "entity", "name": "Borg", "entityType": "firm", "observations": []},
        *(
            {"type": "entity", "name": f"place {number}", "entityType": "place", "observations": ["is far"]}
            for number in range(IMPORTED)
        ),
        {"type": "relation", "from": "Ana", "to": "Borg", "relationType": "works at"},
    ]
    engine.transfer.import_anthropic([json.dumps(record).encode() for record in records])


def _exactly_once(engine: Engine) -> None:
    engine.exactly_once("key 1", lambda once: remember(once, "written under a key"), again=False)


def _associate(engine: Engine) -> None:
    engine.memories.associate(fact(engine, 2), fact(engine, 3), "caused_by")


def _save(engine: Engine) -> None:
    wanted = NewAssociation(target_id=fact(engine, 5), type="updates")
    engine.memories.save(NewMemory(content="a newer word on topic5 altogether"), [wanted])


def _split(engine: Engine) -> None:
    halves = [Split(f"hub - {part}", "thing", tuple(f"observation {number} of the hub" for number in numbers))
              for part, numbers in (("low", range(2)), ("high", range(2, 4)))]  # fmt: skip
    engine.splitting.execute("hub", halves)


def _later(engine: Engine) -> Engine:
    moment = engine._context.clock() + timedelta(days=400)
    return Engine(replace(engine._context, clock=lambda: moment))


def _restore(engine: Engine) -> None:
    deleted = [event for event in engine.history.events_after(0, 200) if event.name == "memory_deleted"]
    engine.history.restore(deleted[0].subject)


def _restore_version(engine: Engine) -> None:
    engine.history.restore_version(id_of(engine, "a memory with a past"), 1)


def _accept(engine: Engine) -> None:
    engine.captures.accept(session="before", every=True)


def _delete_reflection(engine: Engine) -> None:
    engine.reflections.delete(engine.reflections.find(limit=50).reflections[0].reflection.id)


ACTS: Mapping[str, Callable[[Engine], Any]] = {
    "create entities": lambda engine: engine.graph.create_entities(
        [
            NewEntity(name=f"new {n}", type="thing", observations=(f"new {n} is new", "shared"))
            for n in range(3)
        ]
    ),
    "add observations": lambda engine: engine.graph.add_observations("left", ["one more", "and another"]),
    "delete observations": lambda engine: engine.graph.delete_observations("right", ["right is"]),
    "update entity": lambda engine: engine.graph.update("renamed", {"description": "described now"}),
    "delete entities": lambda engine: engine.graph.delete_entities(["doomed"], cascade_memories=True),
    "create relations": lambda engine: engine.graph.create_relations(
        [NewRelation(source="left", target="right", type=type) for type in ("knows", "follows")]
    ),
    "end relation": lambda engine: engine.graph.end_relation(Triple("hub", "left", "has")),
    "delete relations": lambda engine: engine.graph.delete_relations([Triple("hub", "right", "has")]),
    "split entity": _split,
    "store memory": lambda engine: remember(engine, "something entirely new about zebras"),
    "save memory": _save,
    "update memory": lambda engine: engine.memories.update(fact(engine, 1), {"content": "fact 1, revised"}),
    "associate memories": _associate,
    "pin memory": lambda engine: engine.memories.pin(fact(engine, 4)),
    "confirm memory": lambda engine: engine.memories.confirm(fact(engine, 6)),
    "forget memory": lambda engine: engine.memories.forget(fact(engine, 7), "no longer so"),
    "delete memories": lambda engine: engine.memories.delete([fact(engine, 8), fact(engine, 9)]),
    "restore memory": _restore,
    "restore version": _restore_version,
    "merge memories": lambda engine: engine.maintenance.merge(fact(engine, 10), fact(engine, 11)),
    "consolidate": lambda engine: engine.maintenance.consolidate(0.6),
    "archive": lambda engine: _later(engine).maintenance.prune(),
    "undo": lambda engine: engine.history.undo_last(),
    "purge memory": lambda engine: engine.history.purge(fact(engine, 0)),
    "purge entity": lambda engine: engine.history.purge("purged"),
    "add reflection": lambda engine: engine.reflections.add("global", "a new thought"),
    "delete reflection": _delete_reflection,
    "capture": lambda engine: engine.captures.take_in(heard("I always use tabs here.", session="now")),
    "accept captured": _accept,
    "import full": _import_full,
    "import anthropic": _import_anthropic,
    "exactly once": _exactly_once,
    "create token": lambda engine: engine.access.create_token("new-token"),
    "revoke token": lambda engine: engine.access.revoke_token("old-token"),
    "age journal": lambda engine: _later(engine).history.age_journal(),
    "tune weights": lambda engine: engine.learning.set_weights(gamma=0.3),
    "make vectors": lambda engine: engine.indexing.catch_up_anywhere(),
}
"""By name; each is one call of the engine, in any order after `prepare`."""

RESUMED = frozenset(
    {"consolidate", "capture", "make vectors", "exactly once", "purge memory", "purge entity", "age journal"}
)
"""Acts of several transactions, each whole: a kill between two leaves a state that repeating it completes."""

TAKEN_BACK = frozenset({"import full", "import anthropic"})
"""Acts of several transactions that the next start takes back, if they were interrupted."""


def carry_out(kind: str, engine: Engine) -> None:
    """An act that another one made impossible is refused, and changes nothing."""
    with suppress(MemoryServerError, LookupError):
        ACTS[kind](engine)


_VARYING = ('"record":"space"', '"name":"archive_imported"')
"""The head of an export, and one event for each transaction of an import: how many depends on its speed."""


def state(engine: Engine) -> str:
    """A digest of everything that is kept and not derived, in every space."""
    digest = hashlib.blake2b(digest_size=16)
    for space in sorted(engine._context.store.spaces()):
        here = engine.acting_for(Caller(space, "acts"))
        lines = [line for line in here.transfer.export_full() if not any(one in line for one in _VARYING)]
        digest.update("\n".join(sorted(lines)).encode())
    tokens = sorted(token.name for token in engine.access.tokens())
    digest.update(repr((tokens, engine.learning.weights())).encode())
    return digest.hexdigest()


def kept(engine: Engine) -> str:
    """A digest of everything that is kept, but not of its history: taking something back is noted there."""
    lines = []
    for space in sorted(engine._context.store.spaces()):
        here = engine.acting_for(Caller(space, "acts"))
        lines += [line for line in here.transfer.export_full() if '"record":"event"' not in line]
    records = sorted(line for line in lines if '"record":"space"' not in line)
    return hashlib.blake2b("\n".join(records).encode(), digest_size=16).hexdigest()


def contents(engine: Engine) -> str:
    """A digest of what is known, whichever acts made it: texts, names and relations."""
    known = []
    for space in sorted(engine._context.store.spaces()):
        here = engine.acting_for(Caller(space, "acts"))
        for line in here.transfer.export_full():
            record = json.loads(line)
            if record["record"] == "memory":
                known.append((space, record["content"], str(record["forgotten_at"] is None)))
            elif record["record"] == "entity":
                known.append((space, record["name"], record["type"]))
            elif record["record"] == "relation":
                known.append((space, record["type"], str(record["ended_at"])))
    return hashlib.blake2b(repr(sorted(known)).encode(), digest_size=16).hexdigest()
