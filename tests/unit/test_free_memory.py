"""Memory that is free again goes back to the system."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcp_memory.server.free_memory import _trim, give_back

MB = 2**20


def resident() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


@pytest.mark.skipif(
    sys.platform != "linux" or _trim() is None, reason="only glibc gives memory back on request"
)
def test_free_blocks_below_one_in_use_go_back_to_the_system() -> None:
    # Blocks too small for a mapping of their own, as SQLite's pages are.
    pages = [bytes(4096) for _ in range(20_000)]
    last = pages[-1]
    before = resident()
    del pages[:-1]
    give_back()
    assert resident() < before - 40 * MB
    assert last == bytes(4096)
