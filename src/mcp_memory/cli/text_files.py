"""Reads and writes text files named in commands, safely: a hostile repository may have prepared them."""

from __future__ import annotations

import stat
from pathlib import Path

from mcp_memory.errors import Invalid


def read_own_text(file: Path) -> str:
    """The text of a file, empty if it does not exist. Raises `Invalid` for what `write_text` must not touch.

    A link is followed within its folder only, such as from CLAUDE.md to AGENTS.md: one that a repository
    brings along could lead to any file of the user.
    """
    try:
        if file.is_symlink() and not file.resolve().is_relative_to(file.parent.resolve()):
            raise Invalid(f"{file} is a link that leads out of its folder: name the file itself")
        if not file.exists():
            return ""
        if not stat.S_ISREG(file.stat().st_mode):
            raise Invalid(f"{file} is not a file of text: name another one")
        return file.read_text("utf-8")
    except UnicodeDecodeError:
        raise Invalid(f"{file} is not UTF-8 text: name another file, or convert it") from None
    except (OSError, RuntimeError) as error:
        raise Invalid(f"{file} cannot be read: {error}") from error


def write_text(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise Invalid(f"{file} cannot be written: {error.strerror}") from error
