"""Changes to settings files: shown first, backed up, and reverted exactly."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Edit = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class FileEdit:
    """How to change a file, and how to revert that if the file was changed since."""

    path: Path
    put: Edit
    """Adds our entries to the text of the file; a missing file is empty text."""
    remove: Edit


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after; None where there is none."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def is_real(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """A line-by-line diff of the change."""
        lines = difflib.unified_diff(
            _lines(self.before), _lines(self.after), f"{self.path} (now)", str(self.path), n=2
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


class Ledger:
    """Keeps, in a folder of ours, each file before and after our change."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "files.json"

    def put(self, edit: FileEdit) -> FileChange:
        before = _read(edit.path)
        after = edit.put(_decoded(before)).encode("utf-8", "surrogateescape")
        return FileChange(edit.path, before, after or None)

    def taken_back(self, edit: FileEdit) -> FileChange:
        """The original file if it was not changed since; else the present one without our entries."""
        now = _read(edit.path)
        known = self._known().get(str(edit.path))
        if now is None:
            return FileChange(edit.path, None, None)
        if known and known["written"] == _digest(now):
            backup = known["backup"]
            return FileChange(edit.path, now, (self._folder / backup).read_bytes() if backup else None)
        left = edit.remove(_decoded(now)).encode("utf-8", "surrogateescape")
        nothing_left = not left.strip() or left.strip() == b"{}"
        return FileChange(edit.path, now, None if nothing_left and known and not known["backup"] else left)

    def is_made(self, edit: FileEdit) -> bool:
        """Whether the file holds entries of ours."""
        now = _read(edit.path)
        return now is not None and edit.remove(_decoded(now)) != _decoded(now)

    def make(self, change: FileChange) -> None:
        """Write the file; its original is kept."""
        known = self._known()
        entry = known.get(str(change.path)) or {
            "backup": self._kept(change),
            "folders": _missing(change.path),
        }
        _write(change.path, change.after)
        self._note({**known, str(change.path): {**entry, "written": _digest(change.after or b"")}})

    def undo(self, change: FileChange) -> None:
        """Restore the file, and drop the record."""
        known = self._known()
        entry: Mapping[str, Any] = known.pop(str(change.path), {})
        if change.is_real:
            _write(change.path, change.after)
        for folder in entry.get("folders", []):
            _remove_if_empty(Path(folder))
        if backup := entry.get("backup"):
            (self._folder / backup).unlink(missing_ok=True)
        self._note(known)

    def _kept(self, change: FileChange) -> str | None:
        if change.before is None:
            return None
        name = f"{_digest(os.fsencode(change.path))[:12]}-{change.path.name}"
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_bytes(change.before)
        return name

    def _known(self) -> dict[str, Any]:
        try:
            return dict(json.loads(self._file.read_text("utf-8")))
        except (OSError, ValueError):
            return {}

    def _note(self, known: Mapping[str, Any]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        _write(self._file, json.dumps(known, indent=2).encode())


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write(path: Path, content: bytes | None) -> None:
    """Replace a file atomically, keeping its permissions; a symbolic link stays one."""
    path = path.resolve()
    if content is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.mcp-memory-{os.getpid()}")
    beside.write_bytes(content)
    if path.exists():
        beside.chmod(path.stat().st_mode & 0o777)
    beside.replace(path)


def _missing(path: Path) -> list[str]:
    """Missing folders of the file, innermost first."""
    return [str(folder) for folder in path.parents if not folder.exists()]


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _decoded(content: bytes | None) -> str:
    return (content or b"").decode("utf-8-sig", "surrogateescape")


def _lines(content: bytes | None) -> list[str]:
    return _decoded(content).splitlines(keepends=True)
