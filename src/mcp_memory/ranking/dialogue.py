"""Features that make a dialogue turn likely to answer: speaker, question or answer, length.

They apply only where people talk in short turns. `ranking.conversation` measures how far that is so; notes,
documents and requests to an assistant are not affected.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from heapq import nsmallest
from math import log
from typing import TYPE_CHECKING, NamedTuple

from mcp_memory.ranking.wording import Wording

if TYPE_CHECKING:
    from mcp_memory.ranking.unit_vectors import Marks, NeighbourRows, NeighbourVectors, Numbers, Rows

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
    """The bonuses of one turn."""

    subject: float
    question: float
    answer: float
    detail: float
    lift: float
    """Relative to the score."""


@dataclass(frozen=True, eq=False)
class TurnReadings:
    """The bonuses of many turns, of all of one kind in an array."""

    seqs: Sequence[int]
    subject: Numbers
    question: Numbers
    answer: Numbers
    detail: Numbers
    lift: Numbers

    def get(self, seq: int) -> TurnReading | None:
        place = self._places.get(seq)
        if place is None:
            return None
        each = (self.subject, self.question, self.answer, self.detail, self.lift)
        return TurnReading(*(float(kind[place]) for kind in each))

    def raised(self, scores: Mapping[int, float]) -> dict[int, float]:
        """The score of each turn with its bonuses; that of an unknown one is 0."""
        import numpy as np

        own = np.array([scores.get(seq, 0.0) for seq in self.seqs], float)
        bonus = self.subject + self.question + self.answer + self.detail
        found = np.maximum(0.0, own * (1 + self.lift) + bonus)
        return dict(zip(self.seqs, found.tolist(), strict=True))

    @cached_property
    def _places(self) -> Mapping[int, int]:
        return {seq: place for place, seq in enumerate(self.seqs)}


def closeness(strength: float) -> float:
    """From the strength of a conversation: 0, memories stand for themselves, to 1, turns of a dialogue."""
    return min(1.0, max(0.0, (strength - LOOSE) / (CLOSE - LOOSE)))


def alternation(texts: Collection[str]) -> float:
    """From 0, nearly all ask, to 1, questions alternate with answers."""
    asking = sum(map(asks, texts)) / max(1, len(texts))
    return min(1.0, max(0.0, (MOSTLY_QUESTIONS - asking) / (MOSTLY_QUESTIONS - SOME_QUESTIONS)))


def exchange(strength: float, alternation: float) -> float:
    """From 0, texts that stand for themselves, to 1, turns that plainly answer each other.

    One side of a dialogue, such as requests to an assistant, counts as none.
    """
    return max(0.0, 2 * closeness(strength) * alternation - 1)


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


@dataclass(frozen=True, eq=False)
class TurnSigns:
    """What is read of many turns, 1 for yes, with a last one that stands for none."""

    asks: Numbers
    asks_at_the_end: Numbers
    named: Numbers
    """Whether it is by, or addressed to, somebody that the query names."""
    lengths: Numbers
    """In words."""
    first_words: Sequence[str]
    """Empty where there is none."""

    @classmethod
    def of(cls, turns: Sequence[ReadTurn]) -> TurnSigns:
        """For a query that names nobody."""
        import numpy as np

        return cls(
            asks=np.array([*(turn.asks for turn in turns), False], float),
            asks_at_the_end=np.array([*(turn.asks_at_the_end for turn in turns), False], float),
            named=np.zeros(len(turns) + 1),
            lengths=np.array([*(len(turn.words) for turn in turns), 0], float),
            first_words=[*("".join(turn.words[:1]) for turn in turns), ""],
        )

    def naming(self, names: Collection[str]) -> TurnSigns:
        """The same for a query that names people."""
        import numpy as np

        return replace(self, named=np.array([word in names for word in self.first_words], float))


def turn_readings(
    seqs: Sequence[int],
    signs: TurnSigns,
    places: NeighbourRows,
    *,
    median_length: float | None,
    closeness: float,
    alternation: float,
    several: float = 0.0,
) -> TurnReadings:
    """Read turns, each with the one before it if there is one, among turns of a median length in words.

    `places` says where among the `signs` those of `seqs` and their neighbours are. Without a median their
    lengths do not count. `several`: how far these are turns that answer each other, read for a query that
    asks for several things.
    """
    import numpy as np

    asks, named = signs.asks[places.own], signs.named[places.own]
    asked = signs.asks_at_the_end[places.before]
    detail = np.zeros(len(seqs))
    if median_length is not None:
        doublings = np.log2((signs.lengths[places.own] + 1) / (median_length + 1))
        detail = DETAIL * closeness * doublings.clip(_SHORTEST, _LONGEST)
    return TurnReadings(
        seqs,
        subject=SUBJECT * closeness * named,
        question=ASKING * closeness * alternation * asks,
        answer=ANSWERING * closeness * alternation * asked * (1 - asks),
        detail=detail,
        lift=SPEAKING_FOR_THEMSELVES * several * named,
    )


def in_thread(cosines: Numbers, vectors: NeighbourVectors, known: Marks, chosen: Rows) -> Numbers:
    """The cosine of each chosen turn with the query, its vector joined by a share of those beside it.

    `It was great, the kids loved it` means what the turn before it was about. `cosines` are by row, and 0
    where a vector is not `known`.
    """
    import numpy as np

    own, before, after = vectors.turns.of(chosen)
    with_before, with_after, across = (
        pair.products[chosen] * (known[pair.a[chosen]] & known[pair.b[chosen]]) for pair in vectors.pairs
    )
    # The length of a sum, from the products of its parts, which are known before the query is.
    squares = vectors.squares * known
    joined = squares[own] + PREVIOUS**2 * squares[before] + NEXT**2 * squares[after]
    joined += 2 * (PREVIOUS * with_before + NEXT * with_after + PREVIOUS * NEXT * across)
    found: Numbers = cosines[own] + PREVIOUS * cosines[before] + NEXT * cosines[after]
    return found / np.sqrt(np.maximum(joined, 1e-18))


def moved_by_thread(meaning: Numbers, alone: Numbers, threaded: Numbers, exchange: float) -> Numbers:
    """Meaning, moved by how much more or less each turn is similar in its thread than alone."""
    return meaning + THREADED * exchange * (threaded - alone)


def feedback(
    seqs: Sequence[int], texts: Wording, scores: Mapping[int, float], terms: Collection[str]
) -> dict[int, float]:
    """How many of the rare words of the best results each text has, by weight, above 0 to 1.

    The second step of a question that needs several memories: the first ones found name what the others
    are about, in words that the question does not have.
    """
    known = [place for place, seq in enumerate(seqs) if seq in scores]
    best = sorted(known, key=lambda place: -scores[seqs[place]])[:_BEST]
    heard: dict[str, float] = {}
    for place in best:
        for word in texts.texts[place].distinct.difference(terms):
            heard[word] = heard.get(word, 0.0) + scores[seqs[place]]
    if not heard:
        return {}
    size = len(seqs)
    weights = {
        word: max(0.0, log((size - count + 0.5) / (count + 0.5))) * heard[word]
        for word, count in zip(heard, texts.frequencies(list(heard)), strict=True)
    }
    # Ties are broken alphabetically: the order of a set changes with each start.
    chosen = dict(nsmallest(_RARE, weights.items(), key=lambda item: (-item[1], item[0])))
    total = sum(chosen.values())
    if not total:
        return {}
    sums = texts.sums(chosen).tolist()
    return {seq: found / total for seq, found in zip(seqs, sums, strict=True) if found}
