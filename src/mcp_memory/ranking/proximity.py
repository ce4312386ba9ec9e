"""How close together, and in which order, a text holds the words of a query."""

from collections.abc import Sequence
from itertools import pairwise

NEAR = 0.2
"""Bonus on a keyword score for words side by side in the query's order."""

QUOTED = 0.75
"""Bonus for an exact match of a quoted phrase."""

WHOLE = 0.4
"""Bonus of a text that has all words of an unquoted query one after the other."""


def proximity(tokens: Sequence[str], terms: Sequence[str]) -> float:
    """0..1: how many successive terms follow each other in the text, and how closely."""
    if len(terms) < 2:
        return 0.0
    places: dict[str, list[int]] = {term: [] for term in terms}
    held = places.keys()
    if held.isdisjoint(tokens):
        return 0.0
    for place, token in enumerate(tokens):
        if token in held:
            places[token].append(place)
    close = sum(_closeness(places[a], places[b]) for a, b in pairwise(terms) if places[a] and places[b])
    return close / (len(terms) - 1)


def holds_phrase(tokens: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether the text has these words one after the other."""
    length = len(phrase)
    return length > 0 and any(
        list(tokens[start : start + length]) == list(phrase)
        for start in range(len(tokens) - length + 1)
        if tokens[start] == phrase[0]
    )


def _closeness(first: Sequence[int], second: Sequence[int]) -> float:
    """1 where the second follows the first at once, a half with one word between or in the other order."""
    gaps = [abs(b - a - 1) for a in first for b in second if a != b]
    return 1 / (1 + min(gaps)) if gaps else 0.0
