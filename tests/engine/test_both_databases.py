"""The same acts, chosen at random, leave the same memories on both databases."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from mcp_memory.engine import Context, Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.relating import Triple
from mcp_memory.errors import MemoryServerError
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import Caller, Filter
from mcp_memory.storage import Database, Store
from mcp_memory.storage.postgres.database import PostgresDatabase
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.fakes import Clock, HashEmbedder, ids
from tests.postgres_server import PostgresDatabases

NUMBERS = {"seq", "source_seq", "target_seq", "cursor", "last_seq", "duration_ms"}
"""Not compared: a database may leave out numbers, and takes its own time."""

NAMES = st.sampled_from(["Ana", "ana", "Ångström", "Project X", "100% sure", "O'Neil", "東京"])
ENDS = st.tuples(NAMES, NAMES)
TYPES = st.sampled_from(["person", "project", "unknown"])
TEXTS = st.sampled_from(
    [
        "likes tea in the morning",
        "likes coffee in the morning",
        "likes  tea in the morning",
        "works on port 8080",
        "works on port 8081",
        "naïve café, 100 % :sure 'quoted' \\ _ here",
        "東京 is large",
        "tea",
    ]
)
TAGS = st.lists(st.sampled_from(["tea", "work", "über"]), max_size=2, unique=True).map(tuple)
METADATA = st.dictionaries(
    st.sampled_from(["a", "zz", "é"]),
    st.one_of(
        st.none(),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text("aé'\\%", max_size=3),
    ),
    max_size=2,
)
Act = Callable[[Engine], Any]


class BothDatabases(RuleBasedStateMachine):
    """Whatever is done to one engine is done to the other, and both must answer alike."""

    postgres: PostgresDatabases
    memories = Bundle("memories")
    changes = Bundle("changes")

    def __init__(self) -> None:
        super().__init__()
        self.cleaning = ExitStack()
        self.clock = Clock()
        folder = Path(self.cleaning.enter_context(tempfile.TemporaryDirectory()))
        url = self.cleaning.enter_context(self.postgres.emptied())
        self.engines = [
            self.engine(SqliteDatabase(folder / "memory.db", "NORMAL")),
            self.engine(PostgresDatabase(url)),
        ]

    def engine(self, database: Database) -> Engine:
        made = Engine(
            Context(
                store=Store(database).open(), embedder=HashEmbedder(), clock=self.clock, new_id=ids(),
                caller=Caller(client="test"),
            )
        )  # fmt: skip
        self.cleaning.callback(made.close)
        return made

    def teardown(self) -> None:
        self.cleaning.close()

    def both(self, act: Act) -> Any:
        """Act on both; what the first answers, or None where both refuse for the same reason."""
        self.clock.advance(seconds=1)
        answers = [answer(act, engine) for engine in self.engines]
        assert plain(answers[0]) == plain(answers[1])
        return None if isinstance(answers[0], MemoryServerError) else answers[0]

    @rule(name=NAMES, type=TYPES, texts=st.lists(TEXTS, max_size=3), same=st.booleans(), metadata=METADATA)
    def create_entity(
        self, name: str, type: str, texts: list[str], same: bool, metadata: dict[str, Any]
    ) -> None:
        wanted = NewEntity(name=name, type=type, observations=tuple(texts), same_type=same, metadata=metadata)
        self.both(lambda engine: engine.graph.create_entities([wanted]))

    @rule(name=NAMES, texts=st.lists(TEXTS, min_size=1, max_size=2))
    def add_observations(self, name: str, texts: list[str]) -> None:
        self.both(lambda engine: engine.graph.add_observations(name, texts))

    @rule(name=NAMES, text=TEXTS)
    def delete_observation(self, name: str, text: str) -> None:
        self.both(lambda engine: engine.graph.delete_observations(name, [text]))

    @rule(names=st.lists(NAMES, min_size=1, max_size=2), cascade=st.booleans())
    def delete_entities(self, names: list[str], cascade: bool) -> None:
        self.both(lambda engine: engine.graph.delete_entities(names, cascade_memories=cascade))

    @rule(ends=ENDS, type=st.sampled_from(["knows", "contiene"]), make=st.booleans())
    def create_relation(self, ends: tuple[str, str], type: str, make: bool) -> None:
        wanted = NewRelation(source=ends[0], target=ends[1], type=type, make_ends=make, with_inverse=make)
        self.both(lambda engine: engine.graph.create_relations([wanted]))

    @rule(ends=ENDS, type=st.sampled_from(["knows", "contiene"]))
    def end_relation(self, ends: tuple[str, str], type: str) -> None:
        self.both(lambda engine: engine.graph.end_relation(Triple(*ends, type)))

    @rule(target=memories, content=TEXTS, tags=TAGS, metadata=METADATA, names=st.lists(NAMES, max_size=2))
    def remember(
        self, content: str, tags: tuple[str, ...], metadata: dict[str, Any], names: list[str]
    ) -> Any:
        new = NewMemory(content=content, tags=tags, metadata=metadata, entity_names=tuple(names))
        stored = self.both(lambda engine: engine.memories.remember(new))
        return multiple(stored.memory.id) if stored else multiple()

    @rule(id=memories, content=TEXTS, tags=TAGS)
    def update(self, id: str, content: str, tags: tuple[str, ...]) -> None:
        self.both(lambda engine: engine.memories.update(id, {"content": content, "tags": tags}))

    @rule(id=memories)
    def forget(self, id: str) -> None:
        self.both(lambda engine: engine.memories.forget(id, "over"))

    @rule(id=memories)
    def restore(self, id: str) -> None:
        self.both(lambda engine: engine.history.restore(id))

    @rule(target=changes, id=memories)
    def delete(self, id: str) -> Any:
        deleted = self.both(lambda engine: engine.memories.delete([id]))
        return multiple(deleted.act) if deleted and deleted.act else multiple()

    @rule(act=consumes(changes))
    def undo(self, act: str) -> None:
        self.both(lambda engine: engine.history.undo(act))

    @rule()
    def undo_last(self) -> None:
        self.both(lambda engine: engine.history.undo_last())

    @rule(id=memories)
    def purge(self, id: str) -> None:
        self.both(lambda engine: engine.history.purge(id))

    @rule(name=NAMES, text=TEXTS)
    def reflect(self, name: str, text: str) -> None:
        self.both(lambda engine: engine.reflections.add("entity", text, target=name))

    @rule(days=st.integers(1, 90))
    def wait(self, days: int) -> None:
        self.clock.advance(days=days)

    @rule()
    def prune(self) -> None:
        self.both(lambda engine: engine.maintenance.prune())

    @rule()
    def consolidate(self) -> None:
        self.both(lambda engine: engine.maintenance.consolidate())

    @rule(query=TEXTS, mode=st.sampled_from(["keyword", "semantic", "hybrid", "graph"]), tags=TAGS)
    def recall(self, query: str, mode: Any, tags: tuple[str, ...]) -> None:
        filter = Filter(tags=tags, min_confidence=0.3)
        self.both(lambda engine: engine.recall.recall(query, mode=mode, filter=filter))

    @rule(query=TEXTS)
    def search(self, query: str) -> None:
        self.both(lambda engine: engine.entities.search(query, 5))
        self.both(lambda engine: engine.graph.search_nodes(query, limit=10))

    @invariant()
    def read_alike(self) -> None:
        self.both(lambda engine: engine.graph.read(limit=50))
        self.both(lambda engine: engine.memories.find(Filter(), order="oldest", limit=100))
        self.both(lambda engine: engine.memories.find(Filter(forgotten=True), order="importance", limit=100))
        self.both(lambda engine: engine.history.recent(5))
        self.both(lambda engine: engine.history.events_after(0, 1000)[-20:])


def answer(act: Act, engine: Engine) -> Any:
    try:
        return act(engine)
    except MemoryServerError as error:
        return error


def plain(value: Any) -> Any:
    """As it can be compared: without numbers of rows, and with floats to the precision of a vector."""
    if isinstance(value, MemoryServerError):
        return (type(value).__name__, str(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name not in NUMBERS
        }
    if isinstance(value, dict):
        return {key: plain(held) for key, held in value.items() if key not in NUMBERS}
    if isinstance(value, list | tuple):
        return [plain(held) for held in value]
    return Near(value) if isinstance(value, float) else value


class Near(float):
    """SQLite stores vectors as bytes, PostgreSQL as floats: their cosines agree to the third decimal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and abs(float(self) - float(other)) <= 0.01

    __hash__ = float.__hash__


def test_both_databases_answer_alike_whatever_is_done(postgres: PostgresDatabases) -> None:
    BothDatabases.postgres = postgres
    run_state_machine_as_test(
        BothDatabases,
        settings=settings(
            max_examples=20,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.shrink],
            database=None,
        ),
    )
