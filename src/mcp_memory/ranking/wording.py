"""The words of many texts at once: which of them have which words, and how often."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]
    Columns = npt.NDArray[np.int32]

MOST_WORDS = 50_000
"""Words of a vocabulary; beyond them a new one begins, as every look-up makes an array of its size."""


@dataclass(frozen=True, eq=False, slots=True)
class TextWords:
    """The words of one text, and their numbers in a vocabulary."""

    vocabulary: Vocabulary
    words: tuple[str, ...]
    distinct: frozenset[str]
    numbers: Places
    distinct_numbers: Places


class Vocabulary:
    """Numbers of words, so that those of many texts are compared as arrays."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._adding = threading.Lock()

    @property
    def is_full(self) -> bool:
        return len(self._numbers) >= MOST_WORDS

    def text(self, words: Sequence[str]) -> TextWords:
        import numpy as np

        distinct = frozenset(words)
        with self._adding:
            for word in distinct:
                self._numbers.setdefault(word, len(self._numbers))
        numbers = np.array([self._numbers[word] for word in words], np.intp)
        return TextWords(self, tuple(words), distinct, numbers, np.unique(numbers))

    def columns(self, words: Sequence[str]) -> Columns:
        """By number, the place of a word among some different ones, and how many these are for all others."""
        import numpy as np

        size = len(self._numbers)  # other searches add words meanwhile
        found = np.full(size, len(words), np.int32)
        for place, word in enumerate(words):
            if (number := self._numbers.get(word, size)) < size:
                found[number] = place
        return found


@dataclass(frozen=True, eq=False)
class Wording:
    """The words of several texts, which are of one vocabulary."""

    texts: Sequence[TextWords]
    chosen_from: tuple[Wording, Places] | None = None
    """The texts that these were chosen from, and their places there."""

    def of(self, chosen: Places) -> Wording:
        """Some of the texts."""
        return Wording([self.texts[place] for place in chosen.tolist()], (self, chosen))

    @property
    def vocabulary(self) -> Vocabulary:
        return self.texts[0].vocabulary

    @cached_property
    def sizes(self) -> Numbers:
        """How many words each has."""
        import numpy as np

        return np.array([len(text.words) for text in self.texts], float)

    def counts(self, words: Sequence[str]) -> Numbers:
        """How often a text has a word: a row for each text, a column for each of some different words."""
        import numpy as np

        numbers, rows = self._all
        width = len(words) + 1  # the last column is for other words
        places = rows * width + self.vocabulary.columns(words)[numbers]
        counted = np.bincount(places, minlength=len(self.texts) * width).reshape(-1, width)
        return counted[:, :-1].astype(np.float64)

    def frequencies(self, words: Sequence[str]) -> list[int]:
        """How many of the texts have each of some different words."""
        import numpy as np

        columns = self.vocabulary.columns(words)[self._distinct[0]]
        found: list[int] = np.bincount(columns, minlength=len(words) + 1)[:-1].tolist()
        return found

    def sums(self, weights: Mapping[str, float]) -> Numbers:
        """For each text, the sum of the weights of its words."""
        import numpy as np

        found = np.bincount(self._distinct[1], self._weights(weights), minlength=len(self.texts))
        return found.astype(np.float64, copy=False)

    def largest(self, weights: Mapping[str, float]) -> Numbers:
        """For each text, the largest weight of its words; 0 if they have none."""
        import numpy as np

        each = self._weights(weights)
        held = np.flatnonzero(each)
        found = np.zeros(len(self.texts))
        np.maximum.at(found, self._distinct[1][held], each[held])
        return found

    def _weights(self, weights: Mapping[str, float]) -> Numbers:
        import numpy as np

        return np.array([*weights.values(), 0.0])[self.vocabulary.columns(list(weights))[self._distinct[0]]]

    @cached_property
    def _all(self) -> tuple[Places, Places]:
        return _joined([text.numbers for text in self.texts])

    @cached_property
    def _distinct(self) -> tuple[Places, Places]:
        if self.chosen_from is None:
            return _joined([text.distinct_numbers for text in self.texts])
        import numpy as np

        whole, chosen = self.chosen_from
        numbers, rows = whole._distinct
        places = np.full(len(whole.texts), -1)
        places[chosen] = np.arange(len(chosen))
        rows = places[rows]
        kept = rows >= 0
        return numbers[kept], rows[kept]


def _joined(texts: Sequence[Places]) -> tuple[Places, Places]:
    """The numbers of all texts, and for each the place of its text."""
    import numpy as np

    # Bytes: `concatenate` takes three times as long for hundreds of short arrays.
    numbers = np.frombuffer(b"".join([text.data for text in texts]), np.intp)
    return numbers, np.repeat(np.arange(len(texts)), list(map(len, texts)))
