"""What the default model costs: CPU time to the first vector, then texts per CPU second.

python bench/embedding.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

COLD = """
import time
from pathlib import Path
from mcp_memory.embedding import open_embedder
here = Path({here!r})
opened = open_embedder("local", "all-MiniLM-L6-v2", 384, models_dir=here, cache_dir=here)
opened.embed(["a first text"], "query")
import psutil
print(time.process_time() * 1000, psutil.Process().memory_info().rss / 1e6)
"""
SHORT = "The user prefers dark mode in every editor"
LONG = "memory server stores facts about people " * 33  # 200 tokens
SECONDS = 4.0  # of CPU, per measurement


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for occasion in ("first start, weights hashed", "later start"):
            milliseconds, megabytes = _cold_start(folder)
            print(f"{occasion:34} {milliseconds:7.0f} CPU ms to the first vector, {megabytes:.0f} MB")
        _throughput(Path(folder))


def _cold_start(folder: str) -> tuple[float, float]:
    """The best of three processes: other work on the machine only ever adds."""
    runs = [
        subprocess.check_output([sys.executable, "-c", COLD.format(here=folder)], text=True).split()
        for _ in range(1 if not (Path(folder) / "digests.json").exists() else 3)
    ]
    return min((float(milliseconds), float(megabytes)) for milliseconds, megabytes in runs)


def _throughput(folder: Path) -> None:
    from mcp_memory.embedding import NoModel, open_embedder

    embedder = open_embedder("local", "all-MiniLM-L6-v2", 384, models_dir=folder, cache_dir=folder)
    if isinstance(embedder, NoModel):
        sys.exit(embedder.reason)
    embedder.embed([LONG], "passage")
    for what, text, count in (
        ("short, one at a time", SHORT, 1),
        ("short, 32 at a time", SHORT, 32),
        ("200 tokens, one at a time", LONG, 1),
        ("200 tokens, 32 at a time", LONG, 32),
    ):
        done, started, began = 0, time.process_time(), time.perf_counter()
        while time.process_time() - started < SECONDS:
            embedder.embed([text] * count, "passage")
            done += count
        spent, passed = time.process_time() - started, time.perf_counter() - began
        print(f"{what:34} {done / spent:7.1f} texts per CPU second, {passed / done * 1000:.1f} ms each")


if __name__ == "__main__":
    main()
