"""Features that make a dialogue turn likely to answer: speaker, question or answer, length.

They apply only where people talk in short turns. `ranking.conversation` measures how far that is so; notes,
documents and requests to an assistant are not affected.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from heapq import nsmallest
from math import log, log2
from typing import TYPE_CHECKING, NamedTuple

from mcp_memory.ranking.wording import TextWords, Wording

if TYPE_CHECKING:
    from mcp_memory.ranking.unit_vectors import NeighbourRows, Numbers, UnitVectors

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


def asks_at_the_end(text: str) -> bool:
    """Whether a question is among the last words of a turn, so that the next one may answer it."""
    return any(mark in text[-_END:] for mark in "?？؟")


class ReadTurn(NamedTuple):
    """What is read of a turn."""

    words: Sequence[str]
    asks: bool
    asks_at_the_end: bool

    @classmethod
    def of(cls, text: str, words: Sequence[str]) -> ReadTurn:
        return cls(words, asks(text), asks_at_the_end(text))


def turn_readings(
    turns: Sequence[tuple[ReadTurn, ReadTurn | None]],
    *,
    names: Collection[str],
    median_length: float | None,
    closeness: float,
    alternation: float,
    several: float = 0.0,
) -> list[TurnReading]:
    """Read turns, each with the one before it if there is one, among turns of a median length in words.

    Without a median their lengths do not count. `several`: how far these are turns that answer each other,
    read for a query that asks for several things.
    """
    subject, lift = SUBJECT * closeness, SPEAKING_FOR_THEMSELVES * several
    asking, answering = (each * closeness * alternation for each in (ASKING, ANSWERING))
    details: dict[int, float] = {}
    if median_length is not None:
        sizes = {len(turn.words) for turn, _ in turns}
        details = {size: DETAIL * closeness * _doublings(size, median_length) for size in sizes}
    found = []
    for (words, question, _), before in turns:
        named = bool(words) and words[0] in names
        answers = not question and before is not None and before.asks_at_the_end
        found.append(
            TurnReading(
                subject if named else 0.0,
                asking if question else 0.0,
                answering if answers else 0.0,
                details.get(len(words), 0.0),
                lift if named else 0.0,
            )
        )
    return found


def _doublings(length: int, median_length: float) -> float:
    return min(_LONGEST, max(_SHORTEST, log2((length + 1) / (median_length + 1))))


def in_thread(cosines: Numbers, vectors: UnitVectors, turns: NeighbourRows) -> Numbers:
    """The cosine of each turn with the query, its vector joined by a share of those beside it.

    `It was great, the kids loved it` means what the turn before it was about. `cosines` are by row.
    """
    import numpy as np

    rows, (own, before, after) = vectors.rows, turns
    joined_rows = rows[own] + PREVIOUS * rows[before] + NEXT * rows[after]
    lengths = np.sqrt(np.einsum("ij,ij->i", joined_rows, joined_rows))
    joined = cosines[own] + PREVIOUS * cosines[before] + NEXT * cosines[after]
    found: Numbers = joined / np.maximum(lengths, 1e-9)
    return found


def moved_by_thread(meaning: Numbers, alone: Numbers, threaded: Numbers, exchange: float) -> Numbers:
    """Meaning, moved by how much more or less each turn is similar in its thread than alone."""
    return meaning + THREADED * exchange * (threaded - alone)


def feedback(
    texts: Mapping[int, TextWords], scores: Mapping[int, float], terms: Collection[str]
) -> dict[int, float]:
    """How many of the rare words of the best results each text has, by weight, above 0 to 1.

    The second step of a question that needs several memories: the first ones found name what the others
    are about, in words that the question does not have.
    """
    best = nsmallest(_BEST, (seq for seq in texts if seq in scores), key=lambda seq: -scores[seq])
    heard: dict[str, float] = {}
    for seq in best:
        for word in texts[seq].distinct.difference(terms):
            heard[word] = heard.get(word, 0.0) + scores[seq]
    if not heard:
        return {}
    wording, size = Wording(list(texts.values())), len(texts)
    weights = {
        word: max(0.0, log((size - count + 0.5) / (count + 0.5))) * heard[word]
        for word, count in zip(heard, wording.frequencies(list(heard)), strict=True)
    }
    # Ties are broken alphabetically: the order of a set changes with each start.
    chosen = dict(nsmallest(_RARE, weights.items(), key=lambda item: (-item[1], item[0])))
    total = sum(chosen.values())
    if not total:
        return {}
    sums = wording.sums(chosen).tolist()
    return {seq: found / total for seq, found in zip(texts, sums, strict=True) if found}
