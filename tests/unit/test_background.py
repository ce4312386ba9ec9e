"""When background work makes vectors: while nobody asks for anything, and not too late."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from mcp_memory.server import workers
from mcp_memory.server.workers import Background


class Chores:
    """Two batches of vectors to make; notes when."""

    def __init__(self) -> None:
        self.made_at: list[float] = []

    def probe_model(self) -> str:
        return ""

    def has_vectors_to_make(self) -> bool:
        return len(self.made_at) < 2

    def make_vectors(self) -> int:
        if not self.has_vectors_to_make():
            return 0
        self.made_at.append(time.monotonic())
        return 32

    def run_due(self, going_on: Callable[[], bool]) -> list[Any]:
        return []

    def tend_index(self, going_on: Callable[[], bool]) -> list[str]:
        return []

    @contextmanager
    def signals(self) -> Iterator[tuple[Any, Any]]:
        bell = SimpleNamespace(wait=lambda seconds: time.sleep(0.01))
        yield SimpleNamespace(leads=lambda: True), bell


def made(last_request: Callable[[], float]) -> list[float]:
    chores = Chores()
    engine: Any = SimpleNamespace(scheduled_maintenance=chores)
    background = Background(lambda: engine, last_request)
    background.start()
    while len(chores.made_at) < 2:
        time.sleep(0.01)
    background.stop()
    return chores.made_at


def test_vectors_wait_until_nobody_asks_for_anything() -> None:
    asked = time.monotonic()
    assert made(lambda: asked)[0] >= asked + workers.CALM


def test_vectors_are_made_at_last_though_somebody_asks_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LONGEST_DELAY", 0.1)
    first, second = made(time.monotonic)
    assert second > first
