"""The soak run and its judgement of what is flat, in short; `make soak` runs it for half an hour."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.faults.soak import KINDS, judged, run


@pytest.mark.skipif(os.name == "nt", reason="what the run samples is counted otherwise on Windows")
def test_clients_of_every_kind_are_served_at_once_and_nothing_is_lost() -> None:
    # A socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="mcp-soak-") as folder:
        outcome = run(Path(folder), minutes=0.1, pause=0.02, assistants=2, programs=2)
    assert outcome.kept
    assert outcome.answered.keys() >= KINDS
    assert set(outcome.series) == {"own MB", "mapped MB", "open files", "threads", "database MB", "log MB"}


def test_what_grows_is_not_flat() -> None:
    growing = [100.0 + number for number in range(300)]
    assert not judged("own MB", growing, minutes=30).is_flat
    warmed = growing[:100] + [200.0, 204.0] * 100
    assert judged("own MB", warmed, minutes=30).is_flat, "it grew at first, and stopped"
    assert judged("mapped MB", [60.0, 90.0, 120.0], minutes=30).is_flat, "as much as its files have"
    assert not judged("mapped MB", [60.0, 90.0, 220.0], minutes=30).is_flat
    assert judged("open files", [10.0, 12.0, 11.0, 13.0], minutes=1).is_flat, "a few more or less are noise"
    assert not judged("threads", [float(number) for number in range(40)], minutes=30).is_flat
    assert judged("log MB", [0.0, 60.0, 4.0, 64.0], minutes=30).is_flat, "it is emptied at that size"
    assert not judged("log MB", [0.0, 60.0, 90.0, 64.0], minutes=30).is_flat
