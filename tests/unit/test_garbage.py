"""Full garbage collections wait for a moment without requests."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator

import pytest

from mcp_memory.server.garbage import EVERY, LONGEST_WAIT, Collector


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Knot:
    """An object that only the collector can remove."""

    def __init__(self) -> None:
        self.self = self


def knot() -> weakref.ref[Knot]:
    return weakref.ref(Knot())


@pytest.fixture
def clock() -> Iterator[Clock]:
    gc.disable()
    yield Clock()
    gc.unfreeze()
    gc.enable()


def test_garbage_goes_once_a_minute(clock: Clock) -> None:
    collector = Collector(clock)
    for _ in range(4):
        garbage = knot()
        assert collector.collect_if_due(calm=True)
        assert garbage() is None
        assert not collector.collect_if_due(calm=True)
        clock.now += EVERY


def test_requests_come_first_for_some_minutes(clock: Clock) -> None:
    collector = Collector(clock)
    assert not collector.collect_if_due(calm=False)
    assert collector.collect_if_due(calm=True)
    clock.now += LONGEST_WAIT - 1
    assert not collector.collect_if_due(calm=False)
    clock.now += 1
    assert collector.collect_if_due(calm=False)


IN_A_SERVER = """
import gc, sys
from mcp_memory.server.garbage import collect_rarely

collect_rarely()
kept, full = [], []
gc.callbacks.append(lambda phase, info: full.append(info) if info["generation"] == 2 else None)
for _ in range(500_000):
    kept.append([])
print(len(full))
"""


def test_requests_do_not_set_off_a_full_collection() -> None:
    ran = subprocess.run([sys.executable, "-c", IN_A_SERVER], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "0"
