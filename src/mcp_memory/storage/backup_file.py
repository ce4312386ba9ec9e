"""Verifies the file of a backup."""

from pathlib import Path

from mcp_memory.errors import Unavailable
from mcp_memory.storage.sqlite.diagnostics import examine


def verify_backup(path: Path) -> None:
    """Raises `Unavailable` unless the file is a sound database of this program."""
    checks = ("schema", "integrity", "references", "database")
    wrong = [found for found in examine(path) if not found.is_well and found.subject in checks]
    if wrong or not path.exists():
        raise Unavailable(f"the backup {path} is not sound: {'; '.join(one.detail for one in wrong)}")
