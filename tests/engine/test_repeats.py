"""A request with an idempotency key is worked on once."""

from __future__ import annotations

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.access import ABANDONED, CARRIED_OUT, Answered, Claim
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Conflict, Invalid
from mcp_memory.model import Caller
from tests.fakes import Clock


def claimed(engine: Engine, request: str = "request") -> Claim:
    claim = engine.access.claim("key", request)
    assert isinstance(claim, Claim)
    return claim


def reflect(engine: Engine, claim: Claim) -> None:
    engine.once(claim).reflections.add("global", "done once")


def reflection_count(engine: Engine) -> int:
    return engine.reflections.find(limit=10).total


def test_a_repeated_request_is_given_the_first_answer(engine: Engine) -> None:
    claim = claimed(engine)
    reflect(engine, claim)
    engine.access.answer(claim, 201, {"id": 1})
    known = engine.access.claim("key", "request")
    assert isinstance(known, Answered)
    assert (known.status, known.body) == (201, {"id": 1})


def test_a_request_under_way_is_not_begun_again(engine: Engine) -> None:
    claimed(engine)
    with pytest.raises(Conflict):
        engine.access.claim("key", "request")


def test_what_was_abandoned_may_be_begun_again(engine: Engine, clock: Clock) -> None:
    claimed(engine)
    clock.advance(seconds=ABANDONED.total_seconds() + 1)
    claimed(engine)
    with pytest.raises(Conflict):
        engine.access.claim("key", "request")


def test_what_was_done_is_known_to_be_done_though_it_was_never_answered(engine: Engine, clock: Clock) -> None:
    reflect(engine, claimed(engine))
    clock.advance(seconds=ABANDONED.total_seconds() + 1)
    known = engine.access.claim("key", "request")
    assert isinstance(known, Answered)
    assert known.status == CARRIED_OUT
    assert [event.name for event in engine.history.events_of(known.body["act"])] == ["reflection_added"]


def test_of_two_who_work_on_one_request_only_one_does_it(engine: Engine, clock: Clock) -> None:
    slow = claimed(engine)
    clock.advance(seconds=ABANDONED.total_seconds() + 1)
    quick = claimed(engine)
    reflect(engine, quick)
    for late in (slow, quick):
        with pytest.raises(Conflict):
            reflect(engine, late)
    assert reflection_count(engine) == 1


def test_the_answer_and_the_failure_of_who_came_late_change_nothing(engine: Engine, clock: Clock) -> None:
    slow = claimed(engine)
    clock.advance(seconds=ABANDONED.total_seconds() + 1)
    quick = claimed(engine)
    engine.access.release(slow)
    engine.access.answer(slow, 200, {})
    reflect(engine, quick)
    engine.access.answer(quick, 201, {"id": 1})
    known = engine.access.claim("key", "request")
    assert isinstance(known, Answered)
    assert known.status == 201


def test_a_claim_on_what_was_not_kept_can_be_released(engine: Engine) -> None:
    claim = claimed(engine)
    with pytest.raises(Invalid):
        engine.once(claim).reflections.add("global", "")
    engine.access.release(claim)
    claimed(engine, "another request")


def test_what_was_done_is_not_released(engine: Engine) -> None:
    claim = claimed(engine)
    reflect(engine, claim)
    engine.access.release(claim)
    assert isinstance(engine.access.claim("key", "request"), Answered)


def test_what_changed_nothing_may_be_done_again(engine: Engine) -> None:
    engine.memories.remember(NewMemory(content="known"))
    claim = claimed(engine)
    engine.once(claim).memories.remember(NewMemory(content="known"))
    engine.access.release(claim)
    claimed(engine)


@pytest.mark.parametrize("answered", [True, False])
def test_a_key_belongs_to_its_request(engine: Engine, answered: bool) -> None:
    claim = claimed(engine)
    if answered:
        engine.access.answer(claim, 201, {})
    with pytest.raises(Invalid):
        engine.access.claim("key", "another request")


def test_each_space_has_keys_of_its_own(engine: Engine) -> None:
    claimed(engine)
    claimed(engine.acting_for(Caller("elsewhere")), "another request")


@pytest.mark.parametrize("key", ["", " ", "k" * 201, "\0"])
def test_a_key_that_cannot_be_kept_is_refused(engine: Engine, key: str) -> None:
    with pytest.raises(Invalid):
        engine.access.claim(key, "request")
