"""Captured memories are kept on trial: they fade in days, and become ordinary when they prove useful."""

from __future__ import annotations

import pytest

from mcp_memory.capture import MOST_PER_SESSION, Candidate
from mcp_memory.engine import Engine
from mcp_memory.engine.captures import Heard
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.model import Filter
from tests.fakes import Clock


def said(text: str, rule: str = "preference", *, corrects: bool = False) -> Candidate:
    return Candidate(text=text, type="preference", rule=rule, turn="t1", corrects=corrects)


def heard(*candidates: Candidate, session: str = "s1", project: str = "github.com/acme/shop") -> Heard:
    return Heard(
        session=session, client="claude-code", project=project, candidates=candidates, cursor=len(candidates)
    )


TABS = said("We never deploy on Fridays.")


def test_a_captured_memory_is_on_trial_with_its_origin(engine: Engine) -> None:
    [id] = engine.captures.take_in(heard(TABS)).created
    memory = engine.memories.get(id, record=False)
    assert memory.captured_at is not None
    assert memory.confidence == pytest.approx(0.3)
    assert (memory.project, memory.channel, memory.source) == ("github.com/acme/shop", "s1", "claude-code")
    why = engine.captures.why(id)
    assert (why.rule, why.session, why.turn) == ("preference", "s1", "t1")
    assert "always or never" in why.explanation


def test_what_is_about_the_person_belongs_to_no_project(engine: Engine) -> None:
    [id] = engine.captures.take_in(heard(said("I prefer short answers."))).created
    assert engine.memories.get(id, record=False).project is None


def test_it_fades_in_days(engine: Engine, clock: Clock) -> None:
    [id] = engine.captures.take_in(heard(TABS)).created
    clock.advance(days=9)
    [described] = engine.memories.describe([engine.memories.get(id, record=False)])
    assert described.effective_confidence < 0.05
    assert engine.memories.find(Filter(below_confidence=0.05)).total == 1


def test_the_same_session_never_takes_it_in_twice(engine: Engine) -> None:
    engine.captures.take_in(heard(TABS))
    again = engine.captures.take_in(heard(TABS, said("We never deploy on  Fridays.")))
    assert again.created == again.accepted == again.recurred == ()
    assert engine.captures.find().total == 1


def test_heard_in_another_session_it_becomes_an_ordinary_memory(engine: Engine) -> None:
    [id] = engine.captures.take_in(heard(TABS)).created
    assert engine.captures.take_in(heard(TABS, session="s2")).accepted == (id,)
    memory = engine.memories.get(id, record=False)
    assert memory.captured_at is None
    assert memory.confidence >= 0.8
    assert engine.captures.find().total == 0


@pytest.mark.parametrize("again", ["we never deploy on fridays!", "We never deploy on Fridays"])
def test_heard_in_almost_the_same_words_it_stays_one(engine: Engine, again: str) -> None:
    engine.captures.take_in(heard(TABS))
    done = engine.captures.take_in(heard(said(again), session="s2"))
    assert len(done.accepted) == 1
    assert engine.memories.find(Filter()).total == 1


def test_opened_or_changed_it_becomes_an_ordinary_memory(engine: Engine) -> None:
    first, second = engine.captures.take_in(heard(TABS, said("We always squash before merging."))).created
    engine.memories.get(first)
    engine.memories.update(second, {"importance": 0.9})
    assert engine.captures.find().total == 0


def test_being_found_is_not_being_used(engine: Engine) -> None:
    engine.captures.take_in(heard(TABS))
    assert engine.recall.recall("deploy on Fridays").hits
    assert engine.captures.find().total == 1


def test_heard_again_it_does_not_change_what_a_person_stored(engine: Engine) -> None:
    stored = engine.memories.remember(NewMemory(content=TABS.text, type="decision", tags=("ours",))).memory
    assert engine.captures.take_in(heard(TABS)).recurred == (stored.id,)
    now = engine.memories.get(stored.id, record=False)
    assert (now.captured_at, now.type, now.tags, now.metadata) == (None, "decision", ("ours",), {})


def test_people_accept_and_drop_many_at_once_and_can_take_it_back(engine: Engine) -> None:
    engine.captures.take_in(heard(TABS, said("I like Helix."), said("We always squash.")))
    accepted = engine.captures.accept(every=True)
    assert len(accepted.ids) == 3
    assert accepted.act
    engine.history.undo(accepted.act)
    assert engine.captures.find().total == 3
    dropped = engine.captures.drop(session="s1")
    assert len(dropped.ids) == 3
    assert engine.captures.find().total == 0
    assert dropped.act
    engine.history.undo(dropped.act)
    assert engine.captures.find().total == 3


def test_what_was_dropped_is_not_captured_again(engine: Engine) -> None:
    [id] = engine.captures.take_in(heard(TABS)).created
    engine.captures.drop([id])
    assert engine.captures.take_in(heard(TABS, session="s2")).created == ()


def test_only_captured_memories_can_be_accepted_or_dropped(engine: Engine) -> None:
    stored = engine.memories.remember(NewMemory(content="Somebody stored this")).memory
    with pytest.raises(Invalid, match="not on trial"):
        engine.captures.drop([stored.id])
    with pytest.raises(Invalid, match="nothing says which"):
        engine.captures.drop()
    with pytest.raises(NotFound, match="was not captured"):
        engine.captures.why(stored.id)


def test_a_session_leaves_a_bounded_number_behind(engine: Engine) -> None:
    many = [said(f"We never deploy service {n} by hand on weekday {n}.") for n in range(MOST_PER_SESSION + 7)]
    first = engine.captures.take_in(heard(*many[:20]))
    second = engine.captures.take_in(heard(*many))
    assert engine.captures.find(limit=100).total <= MOST_PER_SESSION
    assert (first.left_out, second.left_out) == (0, 7)


def test_a_correction_supersedes_what_it_corrects(engine: Engine) -> None:
    old = engine.memories.remember(NewMemory(content="Use requests for HTTP calls in the client")).memory
    other = engine.memories.remember(NewMemory(content="The rate limit is 100 requests per minute")).memory
    done = engine.captures.take_in(
        heard(
            said(
                "No, use httpx for HTTP calls in the client instead of requests", "correction", corrects=True
            )
        )
    )
    assert done.superseded == (old.id,)
    assert engine.memories.get(old.id, record=False).superseded_by == done.created[0]
    assert engine.memories.get(other.id, record=False).superseded_at is None


def test_while_paused_nothing_is_captured(engine: Engine) -> None:
    engine.captures.set_paused(True)
    assert engine.captures.take_in(heard(TABS)).created == ()
    engine.captures.set_paused(False)
    assert len(engine.captures.take_in(heard(TABS)).created) == 1


def test_the_cursor_of_a_session_only_moves_on(engine: Engine) -> None:
    engine.captures.take_in(Heard(session="s", client="c", project="", candidates=(), cursor=90))
    engine.captures.take_in(Heard(session="s", client="c", project="", candidates=(), cursor=40))
    assert engine.captures.cursor("s") == 90
    assert engine.captures.cursor("unknown") == 0


def test_what_is_on_trial_can_be_purged(engine: Engine) -> None:
    [id] = engine.captures.take_in(heard(TABS)).created
    assert engine.captures.purge() == (id,)
    with pytest.raises(NotFound):
        engine.memories.get(id)
