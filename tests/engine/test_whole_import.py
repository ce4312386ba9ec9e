"""An import is kept whole or not at all, though others can write between its transactions."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from mcp_memory.engine import Engine, pacing, whole_import
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.graph_import import OBSERVATIONS_AT_ONCE
from mcp_memory.errors import Unavailable
from mcp_memory.inputs import NewEntity
from mcp_memory.model import Caller, Node
from tests.fakes import Clock

PULLED = "the disk was pulled"


@pytest.fixture(autouse=True)
def short_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a few lines each, so that short files need several."""
    for bound in ("FIRST", "LEAST", "MOST"):
        monkeypatch.setattr(pacing, bound, 3)


def entity(number: int) -> bytes:
    line = {"type": "entity", "name": f"Node {number}", "entityType": "thing"}
    return json.dumps(line | {"observations": [f"is {number}"]}).encode()


def nodes(engine: Engine) -> Sequence[Node]:
    return engine.graph.read(limit=1000).graph.nodes


def pulled_after(lines: Iterable[bytes]) -> Iterator[bytes]:
    yield from lines
    raise OSError(PULLED)


def kept(engine: Engine) -> list[str]:
    """Everything of the space, without the journal's own account of it."""
    records = [json.loads(line) for line in engine.transfer.export_full()]
    return sorted(json.dumps(one) for one in records if one["record"] not in ("space", "event"))


def imported_events(engine: Engine) -> list[str]:
    return [event.subject for event in engine.history.events_after(0) if event.client.endswith("(import)")]


def archive(engine: Engine) -> list[bytes]:
    """The full export of another space, with history."""
    other = engine.acting_for(Caller("other"))
    for number in range(6):
        other.memories.remember(NewMemory(content=f"fact {number} about subject{number}"))
    other.graph.create_entities([NewEntity(name="Ana", type="person", observations=("likes tea",))])
    return [line.encode() for line in other.transfer.export_full()]


def test_a_file_that_cannot_be_read_to_its_end_leaves_nothing(engine: Engine) -> None:
    engine.graph.create_entities([NewEntity(name="Here", type="thing", observations=("before",))])
    before = kept(engine)
    with pytest.raises(OSError, match=PULLED):
        engine.transfer.import_anthropic(pulled_after(entity(number) for number in range(20)))
    assert kept(engine) == before
    assert engine.transfer.import_anthropic([entity(1)]).entities_imported == 1, (
        "the next one is not hindered"
    )


def test_what_fails_within_a_full_export_leaves_neither_memories_nor_history(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, before = archive(engine), kept(engine)
    taken: list[int] = []

    def fail_late(doing: str, done: int, total: int | None) -> None:
        taken.append(done)
        if done >= sum(map(len, lines)) - 10:
            assert imported_events(engine), "the history has come in"
            raise OSError(PULLED)

    with pytest.raises(OSError, match=PULLED):
        engine.transfer.import_full(lines, progress=fail_late)
    assert len(taken) > 3, "several transactions were written"
    assert kept(engine) == before
    assert not imported_events(engine)


def test_others_can_write_during_an_import_and_what_they_wrote_stays_when_it_fails(engine: Engine) -> None:
    def lines() -> Iterator[bytes]:
        yield from (entity(number) for number in range(9))
        engine.memories.remember(NewMemory(content="written in between"))
        engine.graph.add_observations("Node 0", ["somebody has looked at it"])
        raise OSError(PULLED)

    with pytest.raises(OSError, match=PULLED):
        engine.transfer.import_anthropic(lines())
    contents = [json.loads(line)["content"] for line in kept(engine) if '"record": "memory"' in line]
    assert sorted(contents) == ["somebody has looked at it", "written in between"]
    assert [node.entity.name for node in nodes(engine)] == ["Node 0"]


def test_an_import_under_way_is_left_alone_and_another_one_waits(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_import, "TURN_PATIENCE", 0.0)
    reached, go_on = threading.Event(), threading.Event()

    def lines() -> Iterator[bytes]:
        yield from (entity(number) for number in range(9))
        reached.set()
        assert go_on.wait(60)
        yield entity(9)

    importing = threading.Thread(target=lambda: engine.transfer.import_anthropic(lines()))
    importing.start()
    try:
        assert reached.wait(60)
        engine.transfer.take_back_unfinished()
        engine.scheduled_maintenance.run_due(lambda: True)
        with pytest.raises(Unavailable, match="another import is under way"):
            engine.transfer.import_anthropic([entity(100)])
    finally:
        go_on.set()
        importing.join(60)
    assert len(nodes(engine)) == 10


def test_an_interrupted_import_is_taken_back_by_the_next_start(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as dying:
        # A process that is killed takes nothing back.
        dying.setattr(whole_import, "_take_back_or_leave", lambda context: None)
        with pytest.raises(OSError, match=PULLED):
            engine.transfer.import_anthropic(pulled_after(entity(number) for number in range(9)))
    assert nodes(engine)
    engine.transfer.take_back_unfinished()
    assert not nodes(engine)
    assert not kept(engine)


def test_what_an_import_needs_to_be_taken_back_does_not_expire_under_it(engine: Engine) -> None:
    tuning = replace(engine._context.tuning, trash=timedelta(0), journal=timedelta(0))
    forgetful = Engine(replace(engine._context, tuning=tuning))

    def lines() -> Iterator[bytes]:
        yield from (entity(number) for number in range(9))
        Engine(
            replace(forgetful._context, clock=lambda: engine._context.clock() + timedelta(days=1))
        ).history.age_journal()
        raise OSError(PULLED)

    with pytest.raises(OSError, match=PULLED):
        forgetful.transfer.import_anthropic(lines())
    assert not kept(engine)


def test_the_whole_import_is_one_change_that_can_be_undone(engine: Engine) -> None:
    engine.transfer.import_anthropic(entity(number) for number in range(20))
    assert len(nodes(engine)) == 20
    engine.history.undo_last()
    assert not nodes(engine)


def test_a_line_with_very_many_observations_is_imported_whole(engine: Engine) -> None:
    texts = [f"observation {number}" for number in range(OBSERVATIONS_AT_ONCE * 2 + 1)]
    line = {"type": "entity", "name": "Hub", "entityType": "thing", "observations": texts}
    done = engine.transfer.import_anthropic([json.dumps(line).encode()], repeats=True)
    assert (done.entities_imported, done.records["memory"]) == (1, len(texts))
    assert list(nodes(engine)[0].texts) == texts
    again = engine.transfer.import_anthropic([json.dumps(line).encode()], repeats=True)
    assert (again.records, again.known) == ({}, {"entity": 1, "memory": len(texts)})


@pytest.mark.parametrize(
    "changes", [{"name": "n" * 501}, {"entityType": "t" * 501}, {"observations": ["long " * 20_000]}]
)
def test_a_line_beyond_the_limits_is_skipped_with_the_reason(
    engine: Engine, changes: dict[str, object]
) -> None:
    line = {"type": "entity", "name": "Big", "entityType": "thing", "observations": []} | changes
    done = engine.transfer.import_anthropic([json.dumps(line).encode(), entity(1)])
    assert (done.skipped, done.entities_imported) == (1, 1)
    assert "line 1" in done.problems[0]


def test_relations_begin_with_a_small_piece_however_quickly_lines_were_read(
    engine: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()

    def in_no_time() -> float:
        clock.advance(seconds=1)  # each piece has its own moment in the journal
        return 0.0

    monkeypatch.setattr("mcp_memory.engine.pacing.time.monotonic", in_no_time)
    ends = [(f"Node {number % 20}", f"Node {number // 20}") for number in range(400)]
    relations = [{"type": "relation", "from": a, "to": b, "relationType": "knows"} for a, b in ends]
    lines = [*(entity(number) for number in range(20)), *(json.dumps(line).encode() for line in relations)]
    assert engine.transfer.import_anthropic(lines).relations_imported == 400

    events = engine.history.events_after(0)
    begun = [event.at for event in events if event.name == "relation_created"]
    assert begun.count(begun[0]) == pacing.FIRST


def test_a_piece_is_as_large_as_its_time_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    now = 0.0
    monkeypatch.setattr("mcp_memory.engine.pacing.time.monotonic", lambda: now)
    sizes = []
    for piece in pacing.Pace().pieces(range(5000), lambda _: 1):
        sizes.append(len(piece))
        now += len(piece) * 0.001
    settled = round(pacing.AIM / 0.001)
    assert sizes[0] == pacing.FIRST
    assert set(sizes[2:-1]) <= {settled, settled + 1}
    assert sum(sizes) == 5000
