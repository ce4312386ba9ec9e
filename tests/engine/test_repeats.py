"""A request with an idempotency key is worked on once."""

from __future__ import annotations

import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.access import ABANDONED
from mcp_memory.errors import Conflict, Invalid
from mcp_memory.model import Caller
from tests.fakes import Clock


def test_a_repeated_request_is_given_the_first_answer(engine: Engine) -> None:
    assert engine.access.claim("key", "request") is None
    engine.access.answer("key", "request", 201, {"id": 1})
    known = engine.access.claim("key", "request")
    assert known is not None
    assert (known.status, known.body) == (201, {"id": 1})


def test_a_request_under_way_is_not_begun_again(engine: Engine) -> None:
    engine.access.claim("key", "request")
    with pytest.raises(Conflict):
        engine.access.claim("key", "request")


def test_what_was_abandoned_may_be_begun_again(engine: Engine, clock: Clock) -> None:
    engine.access.claim("key", "request")
    clock.advance(seconds=ABANDONED.total_seconds() + 1)
    assert engine.access.claim("key", "request") is None
    with pytest.raises(Conflict):
        engine.access.claim("key", "request")


def test_a_released_key_is_free(engine: Engine) -> None:
    engine.access.claim("key", "request")
    engine.access.release("key")
    assert engine.access.claim("key", "another request") is None


@pytest.mark.parametrize("answered", [True, False])
def test_a_key_belongs_to_its_request(engine: Engine, answered: bool) -> None:
    engine.access.claim("key", "request")
    if answered:
        engine.access.answer("key", "request", 201, {})
    with pytest.raises(Invalid):
        engine.access.claim("key", "another request")


def test_each_space_has_keys_of_its_own(engine: Engine) -> None:
    engine.access.claim("key", "request")
    assert engine.acting_for(Caller("elsewhere")).access.claim("key", "another request") is None


@pytest.mark.parametrize("key", ["", " ", "k" * 201, "\0"])
def test_a_key_that_cannot_be_kept_is_refused(engine: Engine, key: str) -> None:
    with pytest.raises(Invalid):
        engine.access.claim(key, "request")
