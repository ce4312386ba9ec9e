"""Detects whether consecutive memories form a conversation, and shares scores between its turns.

A turn of a conversation is a fragment: an answer often holds no word of the question that it answers,
because the turn before it does. Unconnected facts that were stored one after the other share nothing. Which
of the two a store holds is measured on the best candidates of each search: neighbours in a conversation lie
closer together than other candidates, and they are short.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from math import log1p
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]

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

NEAR_WORDS = 1.2
"""Weight of a word near in meaning, before its closeness and rarity."""

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
    rows = np.frombuffer(b"".join(vectors[key] for key in keys), "<f4").reshape(len(keys), -1)
    rows = rows - rows.mean(axis=0)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    places = {key: place for place, key in enumerate(keys)}
    a, b = (rows[[places[pair[side]] for pair in pairs]] for side in (0, 1))
    return float((a * b).sum(axis=1).mean())


def saturation(texts: Sequence[Sequence[str]], terms: Sequence[str]) -> Matrix:
    """BM25's term frequency part: a row for each text, a column for each term."""
    import numpy as np

    sought, none = frozenset(terms), [0] * len(terms)
    counts: Matrix = np.array(
        [none if sought.isdisjoint(words) else [words.count(term) for term in terms] for words in texts],
        float,
    )
    lengths = np.array([[len(words)] for words in texts], float)
    dampening = _K1 * (1 - _B + _B * lengths / max(1.0, lengths.mean()))
    saturated: Matrix = counts * (_K1 + 1) / (counts + dampening)
    return saturated


def term_weights(counted: Matrix, scores: Sequence[float]) -> Matrix:
    """Inverse document frequencies, solved from texts with known BM25 scores; 0 is an unknown score."""
    import numpy as np

    y = np.array(scores, float)
    x = counted[y > 0]
    if not x.size:
        return np.zeros(counted.shape[1])
    weights: Matrix = np.linalg.solve(x.T @ x + _RIDGE * np.eye(x.shape[1]), x.T @ y[y > 0])
    return weights.clip(0.0)


def words_in_context(
    seqs: Sequence[int], worth: Matrix, around: Mapping[int, Neighbours], strength: float
) -> dict[int, float]:
    """BM25 of each memory, including words of its surroundings with a lower weight.

    `worth` says what each term is worth in each of the memories `seqs`.
    """
    import numpy as np

    places = {seq: place for place, seq in enumerate(seqs)}
    rows = np.vstack([worth, np.zeros(worth.shape[1])])  # the last stands for a memory that is missing
    read = [seq for seq in around if seq in places]
    best = rows[[places[seq] for seq in read]]
    lenders = zip(*(_lenders(seq, around) for seq in read), strict=True)
    for share, lending in zip((BEFORE, AFTER, FURTHER, FURTHER), lenders, strict=False):
        lent = rows[[places.get(seq, -1) if seq is not None else -1 for seq in lending]]
        best = np.maximum(best, share * strength * lent)
    return dict(zip(read, best.sum(axis=1).tolist(), strict=True))


def _lenders(
    seq: int, around: Mapping[int, Neighbours]
) -> tuple[int | None, int | None, int | None, int | None]:
    """The memories before and after, and those two steps before and after."""
    before, after = around[seq]
    alone = (None, None)
    return before, after, around.get(before or 0, alone)[0], around.get(after or 0, alone)[1]


def with_near_words(
    worth: Matrix,
    texts: Sequence[Set[str]],
    near: Sequence[Mapping[str, float]],
    weights: Matrix,
    share: float,
) -> Matrix:
    """What each term is worth in each text if a word near to it counts too, by closeness and rarity.

    A near word never counts more than the term itself, where any text has that.
    """
    import numpy as np

    sought = {word for words in near for word in words}
    held = [sought & words for words in texts]
    counts = Counter(word for words in held for word in words)
    rarity = {word: log1p((len(texts) - count + 0.5) / (count + 0.5)) for word, count in counts.items()}
    rows = [
        [max((words[word] * rarity[word] for word in hits if word in words), default=0.0) for words in near]
        if hits
        else [0.0] * len(near)
        for hits in held
    ]
    found = NEAR_WORDS * share * np.array(rows, float)
    return np.maximum(worth, np.where(weights > 0, np.minimum(found, weights), found))


def meaning_in_context(
    similarity: Mapping[int, float], around: Mapping[int, Neighbours], strength: float
) -> dict[int, float]:
    """Each similarity, raised towards that of the best neighbour."""

    def raised(seq: int) -> float:
        best = max((similarity.get(key, 0.0) for key in around[seq] if key is not None), default=0.0)
        own = similarity.get(seq, 0.0)
        return max(own, own + MEANING * strength * (best - own))

    return {seq: raised(seq) for seq in around}
