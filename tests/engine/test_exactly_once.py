"""A request that two servers receive, because the first died over it, changes things once."""

from __future__ import annotations

import pytest

from mcp_memory.engine import Engine
from mcp_memory.errors import Conflict
from mcp_memory.inputs import NewEntity, NewRelation


def think(engine: Engine) -> str:
    return engine.reflections.add("global", "it must be thought once").id


def thoughts(engine: Engine) -> list[str]:
    return [found.reflection.id for found in engine.reflections.find().reflections]


def relate(engine: Engine) -> int:
    """How many relations are new."""
    wanted = [NewRelation(source="Alice", target="tea", type="likes")]
    return len(engine.graph.create_relations(wanted))


def test_a_first_request_is_simply_done(engine: Engine) -> None:
    assert engine.exactly_once("k/1", think, again=False)
    assert engine.reflections.find().total == 1


def test_a_request_whose_answer_was_lost_is_answered_with_what_is_there(engine: Engine) -> None:
    engine.exactly_once("k/1", think, again=False)
    answered = engine.exactly_once("k/1", think, again=True)
    assert thoughts(engine) == [answered]


def test_a_request_that_the_first_server_did_not_do_is_done(engine: Engine) -> None:
    answered = engine.exactly_once("k/1", think, again=True)
    assert thoughts(engine) == [answered]


def test_the_answer_is_as_if_it_had_been_received_once(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Alice"), NewEntity(name="tea")])
    assert engine.exactly_once("k/1", relate, again=False) == 1
    assert engine.exactly_once("k/1", relate, again=True) == 1
    assert len(engine.graph.open_nodes(["Alice"]).relations) == 1


def test_a_request_that_two_servers_work_on_at_once_is_done_by_one(engine: Engine) -> None:
    """The second has looked before the first was done."""
    first = [think]

    def both(once: Engine) -> str:
        if first:
            engine.exactly_once("k/1", first.pop(), again=False)
        return think(once)

    answered = engine.exactly_once("k/1", both, again=True)
    assert thoughts(engine) == [answered]


def test_a_request_of_several_changes_is_taken_back_whole(engine: Engine) -> None:
    def twice(once: Engine) -> list[str]:
        return [think(once), think(once)]

    engine.exactly_once("k/1", twice, again=False)
    answered = engine.exactly_once("k/1", twice, again=True)
    assert {*thoughts(engine)} == {*answered}


def create(once: Engine) -> list[str]:
    return [node.entity.name for node in once.graph.create_entities([NewEntity(name="Alice")])]


def test_what_others_have_built_upon_stays_and_is_the_answer(engine: Engine) -> None:
    engine.exactly_once("k/1", create, again=False)
    engine.graph.add_observations("Alice", ["likes tea"])
    assert engine.exactly_once("k/1", create, again=True) == ["Alice"]
    [alice] = engine.graph.open_nodes(["Alice"]).nodes
    assert alice.texts == ["likes tea"]


def test_what_others_have_taken_away_is_not_done_again(engine: Engine) -> None:
    engine.exactly_once("k/1", create, again=False)
    engine.graph.delete_entities(["Alice"])
    with pytest.raises(Conflict, match="done before"):
        engine.exactly_once("k/1", create, again=True)
    assert not engine.graph.open_nodes(["Alice"]).nodes


def test_a_refused_request_leaves_its_key_free(engine: Engine) -> None:
    def refuse(once: Engine) -> None:
        raise Conflict("no")

    with pytest.raises(Conflict, match="no"):
        engine.exactly_once("k/1", refuse, again=False)
    engine.exactly_once("k/1", think, again=False)
    assert engine.reflections.find().total == 1
