"""Checks that the version, the changelog and, for a release, the tag agree.

python tools/release.py            the changelog has a section for the version, or for what comes after it
python tools/release.py 1.2.3      the version is this one, and its section carries a date
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNRELEASED = "Unreleased"
HEADING = re.compile(r"^## (\S+)(?: \((\d{4}-\d{2}-\d{2})\))?$", re.MULTILINE)


def complaint(version: str, changelog: str, tag: str | None = None) -> str | None:
    """What is wrong, or nothing."""
    sections = HEADING.findall(changelog)
    unheaded = [line for line in re.findall(r"^## .*$", changelog, re.MULTILINE) if not HEADING.match(line)]
    if unheaded:
        return (
            f"{unheaded[0]!r} is no heading of a release: write '## 1.2.3 (2026-01-31)' or '## {UNRELEASED}'"
        )
    if tag is not None and tag != version:
        return f"the tag says {tag}, the program {version}"
    released = [(name, date) for name, date in sections if name != UNRELEASED]
    if tag is None and sections and sections[0][0] == UNRELEASED:
        return None
    if not released or released[0][0] != version:
        return f"CHANGELOG.md has no section for {version} at its top"
    return None if released[0][1] else f"the section of {version} in CHANGELOG.md has no date"


def version() -> str:
    text = (ROOT / "src/mcp_memory/__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if found is None:
        raise SystemExit("src/mcp_memory/__init__.py has no __version__")
    return found[1]


def main() -> int:
    tag = sys.argv[1] if len(sys.argv) > 1 else None
    wrong = complaint(version(), (ROOT / "CHANGELOG.md").read_text("utf-8"), tag)
    if wrong:
        print(wrong, file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
