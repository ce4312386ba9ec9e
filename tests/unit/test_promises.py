"""Each test that the pages of promises name exists."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / name for name in ("reliability.md", "security.md")]

_NAMED = re.compile(r"`((?:tests/[\w/]+\.py|test_\w+\.py)?(?:::)?(?:test_\w+)?)`")


@cache
def written_tests() -> dict[str, frozenset[str]]:
    """By path, the names of the tests."""
    return {
        str(file.relative_to(ROOT)): frozenset(re.findall(r"def (test_\w+)", file.read_text("utf-8")))
        for file in (ROOT / "tests").rglob("test_*.py")
    }


def named_in(page: Path) -> list[str]:
    return [name for name in _NAMED.findall(page.read_text("utf-8")) if "test_" in name]


def exists(name: str) -> bool:
    path, _, test = name.partition("::") if ".py" in name else ("", "", name)
    files = [found for file, found in written_tests().items() if file.endswith(path)]
    return any(not test or test in found for found in files)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_is_named_exists(page: Path) -> None:
    named = named_in(page)
    assert len(named) > 20
    assert [name for name in named if not exists(name)] == []


def test_every_numbered_point_of_the_hostile_test_names_one() -> None:
    rows = re.findall(r"^\| (\d+) .*\| (.+) \|$", PAGES[0].read_text("utf-8"), flags=re.MULTILINE)
    assert {int(number) for number, _ in rows} >= set(range(1, 14))
    assert all("test_" in named for _, named in rows)


def test_a_name_that_nobody_has_is_noticed() -> None:
    assert not exists("test_that_nobody_wrote")
    assert not exists("tests/unit/test_promises.py::test_that_nobody_wrote")
