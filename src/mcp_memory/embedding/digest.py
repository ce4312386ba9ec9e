"""SHA-256 of large files, cached until a file changes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from pathlib import Path


def sha256_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remembered_sha256(file: Path, cache_dir: Path) -> str:
    """Like `sha256_of`, cached by the file's size and modification time."""
    status = file.stat()
    seen = [status.st_size, status.st_mtime_ns]
    notes = cache_dir / "digests.json"
    known = _read(notes)
    match known.get(str(file)):
        case [size, changed_at, str(digest)] if [size, changed_at] == seen:
            return digest
    digest = sha256_of(file)
    _write(notes, {**known, str(file): [*seen, digest]})
    return digest


def _read(notes: Path) -> dict[str, object]:
    try:
        known = json.loads(notes.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write(notes: Path, known: dict[str, object]) -> None:
    """Write the cache for the next start. A failure only costs time."""
    with contextlib.suppress(OSError):
        notes.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=notes.parent, encoding="utf-8", delete=False) as draft:
            json.dump(known, draft)
        Path(draft.name).replace(notes)
