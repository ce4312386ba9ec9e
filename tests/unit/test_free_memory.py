"""Memory that is free again is kept small, and goes back to the system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mcp_memory.server.free_memory import HEAPS, _trim, give_back

MB = 2**20


def resident() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


only_glibc = pytest.mark.skipif(
    sys.platform != "linux" or _trim() is None, reason="only glibc has heaps that can be told what to keep"
)

THREADS = """
import ctypes, os, sys, tempfile, threading
from mcp_memory.server.free_memory import limit_heaps

limit_heaps()
library = ctypes.CDLL(None)
library.malloc.restype = library.fopen.restype = ctypes.c_void_p
everyone = threading.Barrier(9)
for _ in range(8):
    threading.Thread(target=lambda: (library.malloc(5000), everyone.wait())).start()
everyone.wait()
with tempfile.NamedTemporaryFile() as file:
    out = library.fopen(file.name.encode(), b"w")
    library.malloc_info(0, ctypes.c_void_p(out))
    library.fclose(ctypes.c_void_p(out))
    print(file.read().count(b"<heap nr="))
"""


@only_glibc
def test_threads_share_few_heaps() -> None:
    ran = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=True)
    assert 1 <= int(ran.stdout) <= HEAPS


@only_glibc
def test_free_blocks_below_one_in_use_go_back_to_the_system() -> None:
    # Blocks too small for a mapping of their own, as SQLite's pages are.
    pages = [bytes(4096) for _ in range(20_000)]
    last = pages[-1]
    before = resident()
    del pages[:-1]
    give_back()
    assert resident() < before - 40 * MB
    assert last == bytes(4096)
