"""The project of a folder: its Git remote, else its root folder."""

from __future__ import annotations

import configparser
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

OPT_OUT = ".mcp-memory.toml"
"""In a project's root: `capture = false` and `recall = false` keep both away; `project = "name"` names it."""

LONGEST_WISHES = 64 * 1024
_OPTED_OUT = {"capture": False, "recall": False}

_REMOTE = re.compile(
    r"^(?:[a-z+]+://)?(?:[^@/]+@)?(?P<host>[^/:]+)(?::\d+(?=/))?[/:](?P<path>.+?)(?:\.git)?/?$", re.I
)


@dataclass(frozen=True, slots=True)
class Project:
    key: str = ""
    """The project's key, stored with memories; empty outside a project, such as in a home folder."""
    root: str = ""
    capture: bool = True
    recall: bool = True


def project_of(folder: str) -> Project:
    """The project of a folder; none if the folder is missing or unreadable."""
    try:
        start = Path(folder)
        if not start.is_absolute() or not start.is_dir():
            return Project()
        root = _root(start)
        wishes = _wishes(root)
        key = _wished_name(wishes) or _remote(root) or ("" if _is_nowhere(root) else str(root))
    except (OSError, RuntimeError, ValueError):
        return Project()
    return Project(
        key=key[:500],
        root=str(root),
        capture=wishes.get("capture", True) is not False,
        recall=wishes.get("recall", True) is not False,
    )


def remote_key(url: str) -> str:
    """A remote without scheme, user and ending, so that every way of cloning gives the same.

    >>> remote_key("git@github.com:acme/shop.git"), remote_key("https://me:secret@github.com/acme/shop")
    ('github.com/acme/shop', 'github.com/acme/shop')
    """
    found = _REMOTE.match(url.strip())
    return f"{found['host'].lower()}/{found['path'].strip('/')}" if found else ""


def _root(start: Path) -> Path:
    for folder in (start, *start.parents):
        if (folder / ".git").exists() or (folder / OPT_OUT).exists():
            return folder
    return start


def _remote(root: Path) -> str:
    config = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    file = _git_folder(root) / "config"
    if not file.is_file():
        return ""
    try:
        config.read_string(re.sub(r"^[ \t]+", "", file.read_text("utf-8", "replace"), flags=re.M))
    except configparser.Error:
        return ""
    remotes = [name for name in config.sections() if name.startswith("remote ")]
    chosen = 'remote "origin"' if 'remote "origin"' in remotes else next(iter(remotes), "")
    return remote_key(config.get(chosen, "url", fallback="") or "") if chosen else ""


def _git_folder(root: Path) -> Path:
    """Where Git keeps the project's settings; a worktree only names the place."""
    git = root / ".git"
    if not git.is_file():
        return git
    named = git.read_text("utf-8", "replace").partition("gitdir:")[2].strip()
    folder = root / named
    common = folder / "commondir"
    return (folder / common.read_text("utf-8").strip()) if common.is_file() else folder


def _wishes(root: Path) -> dict[str, object]:
    file = root / OPT_OUT
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > LONGEST_WISHES:
            return dict(_OPTED_OUT)  # a pipe, say, which would never end
        return tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        # A file that cannot be parsed counts as an opt-out, which is the safe reading.
        return dict(_OPTED_OUT)


def _wished_name(wishes: Mapping[str, object]) -> str:
    """The name that a project gives itself. It comes with the repository, so it must not be that of another
    one: those of remotes and folders have slashes."""
    name = wishes.get("project")
    return name if isinstance(name, str) and not set(name) & set("/\\") else ""


def _is_nowhere(root: Path) -> bool:
    return root == Path.home() or root == Path(root.anchor)
