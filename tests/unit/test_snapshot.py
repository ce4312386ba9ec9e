from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.model import Entity, Memory, Node
from mcp_memory.text.snapshot import BUDGET, cost, fair_shares, shortened, snapshot

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def entity(
    name: str = "Atlas", type: str = "Project", description: str = "", status: str = "active"
) -> Entity:
    return Entity(
        seq=1,
        id="e1",
        name=name,
        type=type,
        description=description or None,
        metadata={},
        status=status,
        created_at=NOW,
        updated_at=NOW,
    )


def memory(content: str, kind: str = "generic") -> Memory:
    return Memory(
        seq=1,
        id="m1",
        content=content,
        type="observation",
        kind=kind,
        tags=(),
        confidence=1.0,
        importance=0.5,
        source=None,
        context=None,
        channel=None,
        metadata={},
        origin="observation",
        pinned_at=NOW,
        created_at=NOW,
        updated_at=NOW,
        accessed_at=None,
        access_count=0,
        version=1,
        flagged_at=None,
        forgotten_at=None,
        forgotten_reason=None,
        superseded_at=None,
        superseded_by=None,
    )


def node(*texts: str, of: Entity | None = None) -> Node:
    return Node(of or entity(), tuple(memory(text) for text in texts))


def test_a_snapshot_has_name_type_description_and_observations() -> None:
    atlas = node("Runs on SQLite", "Has two developers", of=entity(description="A map server"))
    assert snapshot(atlas) == "Atlas (Project): A map server | Runs on SQLite | Has two developers"


def test_an_entity_with_nothing_else_is_its_name_and_type() -> None:
    assert snapshot(node()) == "Atlas (Project)"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("active", "Atlas (Project)"),
        ("activo", "Atlas (Project)"),
        ("archived", "Atlas (Project) [archived]"),
    ],
)
def test_only_an_unusual_status_is_told(status: str, expected: str) -> None:
    assert snapshot(node(of=entity(status=status))) == expected


def test_a_placeholder_has_no_type_to_tell() -> None:
    assert snapshot(node(of=entity(type="unknown"))) == "Atlas"


def test_a_kind_is_told_unless_it_is_the_usual_one() -> None:
    atlas = Node(entity(), (memory("Use WAL", "decision"), memory("Is fast")))
    assert snapshot(atlas) == "Atlas (Project): [decision] Use WAL | Is fast"


def test_what_is_superseded_or_forgotten_is_left_out() -> None:
    gone = (replace(memory("old"), superseded_at=NOW), replace(memory("lost"), forgotten_at=NOW))
    assert snapshot(Node(entity(), (*gone, memory("new")))) == "Atlas (Project): new"


def test_long_observations_are_shortened_fairly_and_the_last_stays() -> None:
    texts = [f"start{letter} " + "filler words here " * 60 + "end" for letter in "abcdefgh"]
    text = snapshot(node(*texts))
    assert all(f"start{letter} " in text for letter in "abcdefgh")
    assert text.endswith("…")
    assert cost(text) <= BUDGET


def test_a_short_observation_among_long_ones_stays_whole() -> None:
    texts = ["long words " * 200, "The port is 8080", "more words " * 200]
    assert " | The port is 8080 | " in snapshot(node(*texts))


@pytest.mark.seed("002 snapshot")
def test_of_many_observations_first_and_last_are_kept_and_the_most_varied_of_the_middle() -> None:
    dull = "again and again and again and again and again and again and again and again"
    varied = "every single word differs from its neighbours inside this observation"
    texts = [f"head number {n}" for n in range(3)] + [dull] * 20 + [varied] + [dull] * 20
    texts += [f"tail number {n}" for n in range(7)]
    text = snapshot(node(*texts), budget=180)
    assert all(f"head number {n}" in text for n in range(3))
    assert all(f"tail number {n}" in text for n in range(7))
    assert varied in text
    assert text.index("head number 2") < text.index(varied) < text.index("tail number 0")
    assert 0 < text.count(dull) < 10
    assert cost(text) <= 180


def test_all_observations_are_in_when_they_fit() -> None:
    text = snapshot(node(*(f"fact {n}" for n in range(30))))
    assert all(f"fact {n}" in text for n in range(30))


texts = st.text(max_size=3000)


@given(
    st.lists(texts, max_size=15),
    texts,
    st.text(min_size=1, max_size=300),
    st.integers(40, 480),
)
@pytest.mark.seed("002 snapshot")
def test_no_snapshot_is_above_its_budget(
    contents: list[str], description: str, name: str, budget: int
) -> None:
    of = entity(name=name, description=description)
    text = snapshot(node(*contents, of=of), budget)
    assert cost(text) <= budget


def test_letters_are_cheap_and_all_else_is_dear() -> None:
    assert cost("plain text") == pytest.approx(10 / 3.57)
    assert cost("8080") == 4
    assert cost("日本") == 2
    assert cost("한국") == 4


def test_the_models_own_count_has_the_last_word() -> None:
    texts = [f"start{letter} " + "palabras del usuario " * 60 for letter in "abcdefgh"]

    def strict_count(text: str) -> int:
        return len(text) // 2

    text = snapshot(node(*texts), 200, strict_count)
    assert 150 <= strict_count(text) <= 200
    assert all(f"start{letter}" in text for letter in "abcdefgh")


def test_a_count_that_nothing_can_satisfy_ends_in_a_short_text() -> None:
    assert len(snapshot(node("fact " * 500), 100, lambda text: 1000)) < 10


def test_a_text_is_shortened_after_a_word() -> None:
    assert shortened("alpha beta gamma", 100) == "alpha beta gamma"
    assert shortened("alpha beta gamma", 4.4) == "alpha beta…"
    assert shortened("alphabetagamma" * 3, 4.5) == "alphabetagam…"
    assert shortened("alpha", 0) == shortened("", 5) == ""


def test_modest_wants_are_met_and_the_rest_is_shared() -> None:
    assert fair_shares([10, 100, 100], 70) == [10, 30, 30]
    assert fair_shares([100, 5], 20) == [15, 5]
    assert fair_shares([5, 5], 20) == [5, 5]
    assert fair_shares([5, 5], -1) == [0, 0]
