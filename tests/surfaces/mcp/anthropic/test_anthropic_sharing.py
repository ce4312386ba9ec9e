"""Anthropic's server and ours use one file in turns, and nothing is lost."""

from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from tests.surfaces.mcp.anthropic.servers import (
    Graph,
    Starter,
    entity,
    eventually,
    graph,
    relation,
    why_official_is_missing,
)

ALICE = entity("Alice", "person", "likes tea")
BOB = entity("Bob", "person")
ZOE = entity("Zoë", "person", "日本語")


@pytest.fixture
def server() -> str:
    """Both at once; hides the choice that the other tests here make."""
    return "both"


def starters(tmp_path: Path, portal: BlockingPortal) -> tuple[Starter, Starter]:
    if reason := why_official_is_missing():
        pytest.skip(reason)
    return Starter("official", tmp_path, portal), Starter("ours", tmp_path, portal)


def agree(one: Graph, other: Graph) -> bool:
    """Whether they come to; ours writes the file a moment after its answer."""
    return eventually(lambda: one.read() == other.read())


def test_each_takes_up_where_the_other_left_off(tmp_path: Path, portal: BlockingPortal) -> None:
    official, ours = starters(tmp_path, portal)
    with official.start() as memory:
        memory.create(ALICE, BOB)
        memory.relate(relation("Alice", "Bob"))
    with ours.start() as memory:
        assert memory.read() == graph([ALICE, BOB], [relation("Alice", "Bob")])
        memory.create(ZOE)
        memory.call("delete_entities", entityNames=["Bob"])
    with official.start() as memory:
        assert memory.read() == graph([ALICE, ZOE])
        memory.observe("Alice", "sings")
        memory.call("delete_entities", entityNames=["Zoë"])
    with ours.start() as memory:
        assert memory.read() == graph([entity("Alice", "person", "likes tea", "sings")])


def test_both_may_run_at_the_same_time(tmp_path: Path, portal: BlockingPortal) -> None:
    official, ours = starters(tmp_path, portal)
    with official.start() as theirs, ours.start() as mine:
        theirs.create(ALICE)
        mine.create(BOB)
        assert agree(theirs, mine)
        theirs.relate(relation("Alice", "Bob"))
        mine.observe("Alice", "sings")
        assert mine.read() == graph(
            [entity("Alice", "person", "likes tea", "sings"), BOB], [relation("Alice", "Bob")]
        )
        assert agree(theirs, mine)
        theirs.call("delete_observations", deletions=[{"entityName": "Alice", "observations": ["likes tea"]}])
        mine.call("delete_relations", relations=[relation("Alice", "Bob")])
        assert agree(theirs, mine)
        assert theirs.read() == graph([entity("Alice", "person", "sings"), BOB])


def test_two_of_ours_with_their_own_databases_may_share_a_file(
    tmp_path: Path, portal: BlockingPortal
) -> None:
    ours = Starter("ours", tmp_path, portal)
    with ours.start() as one, ours.start(DATABASE_URL=f"sqlite:///{tmp_path / 'memory.db.2'}") as other:
        one.create(ALICE)
        assert agree(one, other)
        other.create(BOB)
        assert agree(one, other)
        one.relate(relation("Alice", "Bob"))
        assert agree(one, other)
        other.call("delete_entities", entityNames=["Alice"])
        assert agree(one, other)
        assert one.read() == graph([BOB])
