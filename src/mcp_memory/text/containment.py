"""Duplicate texts: by meaning, or because one contains the other."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COSINE_THRESHOLD = 0.85
CONTAINMENT_THRESHOLD = 0.7
LENGTH_RATIO = 2.0  # in characters; texts of like length are never judged by containment


@dataclass(frozen=True)
class Match:
    """Two texts that look like duplicates, and why."""

    similarity_score: float
    match_type: Literal["cosine", "containment"]


@dataclass(frozen=True)
class DuplicatePair:
    """A match between the texts at two positions."""

    a: int
    b: int
    match: Match


def containment(short: str, long: str) -> float:
    """The share of the short text's words in the long one; 1 if the short one has none."""
    return _contained(_word_set(short), _word_set(long))


def duplicate(
    a: str,
    b: str,
    cosine: float | None,
    threshold: float = COSINE_THRESHOLD,
    containment_threshold: float = CONTAINMENT_THRESHOLD,
) -> Match | None:
    """How two texts are duplicates, if they are; without a cosine, only by containment."""
    if cosine is not None and cosine >= threshold:
        return Match(cosine, "cosine")
    short, long = sorted((a, b), key=len)
    if len(long) < LENGTH_RATIO * max(len(short), 1):
        return None
    share = containment(short, long)
    return Match(share, "containment") if share >= containment_threshold else None


def duplicate_pairs(
    texts: Sequence[str],
    vectors: NDArray[np.float32] | None,
    threshold: float = COSINE_THRESHOLD,
    containment_threshold: float = CONTAINMENT_THRESHOLD,
) -> list[DuplicatePair]:
    """Every pair of duplicates, each once, in the order of the texts; `vectors` have length one."""
    by_cosine = {} if vectors is None else _close_pairs(vectors, threshold)
    by_containment = _contained_pairs(texts, containment_threshold)
    return [DuplicatePair(*pair, match) for pair, match in sorted((by_containment | by_cosine).items())]


def clusters(pairs: Iterable[DuplicatePair]) -> list[list[int]]:
    """Connected components of the pairs, as positions in order."""
    parent: dict[int, int] = {}

    def root(position: int) -> int:
        parent.setdefault(position, position)
        while parent[position] != position:
            parent[position] = parent[parent[position]]
            position = parent[position]
        return position

    for pair in pairs:
        low, high = sorted((root(pair.a), root(pair.b)))
        parent[high] = low
    groups: dict[int, list[int]] = {}
    for position in sorted(parent):
        groups.setdefault(root(position), []).append(position)
    return list(groups.values())


def _close_pairs(vectors: NDArray[np.float32], threshold: float) -> dict[tuple[int, int], Match]:
    import numpy as np

    cosines = vectors @ vectors.T
    rows, columns = np.nonzero(np.triu(cosines >= threshold, k=1))
    return {
        (int(a), int(b)): Match(float(cosines[a, b]), "cosine") for a, b in zip(rows, columns, strict=True)
    }


def _contained_pairs(texts: Sequence[str], threshold: float) -> dict[tuple[int, int], Match]:
    sets = [_word_set(text) for text in texts]
    by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    found = {}
    for place, short in enumerate(by_length):
        least = LENGTH_RATIO * max(len(texts[short]), 1)
        for long in reversed(by_length[place + 1 :]):
            if len(texts[long]) < least:
                break
            share = _contained(sets[short], sets[long])
            if share >= threshold:
                found[min(short, long), max(short, long)] = Match(share, "containment")
    return found


def _contained(short: frozenset[str], long: frozenset[str]) -> float:
    return len(short & long) / len(short) if short else 1.0


def _word_set(text: str) -> frozenset[str]:
    words = (word.strip(string.punctuation) for word in text.casefold().split())
    return frozenset(word for word in words if word)
