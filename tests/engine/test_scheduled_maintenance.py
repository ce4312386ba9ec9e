"""What is done in the background of every space, and how followers hear of it."""

from __future__ import annotations

from datetime import datetime

from mcp_memory.engine import Engine
from mcp_memory.engine.access import Claim
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import Caller
from tests.fakes import Clock


def told(engine: Engine) -> list[str]:
    return [event.name for event in engine.history.events_after(0)]


def test_what_is_due_is_done_in_every_space_once_and_told(engine: Engine, clock: Clock) -> None:
    elsewhere = engine.acting_for(Caller("elsewhere"))
    for one in (engine, elsewhere):
        one.memories.remember(NewMemory(content="something"))
    runs = engine.scheduled_maintenance.run_due(lambda: True)
    assert {run.space for run in runs} == {"default", "elsewhere"}
    for one in (engine, elsewhere):
        [event] = [event for event in one.history.events_after(0) if event.name == "sync_complete"]
        assert datetime.fromisoformat(event.payload["timestamp"]) == clock.now
    assert engine.scheduled_maintenance.run_due(lambda: True) == []
    assert told(engine).count("sync_complete") == 1


def test_a_chore_that_should_stop_goes_no_further(engine: Engine) -> None:
    engine.memories.remember(NewMemory(content="something"))
    assert engine.scheduled_maintenance.run_due(lambda: False) == []


def test_the_background_is_not_what_undo_takes_back(engine: Engine) -> None:
    made = engine.memories.remember(NewMemory(content="something")).memory
    engine.scheduled_maintenance.run_due(lambda: True)
    engine.history.undo_last()
    assert engine.memories.fetch([made.id]) == []


def test_old_answers_are_let_go(engine: Engine, clock: Clock) -> None:
    claim = engine.access.claim("key", "request")
    assert isinstance(claim, Claim)
    engine.access.answer(claim, 201, {})
    clock.advance(days=2)
    engine.scheduled_maintenance.run_due(lambda: True)
    assert isinstance(engine.access.claim("key", "another request"), Claim)
