"""Memories: stored once, merged only when they say the same, changed with their history."""

from __future__ import annotations

import math

import pytest

from mcp_memory.embedding import Embedder, NoModel
from mcp_memory.engine import Engine, Limits
from mcp_memory.engine.drafts import NewAssociation, NewMemory
from mcp_memory.engine.memories import Stored
from mcp_memory.errors import Conflict, Invalid, NotFound
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Filter, Memory
from tests.conftest import EngineMaker
from tests.fakes import Clock, HashEmbedder

NO_MODEL = NoModel("no model here")


def remember(engine: Engine, content: str, **more: object) -> Stored:
    return engine.memories.remember(NewMemory(content=content, **more))  # type: ignore[arg-type]


def everything(engine: Engine) -> list[Memory]:
    return list(engine.memories.find(Filter(), order="oldest", limit=200).memories)


def test_store_basic_memory(engine: Engine, embedder: HashEmbedder) -> None:
    stored = remember(engine, "User prefers TypeScript", type="preference")
    assert stored.outcome == "created"
    assert stored.memory.id
    assert (stored.memory.type, stored.memory.confidence, stored.memory.importance) == (
        "preference",
        1.0,
        0.5,
    )
    found = engine.recall.recall("User prefers TypeScript", mode="semantic")
    assert [hit.memory.id for hit in found.hits] == [stored.memory.id]
    assert embedder.seen.count("User prefers TypeScript") == 2  # for the memory and for the query


@pytest.mark.seed("004 §2.1")
def test_every_parameter_is_kept(engine: Engine) -> None:
    stored = remember(
        engine,
        "Deploys go out on Tuesdays",
        type="procedure",
        tags=("ops", "ops", " deploy "),
        confidence=0.8,
        source="chat",
        context="asked about releases",
        channel="team",
        metadata={"weight": 1.5, "deep": {"list": [1, None, "x"]}},
        entity_names=("Ops Team",),
    )
    [memory] = everything(engine)
    assert memory == stored.memory
    assert memory.tags == ("ops", "deploy")
    assert (memory.confidence, memory.source, memory.context, memory.channel) == (
        0.8, "chat", "asked about releases", "team",
    )  # fmt: skip
    assert memory.metadata == {"weight": 1.5, "deep": {"list": [1, None, "x"]}}


def test_store_memory_with_entity_association(engine: Engine) -> None:
    stored = remember(engine, "Alice manages the frontend team", entity_names=("Alice", "Frontend Team"))
    assert stored.entities == ("Alice", "Frontend Team")
    nodes = engine.graph.open_nodes(["Alice", "Frontend Team"]).nodes
    assert [(node.entity.type, node.texts) for node in nodes] == [
        ("unknown", ["Alice manages the frontend team"])
    ] * 2


def test_auto_create_entities_from_store_memory(engine: Engine) -> None:
    remember(engine, "NewPerson joined", entity_names=("NewPerson",))
    [node] = engine.graph.open_nodes(["NewPerson"]).nodes
    assert node.entity.type == "unknown"


def test_an_entity_that_exists_is_used_and_not_made_again(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Alice", type="person", observations=("likes tea",))])
    remember(engine, "Alice moved to Lyon", entity_names=("Alice",))
    [node] = engine.graph.open_nodes(["Alice"]).nodes
    assert (node.entity.type, node.texts) == ("person", ["likes tea", "Alice moved to Lyon"])


@pytest.mark.seed("004 §6.1")
def test_exact_duplicate_detection(engine: Engine) -> None:
    first = remember(engine, "User prefers dark mode", tags=("ui",))
    second = remember(engine, "  User prefers\n dark mode", tags=("editor",), entity_names=("User",))
    assert second.outcome == "equal"
    assert second.memory.id == first.memory.id
    assert second.memory.tags == ("ui", "editor")
    assert second.entities == ("User",)
    assert len(everything(engine)) == 1


def test_a_duplicate_that_adds_nothing_makes_no_version_but_counts_as_use(
    engine: Engine, clock: Clock
) -> None:
    first = remember(engine, "The sky is blue", confidence=0.5)
    clock.advance(days=10)
    again = remember(engine, "The sky is blue", confidence=0.5).memory
    assert (again.version, again.access_count, again.accessed_at) == (1, 1, clock.now)
    assert math.isclose(again.confidence, 0.6)
    assert again.id == first.memory.id


@pytest.mark.seed("004 §6.1")
def test_near_duplicate_detection(make_engine: EngineMaker, minilm: Embedder) -> None:
    engine = make_engine(model=minilm)
    first = remember(
        engine, "User prefers dark mode", tags=("ui",), confidence=0.6, metadata={"by": "a", "kept": 1}
    )
    second = remember(
        engine,
        "The user likes dark mode",
        tags=("editor",),
        confidence=0.7,
        metadata={"by": "b"},
        entity_names=("User",),
    )
    assert second.outcome == "merged"
    assert second.memory.id == first.memory.id
    assert second.memory.content == "User prefers dark mode\nThe user likes dark mode"
    assert second.memory.tags == ("ui", "editor")
    assert second.memory.metadata == {"by": "b", "kept": 1}
    assert math.isclose(second.memory.confidence, 0.8)  # the higher of the two, boosted
    assert second.memory.version > first.memory.version
    assert second.entities == ("User",)
    assert len(everything(engine)) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The server listens on port 8080", "The server listens on port 8081"),
        ("Anna is allergic to peanuts", "Anna is not allergic to peanuts"),
        ("The meeting is on March 14th", "The meeting is on March 15th"),
        ("Maria Lopez leads the budget review", "Maria Gomez leads the budget review"),
        ("The user likes spicy food", "The user dislikes spicy food"),
    ],
)
def test_facts_that_differ_in_one_point_are_linked_and_reported_but_never_merged(
    make_engine: EngineMaker, minilm: Embedder, first: str, second: str
) -> None:
    engine = make_engine(model=minilm)
    one, other = remember(engine, first), remember(engine, second)
    assert other.outcome == "created"
    assert [memory.content for memory in everything(engine)] == [first, second]
    [similar] = other.similar
    assert "differ" in similar.reason
    assert similar.memory.id == one.memory.id
    [link] = engine.memories.associations_of(other.memory.id)
    assert (link.type, link.target_id) == ("related_to", one.memory.id)
    assert math.isclose(link.weight, similar.cosine, abs_tol=1e-6)


def test_what_a_merge_absorbed_stays_readable_and_can_be_taken_back(
    make_engine: EngineMaker, minilm: Embedder
) -> None:
    engine = make_engine(model=minilm)
    first = remember(engine, "User prefers dark mode", tags=("ui",))
    remember(engine, "The user likes dark mode", tags=("editor",))
    versions = engine.history.versions(first.memory.id)
    assert {version.content for version in versions} == {
        "User prefers dark mode",
        "The user likes dark mode",
    }
    engine.history.undo_last()
    [memory] = everything(engine)
    assert (memory.content, memory.tags, memory.version) == ("User prefers dark mode", ("ui",), 1)


def test_memories_of_different_types_are_not_merged(make_engine: EngineMaker, minilm: Embedder) -> None:
    engine = make_engine(model=minilm)
    remember(engine, "User prefers dark mode", type="preference")
    other = remember(engine, "The user likes dark mode", type="decision")
    assert other.outcome == "created"
    assert "type" in other.similar[0].reason


def test_without_a_model_only_equal_content_is_one_and_the_reply_says_so(make_engine: EngineMaker) -> None:
    engine = make_engine(model=NO_MODEL)
    remember(engine, "User prefers dark mode")
    near = remember(engine, "The user likes dark mode")
    assert near.outcome == "created"
    assert near.compared == "by content only: no model here"
    assert remember(engine, "The user likes dark mode").outcome == "equal"


@pytest.mark.seed("004 §3.3")
def test_a_memory_is_embedded_once(engine: Engine, embedder: HashEmbedder) -> None:
    remember(engine, "Quokkas live on Rottnest Island")
    engine.recall.recall("where quokkas live")
    assert embedder.seen.count("Quokkas live on Rottnest Island") == 1


def test_an_observation_stored_as_a_memory_outlives_its_entity(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Site", type="project", observations=("Built with Astro",))])
    assert remember(engine, "Built with Astro").outcome == "equal"
    engine.graph.delete_entities(["Site"])
    assert [memory.content for memory in everything(engine)] == ["Built with Astro"]


def test_a_text_and_its_respaced_observation_are_both_kept_to_the_letter(engine: Engine) -> None:
    remember(engine, "one  fact\nin two lines")
    for _ in range(2):
        engine.graph.create_entities([NewEntity(name="X", observations=("one fact in two lines",))])
    [node] = engine.graph.open_nodes(["X"]).nodes
    assert node.texts == ["one fact in two lines"]
    assert [memory.content for memory in everything(engine)] == [
        "one  fact\nin two lines",
        "one fact in two lines",
    ]


def test_update_memory(engine: Engine) -> None:
    memory = remember(engine, "The capital of Australia is Sydney").memory
    updated = engine.memories.update(memory.id, {"content": "The capital of Australia is Canberra"})
    assert (updated.content, updated.version) == ("The capital of Australia is Canberra", 2)
    assert [version.content for version in engine.history.versions(memory.id)] == [memory.content]
    assert engine.recall.recall("Canberra", mode="keyword").total == 1
    assert engine.recall.recall("Sydney", mode="keyword").total == 0


@pytest.mark.seed("004 §2.6")
def test_update_embeds_the_new_content(engine: Engine, embedder: HashEmbedder) -> None:
    memory = remember(engine, "old words here").memory
    engine.memories.update(memory.id, {"content": "fresh sentence instead"})
    assert [h.memory.id for h in engine.recall.recall("fresh sentence instead", mode="semantic").hits] == [
        memory.id
    ]
    assert engine.recall.recall("old words here", mode="semantic").hits == ()
    assert embedder.seen.count("fresh sentence instead") == 2


def test_an_update_changes_only_what_is_given(engine: Engine) -> None:
    memory = remember(engine, "x is y", tags=("a",), source="chat", metadata={"k": 1}).memory
    updated = engine.memories.update(memory.id, {"tags": ("b",), "confidence": 0.4})
    assert (updated.tags, updated.confidence, updated.source, updated.metadata) == (
        ("b",),
        0.4,
        "chat",
        {"k": 1},
    )
    assert engine.memories.update(memory.id, {"source": None}).source is None


def test_an_update_that_changes_nothing_makes_no_version(engine: Engine) -> None:
    memory = remember(engine, "x is y").memory
    assert engine.memories.update(memory.id, {"content": "x is y"}).version == 1


def test_an_update_on_a_stale_version_is_refused(engine: Engine) -> None:
    memory = remember(engine, "x is y").memory
    engine.memories.update(memory.id, {"content": "x is z"}, expected_version=1)
    with pytest.raises(Conflict, match="version 2"):
        engine.memories.update(memory.id, {"content": "x is w"}, expected_version=1)
    assert everything(engine)[0].content == "x is z"


def test_an_update_to_what_another_memory_says_is_refused(engine: Engine) -> None:
    one, other = remember(engine, "x is y").memory, remember(engine, "completely different").memory
    with pytest.raises(Conflict, match=one.id):
        engine.memories.update(other.id, {"content": "x is y"})


def test_a_memory_that_becomes_an_identity_is_pinned(engine: Engine) -> None:
    memory = remember(engine, "My name is Ana").memory
    assert engine.memories.update(memory.id, {"type": "identity"}).pinned_at is not None


def test_delete_memory_cascades(engine: Engine) -> None:
    memory = remember(engine, "Alice knows Bob", entity_names=("Alice", "Bob")).memory
    engine.memories.delete([memory.id])
    with pytest.raises(NotFound):
        engine.memories.get(memory.id)
    assert [node.texts for node in engine.graph.open_nodes(["Alice", "Bob"]).nodes] == [[], []]


@pytest.mark.seed("004 §10.3")
def test_initial_confidence(engine: Engine) -> None:
    assert remember(engine, "a fact").memory.confidence == 1.0


@pytest.mark.seed("004 §4.4")
def test_reading_tells_the_truth_of_the_moment_before_it_reinforces(engine: Engine, clock: Clock) -> None:
    memory = remember(engine, "a fact", confidence=0.5).memory
    clock.advance(days=1)
    assert engine.memories.get(memory.id).access_count == 0
    again = engine.memories.get(memory.id, record=False)
    assert (again.access_count, again.accessed_at) == (1, clock.now)
    assert math.isclose(again.confidence, 0.6)
    assert engine.memories.get(memory.id, record=False).access_count == 1


def test_memories_are_fetched_in_the_order_asked_for_without_those_that_are_gone(engine: Engine) -> None:
    one, other, gone = (remember(engine, text).memory for text in ("first", "second thing", "third matter"))
    engine.memories.forget(gone.id)
    assert [m.id for m in engine.memories.fetch([other.id, gone.id, "nobody", one.id, other.id])] == [
        other.id,
        one.id,
    ]


def test_memories_are_listed_by_page_with_their_total(engine: Engine, clock: Clock) -> None:
    for number in range(7):
        remember(engine, f"note {number} word{number * 7}", type="note" if number % 2 else "fact")
        clock.advance(minutes=1)
    page = engine.memories.find(Filter(types=("fact",)), order="recent", limit=2, offset=1)
    assert [memory.content.split()[1] for memory in page.memories] == ["4", "2"]
    assert page.total == 4


def test_a_pinned_memory_does_not_fade(engine: Engine, clock: Clock) -> None:
    memory = remember(engine, "keep this").memory
    engine.memories.pin(memory.id)
    clock.advance(days=300)
    [hit] = engine.recall.recall("keep this", mode="keyword").hits
    assert hit.effective_confidence == 1.0
    assert engine.memories.unpin(memory.id).pinned_at is None


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="nothing"),
        pytest.param("   \n", id="white space"),
        pytest.param("a\0b", id="NUL"),
        pytest.param("half \ud800 pair", id="half a surrogate pair"),
        pytest.param("x" * 50_001, id="too long"),
        pytest.param("é" * 25_001, id="too many bytes"),
    ],
)
def test_content_that_cannot_be_kept_is_refused_and_changes_nothing(engine: Engine, content: str) -> None:
    for write in (engine.memories.remember, engine.memories.save):
        with pytest.raises(Invalid):
            write(NewMemory(content=content))
    assert everything(engine) == []


def test_content_may_have_as_many_bytes_as_the_limit_says(engine: Engine) -> None:
    content = "word " * 10_000
    assert len(content.encode()) == Limits().content_bytes
    assert engine.memories.save(NewMemory(content=content)).memory.content == content


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"confidence": 1.1}, id="confidence above 1"),
        pytest.param({"confidence": -0.1}, id="confidence below 0"),
        pytest.param({"confidence": math.nan}, id="confidence that is no number"),
        pytest.param({"importance": 2}, id="importance above 1"),
        pytest.param({"type": " "}, id="no type"),
        pytest.param({"tags": ("",)}, id="empty tag"),
        pytest.param({"tags": ("x" * 201,)}, id="long tag"),
        pytest.param({"tags": tuple(map(str, range(101)))}, id="many tags"),
        pytest.param({"metadata": {"x": math.inf}}, id="infinite metadata"),
        pytest.param({"metadata": {"x": "a\0b"}}, id="NUL in metadata"),
        pytest.param({"metadata": {"x": object()}}, id="metadata that is not JSON"),
        pytest.param({"source": "a\0b"}, id="NUL in source"),
        pytest.param({"entity_names": ("",)}, id="empty entity name"),
        pytest.param({"entity_names": tuple(map(str, range(1001)))}, id="many entities"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(engine: Engine, wrong: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        remember(engine, "a fact", **wrong)
    assert everything(engine) == []
    assert engine.graph.read(limit=10).graph.nodes == ()


def test_an_unknown_field_cannot_be_updated(engine: Engine) -> None:
    memory = remember(engine, "a fact").memory
    with pytest.raises(Invalid, match="what can"):
        engine.memories.update(memory.id, {"access_count": 7})
    with pytest.raises(NotFound):
        engine.memories.update("nobody", {"content": "x"})


@pytest.mark.parametrize(
    "text", ["'; DROP TABLE memory; --", 'NEAR("a" AND', "日本語のテキスト", "🦆 naïve ﬁ"]
)
def test_text_that_looks_like_syntax_or_is_any_unicode_is_kept_as_it_is(engine: Engine, text: str) -> None:
    stored = remember(engine, text, tags=(text,), entity_names=(text,))
    assert engine.memories.get(stored.memory.id).content == text
    assert engine.recall.recall(text, filter=Filter(tags=(text,))).total == 1


def test_saving_uses_the_importance_of_the_type_unless_told_otherwise(engine: Engine) -> None:
    expected = {
        "identity": 1.0, "decision": 0.8, "preference": 0.7, "goal": 0.7,
        "fact": 0.5, "event": 0.5, "observation": 0.4, "todo": 0.3, "procedure": 0.5, "own type": 0.5,
    }  # fmt: skip
    for type, importance in expected.items():
        stored = engine.memories.save(NewMemory(content=f"about {type} only", type=type))
        assert stored.memory.importance == importance
    assert engine.memories.save(NewMemory(content="asdf", importance=0.9)).memory.importance == 0.9


@pytest.mark.seed("003 identity")
def test_identity_memories_do_not_fade(engine: Engine, clock: Clock) -> None:
    engine.memories.save(NewMemory(content="The user is called Ana", type="identity"))
    clock.advance(days=400)
    [hit] = engine.recall.recall_for_agent("Ana").hits
    assert hit.effective_confidence == 1.0


def test_saving_links_to_the_given_memories(engine: Engine) -> None:
    cause = engine.memories.save(NewMemory(content="The disk was full")).memory
    part = engine.memories.save(NewMemory(content="Incident number twelve")).memory
    effect = engine.memories.save(
        NewMemory(content="Deploys failed all morning"),
        [
            NewAssociation(target_id=cause.id, type="caused_by", weight=0.9),
            NewAssociation(target_id=part.id),
        ],
    ).memory
    links = {(link.target_id, link.type, link.weight) for link in engine.memories.associations_of(effect.id)}
    assert links == {(cause.id, "caused_by", 0.9), (part.id, "related_to", 0.5)}


@pytest.mark.parametrize(
    ("association", "error"),
    [
        (NewAssociation(target_id="nobody"), NotFound),
        (NewAssociation(target_id="there", type="likes"), Invalid),
        (NewAssociation(target_id="there", weight=1.5), Invalid),
    ],
)
def test_a_bad_association_is_refused_and_nothing_is_saved(
    engine: Engine, association: NewAssociation, error: type[Exception]
) -> None:
    with pytest.raises(error):
        engine.memories.save(NewMemory(content="something"), [association])
    assert everything(engine) == []


def test_a_memory_cannot_be_associated_with_itself(engine: Engine) -> None:
    memory = engine.memories.save(NewMemory(content="something")).memory
    with pytest.raises(Invalid):
        engine.memories.associate(memory.id, memory.id)


@pytest.mark.seed("003 similarity")
def test_saving_something_very_similar_links_it_as_an_update(
    make_engine: EngineMaker, minilm: Embedder
) -> None:
    engine = make_engine(model=minilm)
    old = engine.memories.save(NewMemory(content="The meeting is on March 14th", type="event")).memory
    new = engine.memories.save(NewMemory(content="The meeting is on March 15th", type="event"))
    [link] = engine.memories.associations_of(new.memory.id)
    assert (link.type, link.source_id, link.target_id) == ("updates", new.memory.id, old.id)
    assert link.weight > 0.9
    assert new.similar[0].memory.id == old.id
    assert engine.memories.get(old.id).superseded_at is None


def test_saving_something_unlike_links_nothing(make_engine: EngineMaker, minilm: Embedder) -> None:
    engine = make_engine(model=minilm)
    engine.memories.save(NewMemory(content="The meeting is on March 14th"))
    new = engine.memories.save(NewMemory(content="Bananas are yellow")).memory
    assert engine.memories.associations_of(new.id) == []


def test_an_update_that_the_caller_names_supersedes_its_target(engine: Engine) -> None:
    old = engine.memories.save(NewMemory(content="We use Jenkins")).memory
    new = engine.memories.save(
        NewMemory(content="Builds moved over to Buildkite"),
        [NewAssociation(target_id=old.id, type="updates")],
    ).memory
    assert engine.memories.get(old.id).superseded_by == new.id


def test_saving_equal_content_returns_the_first_with_the_new_links(engine: Engine) -> None:
    other = engine.memories.save(NewMemory(content="Something else entirely")).memory
    first = engine.memories.save(NewMemory(content="Tea at four", importance=0.2)).memory
    again = engine.memories.save(
        NewMemory(content="Tea at four", importance=0.9), [NewAssociation(target_id=other.id)]
    )
    assert (again.outcome, again.memory.id, again.memory.importance) == ("equal", first.id, 0.9)
    assert [link.target_id for link in engine.memories.associations_of(first.id)] == [other.id]


def test_storing_can_be_undone_with_all_it_made(engine: Engine) -> None:
    remember(engine, "Alice moved to Lyon", entity_names=("Alice",))
    engine.history.undo_last()
    assert everything(engine) == []
    assert engine.graph.read(limit=10).graph.nodes == ()
