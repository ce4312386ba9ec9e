"""Features that make a dialogue turn likely to answer: speaker, question or answer, length.

They apply only where people talk in short turns. `ranking.conversation` measures how far that is so; notes,
documents and requests to an assistant are not affected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain
from math import log, log2
from typing import NamedTuple

LOOSE, CLOSE = 0.5, 0.9
"""Strength of a conversation at which the features begin to count, and at which they count fully."""

MOSTLY_QUESTIONS, SOME_QUESTIONS = 0.6, 0.4
"""Shares of questions: where most turns ask, as in requests to an assistant, a question mark means little."""

ASKING, ANSWERING = -0.06, 0.07
"""Bonus of a turn that ends with a question, and of one that follows a question."""

DETAIL = 0.04
"""Bonus of a turn with twice the median number of words; with half of them, the same penalty."""

SUBJECT = 0.1
"""Bonus of a turn by, or addressed to, a person that the query names."""

SPEAKING_FOR_THEMSELVES = 0.2
"""Relative bonus of such a turn where the query asks for several things: they are told in many places."""

THREADED = 0.6
"""How far a turn's meaning in its thread replaces its meaning alone."""

PREVIOUS, NEXT = 0.5, 0.3
"""Share of the vectors of the turn before and the turn after in the meaning of a turn in its thread."""

FEEDBACK = 0.4
"""Bonus of a text with all rare words that the best results add to the query's."""

_BEST = 5  # results whose rare words are looked for
_RARE = 15  # words
_SHORTEST, _LONGEST = -2.0, 1.0  # doublings of the median length
_END = 40  # characters at the end of a turn in which a question mark makes it ask


class TurnReading(NamedTuple):
    """The bonuses of one turn. A tuple: hundreds are made in a search."""

    subject: float
    question: float
    answer: float
    detail: float
    lift: float = 0.0
    """Relative to the score."""

    @property
    def bonus(self) -> float:
        return self.subject + self.question + self.answer + self.detail

    def raised(self, score: float) -> float:
        return max(0.0, score * (1 + self.lift) + self.bonus)


def closeness(strength: float) -> float:
    """From the strength of a conversation: 0, memories stand for themselves, to 1, turns of a dialogue."""
    return min(1.0, max(0.0, (strength - LOOSE) / (CLOSE - LOOSE)))


def alternation(texts: Collection[str]) -> float:
    """From 0, nearly all ask, to 1, questions alternate with answers."""
    asking = sum(map(asks, texts)) / max(1, len(texts))
    return min(1.0, max(0.0, (MOSTLY_QUESTIONS - asking) / (MOSTLY_QUESTIONS - SOME_QUESTIONS)))


def exchange(strength: float, texts: Collection[str]) -> float:
    """From 0, texts that stand for themselves, to 1, turns that plainly answer each other.

    One side of a dialogue, such as requests to an assistant, counts as none.
    """
    return max(0.0, 2 * closeness(strength) * alternation(texts) - 1)


@lru_cache(maxsize=4096)
def asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？", "؟"))


def turn_reading(
    text: str,
    words: Sequence[str],
    before: str,
    *,
    names: Collection[str],
    median_length: float,
    closeness: float,
    alternation: float,
    several: float = 0.0,
) -> TurnReading:
    """Read a turn beside the one before it, among turns of a median length in words.

    `several`: how far these are turns that answer each other, read for a query that asks for several things.
    """
    question = asks(text)
    answers = not question and any(mark in before[-_END:] for mark in "?？؟")
    doublings = min(_LONGEST, max(_SHORTEST, log2((len(words) + 1) / (median_length + 1))))
    named = bool(words) and words[0] in names
    return TurnReading(
        subject=SUBJECT * closeness * named,
        question=ASKING * closeness * alternation * question,
        answer=ANSWERING * closeness * alternation * answers,
        detail=DETAIL * closeness * doublings,
        lift=SPEAKING_FOR_THEMSELVES * several * named,
    )


def in_thread(
    cosines: Mapping[int, float],
    vectors: Mapping[int, bytes],
    around: Mapping[int, tuple[int | None, int | None]],
) -> dict[int, float]:
    """The cosine of each turn with the query, its vector joined by a share of those beside it.

    `It was great, the kids loved it` means what the turn before it was about.
    """
    import numpy as np

    seqs = [seq for seq in around if seq in vectors]
    if not seqs:
        return {}
    places = {seq: place for place, seq in enumerate(vectors, start=1)}
    width = len(vectors[seqs[0]]) // 4
    rows = np.zeros((len(vectors) + 1, width), np.float32)  # the first stands for a turn that is missing
    rows[1:] = np.frombuffer(b"".join(vectors.values()), "<f4").reshape(-1, width)
    own = [places[seq] for seq in seqs]
    before, after = ([places.get(around[seq][side] or 0, 0) for seq in seqs] for side in (0, 1))
    lengths = np.linalg.norm(rows[own] + PREVIOUS * rows[before] + NEXT * rows[after], axis=1)
    products = np.array([0.0, *(cosines[seq] for seq in vectors)])
    joined = products[own] + PREVIOUS * products[before] + NEXT * products[after]
    return dict(zip(seqs, (joined / np.maximum(lengths, 1e-9)).tolist(), strict=True))


def moved_by_thread(
    meaning: Mapping[int, float],
    alone: Mapping[int, float],
    threaded: Mapping[int, float],
    exchange: float,
) -> dict[int, float]:
    """Meaning, moved by how much more or less a turn is similar in its thread than alone."""
    share = THREADED * exchange
    return {
        seq: value + share * (threaded[seq] - alone[seq]) if seq in threaded else value
        for seq, value in meaning.items()
    }


def feedback(
    words: Mapping[int, Set[str]], scores: Mapping[int, float], terms: Collection[str]
) -> dict[int, float]:
    """How many of the rare words of the best results each text has, by weight, 0 to 1.

    The second step of a question that needs several memories: the first ones found name what the others
    are about, in words that the question does not have.
    """
    best = sorted((seq for seq in words if seq in scores), key=lambda seq: -scores[seq])[:_BEST]
    new = frozenset(word for seq in best for word in words[seq]).difference(terms)
    counts = Counter(chain.from_iterable(new & text for text in words.values()))
    size = len(words)
    rarity = {word: max(0.0, log((size - count + 0.5) / (count + 0.5))) for word, count in counts.items()}
    heard: dict[str, float] = dict.fromkeys(new, 0.0)
    for seq in best:
        for word in new & words[seq]:
            heard[word] += scores[seq]
    weights = {word: rarity[word] * score for word, score in heard.items()}
    # Ties are broken alphabetically: the order of a set changes with each start.
    chosen = dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:_RARE])
    total = sum(chosen.values())
    if not total:
        return {}
    rare = frozenset(chosen)
    return {seq: sum(chosen[word] for word in rare & text) / total for seq, text in words.items()}
