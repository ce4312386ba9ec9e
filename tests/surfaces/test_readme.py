"""What the README shows is run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from mcp_memory.embedding import Embedder

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


def test_the_example_for_python_prints_what_was_remembered(tmp_path: Path, minilm: Embedder) -> None:
    """`minilm` is a parameter because it skips, with the reason, where there is no model."""
    [example] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    printed = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
    ).stdout
    assert printed.rstrip().endswith("Rosa waters the tomatoes every evening")
