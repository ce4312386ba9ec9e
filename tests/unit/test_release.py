"""The changelog is checked against the version."""

from __future__ import annotations

import pytest
from tools.release import complaint

RELEASED = "# Changelog\n\n## 1.2.0 (2026-01-31)\n\n- x\n\n## 1.1.0 (2025-12-01)\n"
GROWING = RELEASED.replace("## 1.2.0", "## Unreleased\n\n- y\n\n## 1.2.0")


@pytest.mark.parametrize(("changelog", "tag"), [(RELEASED, None), (RELEASED, "1.2.0"), (GROWING, None)])
def test_a_changelog_that_fits_the_version_is_fine(changelog: str, tag: str | None) -> None:
    assert complaint("1.2.0", changelog, tag) is None


@pytest.mark.parametrize(
    ("version", "changelog", "tag", "wrong"),
    [
        ("1.3.0", RELEASED, None, "no section for 1.3.0"),
        ("1.2.0", RELEASED, "1.3.0", "the tag says 1.3.0"),
        ("1.2.0", RELEASED.replace(" (2026-01-31)", ""), "1.2.0", "has no date"),
        ("1.2.0", RELEASED.replace("(2026-01-31)", "(soon)"), None, "no heading of a release"),
        ("1.3.0", GROWING, "1.3.0", "no section for 1.3.0"),
    ],
)
def test_what_does_not_fit_is_said(version: str, changelog: str, tag: str | None, wrong: str) -> None:
    assert wrong in (complaint(version, changelog, tag) or "")
