"""Detects whether a text is in English, by its script and its function words."""

import re
import unicodedata

from mcp_memory.text.stopwords import ENGLISH, NOT_ENGLISH
from mcp_memory.text.words import plain_words

_OPENING = re.compile("[\u00bf\u00a1]")  # the signs that open a question or a call in Spanish


def is_foreign(text: str) -> bool:
    """Whether a text is clearly not in English; unclear ones count as English."""
    letters = [character for character in text if character.isalpha()]
    latin = sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    if letters and latin < len(letters) / 2:
        return True
    words = plain_words(text)
    english = sum(word in ENGLISH for word in words)
    others = sum(word in NOT_ENGLISH for word in words)
    return others > english or (others == english and _OPENING.search(text) is not None)
