"""Normalisation, and what every text function costs as its text grows."""

from __future__ import annotations

import sys
import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.capture.speech import sentences, spoken
from mcp_memory.ranking.routing import strategy_for
from mcp_memory.text.containment import containment
from mcp_memory.text.fingerprint import fingerprint
from mcp_memory.text.graph_lines import parse
from mcp_memory.text.normalization import normalized
from mcp_memory.text.preview import shortened
from mcp_memory.text.sameness import differences
from mcp_memory.text.secrets import redacted
from mcp_memory.text.snapshot import cost
from mcp_memory.text.unicode_forms import _MARK_CODES, MOST_MARKS, Form, _is_mark, normalised_form
from mcp_memory.text.words import folded, plain_words, query_terms, tokens


def test_every_mark_is_known() -> None:
    others = (code for code in range(sys.maxunicode + 1) if code not in _MARK_CODES)
    assert not [hex(code) for code in others if _is_mark(chr(code))]


@given(st.text(max_size=60), st.sampled_from(["NFC", "NFKD"]))
def test_ordinary_text_is_normalised_as_ever(text: str, form: Form) -> None:
    if not any(_is_mark(character) for character in text):
        assert normalised_form(form, text) == unicodedata.normalize(form, text)


def test_a_run_of_marks_is_cut() -> None:
    piled = "a" + "\u0301\u0327" * 1_000 + "b"
    decomposed = normalised_form("NFKD", piled)
    assert sum(map(bool, map(unicodedata.combining, decomposed))) == MOST_MARKS
    assert decomposed[0] + decomposed[-1] == "ab"


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "tokens": tokens,
    "query_terms": query_terms,
    "plain_words": plain_words,
    "folded": folded,
    "fingerprint": fingerprint,
    "normalized": normalized,
    "shortened": shortened,
    "cost": cost,
    "parse": parse,
    "containment": lambda text: containment(text, text[::-1]),
    "differences": lambda text: differences(text, text + " not"),
    "redacted": redacted,
    "spoken": spoken,
    "sentences": sentences,
    "strategy_for": lambda text: strategy_for(text, 10),
}
PATTERNS = {
    "marks": "\u0301\u0327",
    "words": "ab cd ",
    "one word": "a",
    "blanks": " ",
    "lines": "\n",
    "quotes": "\"'`",
    "digits": "12.34-",
    "brackets": "<(",
    "Han": "\u6c49\u5b57",
    "dots": "...",
    "dashes": "a-b_",
    "angles": "<a>",
}
SHORT = 3_000
TWICE_TWICE = 4


def seconds(call: Callable[[str], object], text: str) -> float:
    """Of CPU, the least of three runs."""
    taken = []
    for _ in range(3):
        begun = time.process_time()
        call(text)
        taken.append(time.process_time() - begun)
    return min(taken)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_cost_of_a_text_grows_with_its_length_and_no_faster(name: str, pattern: str) -> None:
    """Four times the text takes four times as long; sixteen times would be quadratic."""
    repeated = "a" + PATTERNS[pattern] * (SHORT // len(PATTERNS[pattern]))
    short, long = seconds(FUNCTIONS[name], repeated), seconds(FUNCTIONS[name], repeated * TWICE_TWICE)
    assert long < 0.01 or long < short * 2.5 * TWICE_TWICE
