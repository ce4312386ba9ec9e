"""How often the right memory arrives, on prompts of somebody who had not read the rules."""

from __future__ import annotations

import pytest
from bench.arriving import Outcome, measured

from mcp_memory.ranking.certainty import FLOOR

# All in one process: each process would load the memories anew.
pytestmark = pytest.mark.xdist_group("arriving")


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return measured()


@pytest.mark.parametrize(
    ("kind", "half", "share"),
    [
        ("judged: right", "seen", 0.60),
        ("judged: silent", "seen", 0.92),
        ("judged: right", "unseen", 0.70),
        ("judged: silent", "unseen", 0.92),
        ("judged later: right", "unseen", 0.60),
        ("judged later: silent", "unseen", 0.90),
        ("project: right", "unseen", 0.80),
        ("general: silent", "unseen", 0.92),
    ],
)
def test_memories_arrive_where_they_help_and_nowhere_else(
    outcomes: list[Outcome], kind: str, half: str, share: float
) -> None:
    of = [one for one in outcomes if one.prompt.kind == kind and one.prompt.half == half]
    assert sum(one.is_good(FLOOR) for one in of) / len(of) >= share
