"""Verifies the file of a backup."""

from pathlib import Path

from mcp_memory.errors import Unavailable
from mcp_memory.storage.sqlite.diagnostics import examine


def verify_backup(path: Path) -> None:
    """Raises `Unavailable` unless the file is a sound database of this program.

    The copy was made page by page, so its pages are what can be wrong with it; `doctor` reads every row. That
    takes minutes for 100,000 entities, while a backup is made every day beside people's work.
    """
    checks = ("schema", "integrity", "references", "database")
    found = examine(path, structure_only=True)
    wrong = [one for one in found if not one.is_well and one.subject in checks]
    if wrong or not path.exists():
        raise Unavailable(f"the backup {path} is not sound: {'; '.join(one.detail for one in wrong)}")
