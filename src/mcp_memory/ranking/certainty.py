"""Certainty that a memory is relevant, on a scale that is comparable between prompts.

A score that is relative to the best match cannot tell that nothing matches. This one can: it is calibrated so
that memories are injected only into prompts that need them (`docs/arriving.md` has the measured curve).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import log, log10

FLOOR = 0.06
"""Minimum certainty of the best memory for an injection."""

GENERAL = 0.3
"""Added to the floor for a general question, such as "how do I reverse a string?"."""

OWN = 0.08
"""Taken from the floor for a prompt that speaks of the person or their group ("my", "our", "we")."""

COMPANY = 0.35
"""How far below the floor a memory may be that is injected along with the best one."""

WORDS_FLOOR = 0.55
"""The same as `FLOOR` where there is no model: the share of the prompt's words, by weight."""

FEWEST_TEXTS = 50
"""Assumed size of the corpus: a few texts alone do not show which words are common."""

_MEANING = 0.8
_WORDS = 0.5
_CROWD = 0.2
_FEWEST = 10


def rarity(words: Sequence[str], texts: Sequence[Collection[str]]) -> dict[str, float]:
    """The weight of each word: higher, the fewer texts contain it."""
    counts = {word: sum(word in text for text in texts) for word in words}
    size = max(FEWEST_TEXTS, len(texts))
    return {word: log(1 + (size - n + 0.5) / (n + 0.5)) for word, n in counts.items()}


def coverage(text: Collection[str], weights: Mapping[str, float]) -> float:
    """The share of the prompt's words, by weight, that a text holds.

    >>> coverage({"deploy", "friday"}, {"deploy": 1.0, "monday": 3.0})
    0.25
    """
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in text) / total if total else 0.0


def certainty(meaning: float, covered: float, memory_count: int) -> float:
    """From how close in meaning a memory is (0: unrelated, 1: the same) and how much of the prompt it holds.

    Among many memories some are close to any prompt by chance, so closeness counts less the more there are.
    """
    return _MEANING * meaning + 0.2 + _WORDS * covered - _CROWD * log10(max(_FEWEST, memory_count))


def least_certainty(floor: float, *, is_general: bool, is_own: bool) -> float:
    """The certainty that the best memory must reach for a prompt of this kind.

    >>> least_certainty(0.1, is_general=False, is_own=False)
    0.1
    """
    if is_general:
        return floor + GENERAL
    return floor - OWN if is_own else floor
