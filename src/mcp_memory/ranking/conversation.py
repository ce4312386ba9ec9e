"""Detects whether consecutive memories form a conversation, and shares scores between its turns.

A turn of a conversation is a fragment: an answer often holds no word of the question that it answers,
because the turn before it does. Unconnected facts that were stored one after the other share nothing. Which
of the two a store holds is measured on the best candidates of each search: neighbours in a conversation lie
closer together than other candidates, and they are short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log1p
from statistics import median
from typing import TYPE_CHECKING

from mcp_memory.ranking.unit_vectors import NeighbourRows, NeighbourVectors
from mcp_memory.ranking.wording import Wording

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

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


def connectedness(vectors: NeighbourVectors, chosen: Places, sizes: Sequence[int]) -> float:
    """From 0, unconnected facts or long texts, to 1, short turns of a conversation."""
    if not sizes:
        return 0.0
    spread = (_coherence(vectors, chosen) - UNCONNECTED) / (CONNECTED - UNCONNECTED)
    strength = min(1.0, max(0.0, spread)) * might_be_connected(sizes)
    return strength if strength >= FAINT else 0.0


def might_be_connected(sizes: Sequence[int]) -> float:
    """The most that texts of these sizes can be connected."""
    return min(1.0, FRAGMENT / max(1, median(sizes))) ** 2


def _coherence(vectors: NeighbourVectors, chosen: Places) -> float:
    """The mean cosine of neighbours around their common centre; 0 if there are none.

    Neighbours are those one step apart, and those two steps apart, in a dialogue by the same speaker.
    """
    import numpy as np

    a, b, products = map(np.concatenate, zip(*vectors.pairs_of(chosen), strict=True))
    present = vectors.known[a] & vectors.known[b]
    if not present.any():
        return 0.0
    a, b, products = a[present], b[present], products[present]
    paired = np.zeros(len(vectors.rows))
    paired[a] = paired[b] = 1.0
    centre = paired @ vectors.rows / paired.sum()
    # (x - c)(y - c), from products of which most are known before the query is.
    towards = vectors.rows @ centre
    own = centre @ centre
    lengths = np.sqrt(np.maximum(vectors.squares - 2 * towards + own, 1e-18))
    cosines = (products - towards[a] - towards[b] + own) / (lengths[a] * lengths[b])
    return float(cosines.mean())


def saturation(sizes: Matrix, counts: Matrix) -> Matrix:
    """BM25's term frequency part, from how many words each text has, and how often it has each term."""
    lengths = sizes[:, None]
    dampening = _K1 * (1 - _B + _B * lengths / max(1.0, lengths.mean()))
    saturated: Matrix = counts * (_K1 + 1) / (counts + dampening)
    return saturated


def term_weights(counted: Matrix, scores: Matrix) -> Matrix:
    """Inverse document frequencies, solved from texts with known BM25 scores; 0 is an unknown score."""
    import numpy as np

    known = scores > 0
    x = counted[known]
    if not x.size:
        return np.zeros(counted.shape[1])
    weights = np.linalg.solve(x.T @ x + _RIDGE * np.eye(x.shape[1]), x.T @ scores[known])
    return weights.astype(np.float64, copy=False).clip(0.0)


def words_in_context(worth: Matrix, turns: NeighbourRows, strength: float) -> Matrix:
    """BM25 of each turn, including words of its surroundings with a lower weight.

    `worth` says what each term is worth in each text; a row beyond them stands for a text that is missing.
    """
    import numpy as np

    missing = len(worth)
    rows = np.vstack([worth, np.zeros(worth.shape[1])])
    own, before, after = turns
    steps_back, steps_on = np.full((2, missing + 1), missing)
    steps_back[own], steps_on[own] = before, after
    steps_back[missing] = steps_on[missing] = missing
    best = rows[own]
    lenders = (before, after, steps_back[before], steps_on[after])
    for share, lending in zip((BEFORE, AFTER, FURTHER, FURTHER), lenders, strict=True):
        np.maximum(best, share * strength * rows[lending], out=best)
    found: Matrix = best.sum(axis=1)
    return found


def with_near_words(
    worth: Matrix, texts: Wording, near: Sequence[Mapping[str, float]], weights: Matrix, share: float
) -> Matrix:
    """What each term is worth in each text if a word near to it counts too, by closeness and rarity.

    A near word never counts more than the term itself, where any text has that.
    """
    import numpy as np

    sought = sorted({word for words in near for word in words})
    size = len(texts.texts)
    rarity = {
        word: log1p((size - count + 0.5) / (count + 0.5))
        for word, count in zip(sought, texts.frequencies(sought), strict=True)
    }
    columns = [texts.largest({word: own * rarity[word] for word, own in words.items()}) for words in near]
    found = NEAR_WORDS * share * np.column_stack(columns)
    return np.maximum(worth, np.where(weights > 0, np.minimum(found, weights), found))


def meaning_in_context(similarity: Matrix, turns: NeighbourRows, strength: float) -> Matrix:
    """The similarity of each turn, raised towards that of the best neighbour.

    `similarity` is by rows, and 0 where there is no vector.
    """
    import numpy as np

    own = similarity[turns.own]
    best = np.maximum(similarity[turns.before], similarity[turns.after])
    raised: Matrix = np.maximum(own, own + MEANING * strength * (best - own))
    return raised
