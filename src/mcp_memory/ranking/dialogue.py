"""Features that make a dialogue turn likely to answer: speaker, question or answer, length.

They apply only to people talking in short turns. How far memories are that is measured
(`ranking.conversation`), so notes, documents and requests to an assistant are not affected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log, log2

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

FEEDBACK = 0.4
"""Bonus of a text with all rare words that the best results add to the query's."""

_BEST = 5  # results whose rare words are looked for
_RARE = 15  # words
_SHORTEST, _LONGEST = -2.0, 1.0  # doublings of the median length
_END = 40  # characters at the end of a turn in which a question mark makes it ask


@dataclass(frozen=True, slots=True)
class TurnReading:
    """The bonuses of one turn."""

    subject: float
    question: float
    answer: float
    detail: float

    @property
    def bonus(self) -> float:
        return self.subject + self.question + self.answer + self.detail


def closeness(strength: float) -> float:
    """From the strength of a conversation: 0, memories stand for themselves, to 1, turns of a dialogue."""
    return min(1.0, max(0.0, (strength - LOOSE) / (CLOSE - LOOSE)))


def alternation(texts: Collection[str]) -> float:
    """From 0, nearly all ask, to 1, questions alternate with answers."""
    asking = sum(map(asks, texts)) / max(1, len(texts))
    return min(1.0, max(0.0, (MOSTLY_QUESTIONS - asking) / (MOSTLY_QUESTIONS - SOME_QUESTIONS)))


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
) -> TurnReading:
    """Read a turn beside the one before it, among turns of a median length in words."""
    question = asks(text)
    answers = not question and any(mark in before[-_END:] for mark in "?？؟")
    doublings = min(_LONGEST, max(_SHORTEST, log2((len(words) + 1) / (median_length + 1))))
    return TurnReading(
        subject=SUBJECT * closeness * (bool(words) and words[0] in names),
        question=ASKING * closeness * alternation * question,
        answer=ANSWERING * closeness * alternation * answers,
        detail=DETAIL * closeness * doublings,
    )


def feedback(
    words: Mapping[int, Collection[str]], scores: Mapping[int, float], terms: Collection[str]
) -> dict[int, float]:
    """How many of the rare words of the best results each text has, by weight, 0 to 1.

    The second step of a question that needs several memories: the first ones found name what the others
    are about, in words that the question does not have.
    """
    best = sorted((seq for seq in words if seq in scores), key=lambda seq: -scores[seq])[:_BEST]
    counts = Counter(word for text in words.values() for word in text)
    size = len(words)
    weights: dict[str, float] = {}
    for seq in best:
        for word in words[seq]:
            rarity = max(0.0, log((size - counts[word] + 0.5) / (counts[word] + 0.5)))
            weights[word] = weights.get(word, 0.0) + rarity * scores[seq]
    for term in terms:
        weights.pop(term, None)
    # Ties are broken alphabetically: the order of a set changes with each start.
    chosen = dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:_RARE])
    total = sum(chosen.values())
    if not total:
        return {}
    return {
        seq: sum(weight for word, weight in chosen.items() if word in text) / total
        for seq, text in words.items()
    }
