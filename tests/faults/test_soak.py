"""The soak run and its judgement of what is flat, in short; `make soak` runs it for half an hour."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.faults.soak import judged, run


@pytest.mark.skipif(os.name == "nt", reason="what the run samples is counted otherwise on Windows")
def test_clients_of_every_kind_are_served_at_once_and_nothing_is_lost() -> None:
    # A socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="mcp-soak-") as folder:
        outcome = run(Path(folder), minutes=0.1, pause=0.02, assistants=2, programs=2)
    assert outcome.kept
    assert {"assistant turns", "program turns", "events heard"} <= outcome.answered.keys()
    assert set(outcome.series) == {"resident MB", "open files", "threads", "log MB"}


def test_what_grows_is_not_flat() -> None:
    growing = [100.0 + number for number in range(200)]
    assert not judged("resident MB", growing).is_flat
    assert judged("resident MB", growing[:100] + [200.0, 210.0] * 50).is_flat, "it grew at first, and stopped"
    assert judged("open files", [10.0, 12.0, 11.0, 13.0]).is_flat, "a few more or less are noise"
    assert not judged("threads", [float(number) for number in range(40)]).is_flat
