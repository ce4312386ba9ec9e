"""A short look at imports, tools and routes with inputs at random; `make fuzz` looks for longer."""

from __future__ import annotations

import pytest

from tests.faults.fuzz import TARGETS, run


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_whatever_is_sent_is_answered_or_refused_and_the_store_stays_sound(target: str) -> None:
    assert run(target, seconds=2, number=7).total()
