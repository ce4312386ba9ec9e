"""Detects whether consecutive memories form a conversation, and shares scores between its turns.

A turn of a conversation is a fragment: an answer often holds no word of the question that it answers,
because the turn before it does. Unconnected facts that were stored one after the other share nothing. Which
of the two a store holds is measured on the best candidates of each search: neighbours in a conversation lie
closer together than other candidates, and they are short.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

FRAGMENT = 200
"""Bytes up to which a text counts as a fragment; longer ones are increasingly self-contained."""

UNCONNECTED, CONNECTED = 0.03, 0.14
"""Mean cosine of neighbours, around the candidates' centre: of facts in any order, and of conversations."""

FAINT = 0.1
"""Below this the surroundings are not worth reading."""

BEFORE, AFTER, FURTHER = 0.7, 0.3, 0.3
"""Weight of a word in the memory before, the one after, and two steps away."""

MEANING = 0.3
"""How far the best neighbour's cosine raises a memory's own."""

_K1, _B = 1.2, 0.75  # BM25, as both databases reckon
_RIDGE = 0.05  # keeps the weights of words that always occur together from running away

Neighbours = tuple[int | None, int | None]
"""The memory right before and the one right after, where they are of one occasion."""


def connectedness(
    around: Mapping[int, Neighbours], vectors: Mapping[int, bytes], sizes: Sequence[int]
) -> float:
    """From 0, unconnected facts or long texts, to 1, short turns of a conversation."""
    if not sizes:
        return 0.0
    coherence = _coherence(list(_pairs(around, vectors)), vectors)
    spread = (coherence - UNCONNECTED) / (CONNECTED - UNCONNECTED)
    strength = min(1.0, max(0.0, spread)) * min(1.0, FRAGMENT / max(1, median(sizes))) ** 2
    return strength if strength >= FAINT else 0.0


def _pairs(around: Mapping[int, Neighbours], vectors: Mapping[int, bytes]) -> Iterator[tuple[int, int]]:
    """Those one step apart, and those two steps apart, in a dialogue by the same speaker."""
    for seq, (before, after) in around.items():
        for a, b in ((seq, before), (seq, after), (before, after)):
            if a is not None and b is not None and a in vectors and b in vectors:
                yield a, b


def _coherence(pairs: Sequence[tuple[int, int]], vectors: Mapping[int, bytes]) -> float:
    """The mean cosine of pairs around the common centre; 0 without pairs."""
    if not pairs:
        return 0.0
    import numpy as np

    keys = list(dict.fromkeys(key for pair in pairs for key in pair))
    rows = np.stack([np.frombuffer(vectors[key], "<f4") for key in keys])
    rows = rows - rows.mean(axis=0)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    places = {key: place for place, key in enumerate(keys)}
    a, b = (rows[[places[pair[side]] for pair in pairs]] for side in (0, 1))
    return float((a * b).sum(axis=1).mean())


def saturation(tokens: Sequence[str], terms: Sequence[str], average_length: float) -> list[float]:
    """BM25's term frequency part for each term of a text."""
    dampening = _K1 * (1 - _B + _B * len(tokens) / max(1.0, average_length))
    counts = [tokens.count(term) for term in terms]
    return [count * (_K1 + 1) / (count + dampening) for count in counts]


def term_weights(
    counted: Mapping[int, Sequence[float]], scores: Mapping[int, float], terms: Sequence[str]
) -> list[float]:
    """Inverse document frequencies, solved from texts with known BM25 scores."""
    import numpy as np

    known = [seq for seq in counted if scores.get(seq, 0.0) > 0]
    if not known or not terms:
        return [0.0] * len(terms)
    x = np.array([counted[seq] for seq in known])
    y = np.array([scores[seq] for seq in known])
    weights = np.linalg.solve(x.T @ x + _RIDGE * np.eye(len(terms)), x.T @ y)
    return [max(0.0, float(weight)) for weight in weights]


def words_in_context(
    seqs: Sequence[int],
    counted: Mapping[int, Sequence[float]],
    weights: Sequence[float],
    around: Mapping[int, Neighbours],
    strength: float,
) -> dict[int, float]:
    """BM25 of each memory, including words of its surroundings with a lower weight."""

    def score(seq: int) -> float:
        best = list(counted[seq])
        for key, share in _lenders(seq, around):
            if key in counted:
                best = [
                    max(own, share * strength * lent) for own, lent in zip(best, counted[key], strict=True)
                ]
        return sum(weight * count for weight, count in zip(weights, best, strict=True))

    return {seq: score(seq) for seq in seqs}


def _lenders(seq: int, around: Mapping[int, Neighbours]) -> Iterator[tuple[int, float]]:
    """The neighbours, one and two steps away, with the weights of their words."""
    before, after = around.get(seq, (None, None))
    if before is not None:
        yield before, BEFORE
        if (earlier := around.get(before, (None, None))[0]) is not None:
            yield earlier, FURTHER
    if after is not None:
        yield after, AFTER
        if (later := around.get(after, (None, None))[1]) is not None:
            yield later, FURTHER


def meaning_in_context(
    similarity: Mapping[int, float], around: Mapping[int, Neighbours], strength: float
) -> dict[int, float]:
    """Each similarity, raised towards that of the best neighbour."""

    def raised(seq: int) -> float:
        best = max((similarity.get(key, 0.0) for key in around[seq] if key is not None), default=0.0)
        own = similarity.get(seq, 0.0)
        return max(own, own + MEANING * strength * (best - own))

    return {seq: raised(seq) for seq in around}
