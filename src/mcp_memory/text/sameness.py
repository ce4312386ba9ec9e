"""Whether two texts state the same fact.

A cosine alone cannot tell: `is allergic to peanuts` and `is not allergic to peanuts` lie closer
together than most rewordings of one fact. So two texts are the same only if both agree:

* the model: their cosine is near enough, on the model's own scale;
* the words: once spelling, inflection, known synonyms and fillers are evened out, the two texts
  have the same words in the same order. Any word left over is a difference, known or not, because
  a name, a number or an opposite that nobody listed must never be merged away.
"""

import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product
from typing import Literal

from mcp_memory.text.fine_print import fine_differences
from mcp_memory.text.lexicon import MONTHS, PAST, UNITS
from mcp_memory.text.normalization import Word, normalized
from mcp_memory.text.opposites import ANTONYMS, MODALS, NEGATIONS, QUANTITIES, TIMES
from mcp_memory.text.wordings import has_wording, wordings

Kind = Literal[
    "number", "date", "unit", "name", "negation", "antonym", "quantity", "tense", "modality", "order", "word"
]


@dataclass(frozen=True)
class Calibration:
    """Calibration of a model's cosines; the defaults are those of all-MiniLM-L6-v2."""

    unrelated: float = 0.2
    """The cosine of texts that have nothing in common."""
    nearness: float = 0.75
    """How far from there to 1 a cosine must lie before two texts can be the same."""

    @property
    def least_cosine(self) -> float:
        """Below this no verdict is `same`, so such pairs need not be compared."""
        return self.unrelated + self.nearness * (1 - self.unrelated)


MINILM = Calibration()

_LONGEST_COMPARED = 400  # words; beyond, only the first difference is told, since comparing is quadratic
_SHOWN = 12  # words of a difference
_UNITS = frozenset(UNITS.values())
_DATES = (TIMES | MONTHS.keys()) - {"may"}  # which is more often permission
_PAST_FORMS = frozenset({"was", "were", "did", "formerly", "have" + PAST})


@dataclass(frozen=True)
class Difference:
    """A difference between two texts; one side may be empty."""

    kind: Kind
    a: str
    b: str


@dataclass(frozen=True)
class Verdict:
    """Whether two texts are the same fact, and a sentence that says why."""

    same: bool
    reason: str
    differences: tuple[Difference, ...] = ()


def verdict(a: str, b: str, cosine: float, calibration: Calibration = MINILM) -> Verdict:
    """Compare two texts whose vectors have the given cosine."""
    found = differences(a, b)
    if found:
        listed = "; ".join(f"{item.kind}: {item.a or '–'} / {item.b or '–'}" for item in found)
        return Verdict(False, f"they differ in {listed}", found)
    if cosine < calibration.least_cosine:
        return Verdict(
            False, f"cosine {cosine:.2f} is below {calibration.least_cosine:.2f} for the same fact"
        )
    return Verdict(True, f"the same words up to style, cosine {cosine:.2f}")


def verdict_on(content: str, text: str, cosine: float, calibration: Calibration = MINILM) -> Verdict:
    """Compare a text with a memory that may hold several wordings: it is the same as any of them, or none."""
    if has_wording(content, text):
        return Verdict(True, "one of its wordings")
    verdicts = [verdict(wording, text, cosine, calibration) for wording in wordings(content)]
    return next((one for one in verdicts if one.same), verdicts[0])


def reworded(found: Sequence[Difference]) -> bool:
    """Whether the differences look like one thought in other words: several, and none that tells facts apart.

    One word in place of another (`tea` / `coffee`), or one phrase more, is a difference of fact too often.
    """
    return len(found) >= 2 and all(difference.kind == "word" for difference in found)


def differences(a: str, b: str) -> tuple[Difference, ...]:
    """All differences between two texts, in the order of the first."""
    left, right = normalized(a), normalized(b)
    meant_left, meant_right = ([word.meaning for word in words] for words in (left, right))
    if meant_left == meant_right:
        return tuple(Difference("name", *found) for found in fine_differences(a, b)) or (
            () if meant_left else _by_letter(a, b)
        )
    if Counter(meant_left) == Counter(meant_right):
        return (Difference("order", *_shown(left, right)),)
    if max(len(left), len(right)) > _LONGEST_COMPARED:
        return (Difference("word", *_shown(*_first_difference(left, right))),)
    names = _names(a) | _names(b)
    matcher = SequenceMatcher(None, meant_left, meant_right, autojunk=False)
    return tuple(
        Difference(next(_kinds(left[i:j], right[k:m], names)), *_shown(left[i:j], right[k:m]))
        for operation, i, j, k, m in matcher.get_opcodes()
        if operation != "equal"
    )


def _by_letter(a: str, b: str) -> tuple[Difference, ...]:
    """Texts without any content word are the same only if they are equal."""
    return () if a.split() == b.split() else (Difference("word", a.strip(), b.strip()),)


def _first_difference(left: Sequence[Word], right: Sequence[Word]) -> tuple[Sequence[Word], Sequence[Word]]:
    pairs = enumerate(zip(left, right, strict=False))
    place = next((i for i, (a, b) in pairs if a.meaning != b.meaning), min(len(left), len(right)))
    return left[place : place + _SHOWN], right[place : place + _SHOWN]


def _shown(left: Sequence[Word], right: Sequence[Word]) -> tuple[str, str]:
    a, b = (" ".join(word.surface for word in words[:_SHOWN]) for words in (left, right))
    return a, b


def _names(text: str) -> set[str]:
    """Words that have a capital inside a sentence."""
    return {word.strip(string.punctuation).lower() for word in text.split()[1:] if word[:1].isupper()}


def _kinds(left: Sequence[Word], right: Sequence[Word], names: set[str]) -> Iterator[Kind]:
    """Names for a difference, the plainest first; they explain, they do not decide."""
    a, b = ({word.meaning for word in words} for words in (left, right))
    both = a | b
    numbers = [word for word in (word.lstrip("+-") for word in both) if word[:1].isdigit()]
    if both & NEGATIONS:
        yield "negation"
    if any(frozenset(pair) in ANTONYMS for pair in product(a, b)):
        yield "antonym"
    if both & _DATES or any(mark in word for word in numbers for mark in ":/-"):
        yield "date"
    if numbers:
        yield "number"
    if both & _UNITS:
        yield "unit"
    if both & QUANTITIES or any(word.endswith("#1") for word in both):
        yield "quantity"
    if both & MODALS:
        yield "modality"
    if both & _PAST_FORMS or {word.removesuffix(PAST) for word in a} & {
        word.removesuffix(PAST) for word in b
    }:
        yield "tense"
    if names & {word.surface for word in (*left, *right)}:
        yield "name"
    yield "word"
