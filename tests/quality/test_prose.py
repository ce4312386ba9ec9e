"""Prose uses the field's words: phrases that have to be decoded are not used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "bench", "tools", "docs")
SUFFIXES = (".py", ".sql", ".md")
# Written in pieces, so that this file does not match itself.
DECODED = re.compile(
    r"\b(who"
    + r"ever|tells? o"
    + r"f|told o"
    + r"f|broken o"
    + r"ff|gone on wi"
    + r"th|go(?:es)? on wi"
    + r"th|what is aw"
    + r"ay|what is go"
    + r"ne|wants? atten"
    + r"tion|there is to kn"
    + r"ow|outlives wh"
    + r"o|for wh"
    + r"o (?:asks|reads|wants|looks)|is no JS"
    + r"ON|who asks f"
    + r"or|in its bar"
    + r"est)\b",
    re.IGNORECASE,
)


def texts() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    for folder in FOLDERS:
        yield from (file for file in (ROOT / folder).rglob("*") if file.suffix in SUFFIXES)


def test_no_phrase_has_to_be_decoded() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in texts()
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if DECODED.search(line)
    ]
    assert not found, (
        "say it with the field's words: notify, resume, retry, describe, unreachable\n" + "\n".join(found)
    )


@pytest.mark.parametrize(
    "phrase", ["for who" + "ever asks", "it tells o" + "f a change", "go on wi" + "th --offset 3"]
)
def test_the_check_notices(phrase: str) -> None:
    assert DECODED.search(phrase)
