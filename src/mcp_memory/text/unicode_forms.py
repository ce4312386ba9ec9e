"""Unicode normalisation in linear time.

Normalising sorts each run of combining marks, in quadratic time: 50 kB of accents on one letter would hold
the interpreter for seconds. No language writes more than a few marks on a letter, so longer runs are cut
before, at the limit of the Stream-Safe Text Format (UAX #15, section 13).
"""

import re
import unicodedata
from functools import cache
from typing import Literal

MOST_MARKS = 30
_MARK_CODES = range(0x300, 0x1F000)
"""All combining marks of Unicode; a test checks that none is missing."""

Form = Literal["NFC", "NFKD"]


def normalised_form(form: Form, text: str) -> str:
    """The text in a normalisation form, with at most `MOST_MARKS` combining marks in a row."""
    if text.isascii():
        return text
    return unicodedata.normalize(form, _long_runs().sub(r"\1", text))


@cache
def _long_runs() -> re.Pattern[str]:
    marks = "".join(filter(_is_mark, map(chr, _MARK_CODES)))
    return re.compile(f"([{marks}]{{{MOST_MARKS}}})[{marks}]+")


def _is_mark(character: str) -> bool:
    """Whether it joins the run of marks before it, by itself or once it is decomposed."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0
