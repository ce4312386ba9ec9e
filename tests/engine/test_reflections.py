"""Reflections: whom they are about is checked, and they are found by what they say."""

from __future__ import annotations

import pytest

from mcp_memory.embedding import NoModel
from mcp_memory.engine import Engine
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.inputs import NewEntity, NewRelation
from tests.conftest import EngineMaker
from tests.fakes import Clock


@pytest.fixture
def entity(engine: Engine) -> int:
    [node] = engine.graph.create_entities([NewEntity(name="Core", type="Project")])
    return node.entity.seq


def contents(engine: Engine, query: str, **filters: str) -> list[str]:
    return [hit.reflection.content for hit in engine.reflections.search(query, limit=10, **filters).hits]


@pytest.mark.seed("000 §18")
def test_a_reflection_about_an_entity_is_kept_as_given(engine: Engine, entity: int) -> None:
    kept = engine.reflections.add(
        "entity", "It shaped the project.", target=entity, author="nolan", mood="insight"
    )
    assert (kept.target_type, kept.target_seq, kept.author, kept.mood) == (
        "entity",
        entity,
        "nolan",
        "insight",
    )
    assert engine.reflections.about_entities([entity]) == {entity: [kept]}


def test_an_entity_can_be_named_instead_of_numbered(engine: Engine, entity: int) -> None:
    assert engine.reflections.add("entity", "It lasts.", target="Core").target_seq == entity


def test_the_author_has_a_default_and_any_mood_will_do(engine: Engine) -> None:
    kept = engine.reflections.add("global", "All is well.", mood="serenity")
    assert (kept.author, kept.mood) == ("test", "serenity")


@pytest.mark.parametrize(
    ("target_type", "target", "complaint"),
    [
        ("planet", None, "target_type must be one of"),
        ("entity", None, "say which entity"),
        ("relation", None, "say which relation"),
        ("global", 1, "has no target"),
    ],
)
@pytest.mark.seed("000 §18")
def test_a_target_that_makes_no_sense_is_refused(
    engine: Engine, target_type: str, target: int | str | None, complaint: str
) -> None:
    with pytest.raises(Invalid, match=complaint):
        engine.reflections.add(target_type, "text", target=target)
    assert contents(engine, "text") == []


def test_a_target_that_does_not_exist_is_refused(engine: Engine) -> None:
    with pytest.raises(NotFound):
        engine.reflections.add("entity", "text", target=4711)
    for relation in (4711, "Core"):
        with pytest.raises(NotFound):
            engine.reflections.add("relation", "text", target=relation)


def test_an_empty_reflection_is_refused(engine: Engine) -> None:
    with pytest.raises(Invalid, match="empty"):
        engine.reflections.add("global", "  ")


def test_reflections_are_found_by_their_words_and_not_among_entities(engine: Engine, entity: int) -> None:
    engine.reflections.add("entity", "A bold architectural decision", target=entity)
    engine.reflections.add("session", "Lunch was late")
    assert contents(engine, "architectural decisions")[0] == "A bold architectural decision"
    assert engine.graph.search_nodes("bold", limit=5).graph.nodes == ()


@pytest.mark.seed("000 §19")
def test_filters_act_before_the_limit(engine: Engine) -> None:
    for number in range(40):
        engine.reflections.add("global", f"thoughts on design {number}", author="nolan", mood="duda")
    engine.reflections.add("session", "thoughts on design, finally", author="sofia", mood="insight")
    for wanted in ({"author": "sofia"}, {"mood": "insight"}, {"target_type": "session"}):
        found = engine.reflections.search("thoughts on design", limit=1, **wanted).hits
        assert [hit.reflection.content for hit in found] == ["thoughts on design, finally"]


def test_of_two_that_fit_alike_the_recent_one_comes_first(engine: Engine, clock: Clock) -> None:
    engine.reflections.add("global", "on naming things, early")
    clock.advance(days=700)
    engine.reflections.add("global", "on naming things, later")
    assert contents(engine, "naming things")[0] == "on naming things, later"


def test_scores_lie_between_0_and_1(engine: Engine) -> None:
    engine.reflections.add("global", "on naming things")
    [hit] = engine.reflections.search("on naming things", limit=5).hits
    assert 0.9 < hit.score <= 1


def test_without_a_model_words_still_answer_and_the_reply_says_so(make_engine: EngineMaker) -> None:
    engine = make_engine(model=NoModel("no model here"))
    engine.reflections.add("global", "on naming things")
    answer = engine.reflections.search("naming", limit=5)
    assert answer.mode == "keyword only: no model here"
    assert [hit.reflection.content for hit in answer.hits] == ["on naming things"]


def test_reflections_go_with_what_they_are_about(engine: Engine, entity: int) -> None:
    [made] = engine.graph.create_relations(
        [NewRelation(source="Core", target="Other", type="uses", make_ends=True)]
    )
    assert made.relation is not None
    engine.reflections.add("entity", "about the core", target=entity)
    engine.reflections.add("relation", "about the use", target=made.relation.seq)
    engine.reflections.add("global", "about everything")
    engine.graph.delete_entities(["Core"])
    assert contents(engine, "about") == ["about everything"]
