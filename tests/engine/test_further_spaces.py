"""A personal and a team memory are searched together, and written to apart."""

from __future__ import annotations

from mcp_memory.engine import Engine
from mcp_memory.engine.arrivals import Place
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.model import Caller

TEAM = "The team deploys with make ship on Tuesdays"
MINE = "My own deploy script is ship.sh"


def spaces(engine: Engine) -> tuple[Engine, Engine, Engine]:
    mine, team, strangers = (engine.acting_for(Caller(name)) for name in ("mine", "team", "strangers"))
    mine.memories.remember(NewMemory(content=MINE, type="preference"))
    team.memories.remember(NewMemory(content=TEAM, type="preference"))
    strangers.memories.remember(NewMemory(content="Strangers deploy with make ship too"))
    return mine, team, strangers


def test_searches_look_into_further_spaces_and_no_others(engine: Engine) -> None:
    mine, _, _ = spaces(engine)
    both = mine.reading_also(("team", "mine", "unknown"))
    for answer in (both.recall.recall("deploy ship"), both.recall.recall_for_agent("deploy ship")):
        assert {hit.memory.content for hit in answer.hits} == {MINE, TEAM}
        assert {hit.memory.content: hit.space for hit in answer.hits} == {MINE: "", TEAM: "team"}
    assert {hit.memory.content for hit in mine.recall.recall("deploy ship").hits} == {MINE}


def test_what_is_written_goes_to_ones_own_space(engine: Engine) -> None:
    mine, team, _ = spaces(engine)
    mine.reading_also(("team",)).memories.remember(NewMemory(content="A new memory"))
    assert mine.recall.recall("new memory").total == 1
    assert team.recall.recall("new memory").total == 0


def test_being_read_from_elsewhere_is_not_use(engine: Engine) -> None:
    mine, team, _ = spaces(engine)
    mine.reading_also(("team",)).recall.recall("deploy ship")
    [memory] = team.unrecorded().recall.recall("deploy").hits
    assert memory.memory.access_count == 0


def test_a_token_opens_only_its_own_spaces(engine: Engine) -> None:
    spaces(engine)
    guest = engine.acting_for(Caller("mine", readable=("mine",))).reading_also(("team",))
    assert {hit.memory.content for hit in guest.recall.recall("deploy ship").hits} == {MINE}


def test_both_arrive(engine: Engine) -> None:
    mine, _, _ = spaces(engine)
    said = mine.reading_also(("team",)).arrivals.at_start(Place(session="s"))
    assert MINE in said.text
    assert f", space team) {TEAM}" in said.text
