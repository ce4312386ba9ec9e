"""The shared server is killed while assistants write and read: none of them notices.

A short version of `python -m tests.faults.shared_run`, which `make faults` runs for 200 rounds.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_memory import __version__
from tests.faults.shared_run import run
from tests.shared_servers import stop_servers

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows cannot kill a process at any point")


@pytest.fixture
def folder() -> Iterator[Path]:
    """One with a name that is short enough for a socket."""
    made = Path(tempfile.mkdtemp(prefix="mcp-faults-"))
    yield made
    stop_servers(made)
    shutil.rmtree(made, ignore_errors=True)


def test_nothing_is_lost_or_done_twice_when_the_server_is_killed(folder: Path) -> None:
    outcome = run(folder, rounds=3, clients=4)
    assert outcome.killed == 3


def test_two_versions_replace_each_other_under_load(folder: Path) -> None:
    outcome = run(folder, rounds=2, versions=(__version__, "99.0.0"), clients=4)
    assert outcome.written
