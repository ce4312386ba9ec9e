"""Memories that a search reads with those beside them, as turns that may belong to one conversation.

What a turn is by itself does not depend on the vector of the query. In a small space all of it is made ready
while the model computes that vector, and looked up afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from mcp_memory.engine.memory_reader import MemoryReader, beside
from mcp_memory.engine.pipeline import Question
from mcp_memory.model import EmbeddingModel
from mcp_memory.ranking.conversation import might_be_connected
from mcp_memory.ranking.dialogue import ReadTurn, TurnSigns, closeness
from mcp_memory.ranking.proximity import NEAR, QUOTED, WHOLE, holds_phrase, proximity
from mcp_memory.ranking.unit_vectors import NeighbourRows, Neighbours, NeighbourVectors
from mcp_memory.ranking.wording import TextWords, Vocabulary, Wording
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts
from mcp_memory.text.stems import indexed_words
from mcp_memory.text.words import tokens

if TYPE_CHECKING:
    from mcp_memory.ranking.unit_vectors import Numbers, Rows

ONE_OCCASION = timedelta(hours=1)
"""Consecutive memories within this time count as parts of one conversation."""

MOST_READ = 1500
"""Characters of a memory that are read for phrases and proximity."""

MOST_KEPT = 4096
"""Texts whose words are kept: searches read the same memories again and again."""


MOST_CONVERSATIONS = 4
"""Conversations of up to a thousand turns whose words are kept side by side."""


class _Vocabularies:
    """The vocabulary of this process. One search uses the same from its beginning to its end."""

    def __init__(self) -> None:
        self._current = Vocabulary()

    def current(self) -> Vocabulary:
        if self._current.is_full:
            self._current = Vocabulary()
        return self._current


_vocabularies = _Vocabularies()


@lru_cache(maxsize=MOST_CONVERSATIONS)
def read_turns(vocabulary: Vocabulary, texts: tuple[str, ...]) -> tuple[Wording, TurnSigns]:
    """The words of texts, and what they show as turns."""
    found = [read_turn(vocabulary, text) for text in texts]
    return Wording([words for words, _ in found]), TurnSigns.of([turn for _, turn in found])


@lru_cache(maxsize=MOST_KEPT)
def read_turn(vocabulary: Vocabulary, text: str) -> tuple[TextWords, ReadTurn]:
    """The words of a text, and what a turn needs."""
    words = vocabulary.text(tokens(text[:MOST_READ]))
    return words, ReadTurn.of(text, words.words)


@lru_cache(maxsize=MOST_KEPT)
def read_with_stems(vocabulary: Vocabulary, text: str) -> TextWords:
    """The words of a text as they are indexed, for queries in other languages than English."""
    return vocabulary.text(list(indexed_words(text[:MOST_READ])))


@dataclass(frozen=True, slots=True)
class CloseReading:
    """The bonus of a candidate's text on its keyword score, such as proximity of the words."""

    proximity: float
    """Words of the query side by side and in its order."""
    phrase: float
    """A phrase that the query has in quotes, or all of its words one after the other."""

    @property
    def bonus(self) -> float:
        return self.proximity + self.phrase


NOTHING_CLOSE = CloseReading(proximity=0.0, phrase=0.0)


def close_reading(question: Question, words: Sequence[str]) -> CloseReading:
    near = proximity(words, question.terms)
    if any(holds_phrase(words, phrase) for phrase in question.phrases):
        phrase = QUOTED
    else:
        phrase = WHOLE if near == 1.0 and holds_phrase(words, question.terms) else 0.0
    return CloseReading(proximity=NEAR * near, phrase=phrase)


@dataclass(frozen=True, eq=False)
class Turns:
    """Memories in the order of their numbers, with all that ranking asks of turns; found on first use."""

    tx: Transaction
    question: Question
    model: EmbeddingModel
    seqs: Sequence[int]
    texts: tuple[str, ...]
    around: Mapping[int, Neighbours]
    """The neighbours of those whose neighbours were read."""

    @cached_property
    def numbers(self) -> Rows:
        import numpy as np

        return np.array(self.seqs, np.intp)

    @cached_property
    def beside(self) -> NeighbourRows:
        """The places of all and of their neighbours; beyond them is one that is missing."""
        import numpy as np

        nobody, missing = (None, None), len(self.seqs)
        around = self.around.get
        pairs = [around(seq, nobody) for seq in self.seqs]
        place = {seq: place for place, seq in enumerate(self.seqs)}.get
        before = [missing if one is None else place(one, missing) for one, _ in pairs]
        after = [missing if one is None else place(one, missing) for _, one in pairs]
        return NeighbourRows(np.arange(missing), np.array(before, np.intp), np.array(after, np.intp))

    def places(self, seqs: Sequence[int]) -> Rows:
        """Those of memories that are among these."""
        import numpy as np

        return np.searchsorted(self.numbers, np.array(seqs, np.intp))

    def beside_others(self, chosen: Rows, others: Rows) -> Rows:
        """The places of the neighbours of the chosen that are not among the others."""
        import numpy as np

        marked = np.zeros(len(self.seqs) + 1, bool)
        marked[self.beside.before[chosen]] = True
        marked[self.beside.after[chosen]] = True
        marked[others] = marked[-1] = False
        return np.flatnonzero(marked)

    @cached_property
    def vectors(self) -> NeighbourVectors:
        return self.tx.indexes.vectors_in_a_row("memory", self.model, self.seqs, self.beside)

    @property
    def wording(self) -> Wording:
        return self._read[0]

    @cached_property
    def counts(self) -> Numbers:
        """How often each text has each term of the query."""
        return self.wording.counts(self.question.terms)

    @cached_property
    def indexed(self) -> Wording:
        """The texts with their stems in another language."""
        vocabulary = self.wording.vocabulary
        return Wording([read_with_stems(vocabulary, text) for text in self.texts])

    @cached_property
    def signs(self) -> TurnSigns:
        names = self.question.names
        return self.unnamed.naming(names) if names else self.unnamed

    @property
    def unnamed(self) -> TurnSigns:
        """The same as if the query named nobody."""
        return self._read[1]

    @cached_property
    def close_readings(self) -> Mapping[int, CloseReading]:
        """By number; only of texts in which there is something to find."""
        import numpy as np

        held = self.counts > 0
        in_turn = held[:, :-1] & held[:, 1:]  # else no word is near to the one before it
        places = (
            range(len(self.seqs)) if self.question.phrases else np.flatnonzero(in_turn.any(axis=1)).tolist()
        )
        texts = self.wording.texts
        return {self.seqs[place]: close_reading(self.question, texts[place].words) for place in places}

    def make_ready(self) -> None:
        """Find ahead what is needed of turns, and what else if they are short enough for a dialogue."""
        _ = self.vectors.pairs
        if closeness(might_be_connected(list(map(len, self.texts)))):
            _ = self.signs, self.close_readings

    @cached_property
    def _read(self) -> tuple[Wording, TurnSigns]:
        return read_turns(_vocabularies.current(), self.texts)


class TurnReader:
    """Reads memories of one search as turns."""

    def __init__(self, tx: Transaction, question: Question, reader: MemoryReader) -> None:
        self.memories = reader
        self._tx = tx
        self._question = question
        self._whole: Turns | None = None

    def read_ahead(self, seqs: Sequence[int], model: EmbeddingModel, count: int | None) -> None:
        """Read what is likely to be needed, while the model computes; see `MemoryReader.read_ahead`."""
        self.memories.read_ahead(seqs, count)
        if self.memories.whole and self._question.terms:
            around = self._around_all(self.memories.whole)
            if around:
                self._whole = self._turns(sorted(around), around, model)
                self._whole.make_ready()

    def near(self, seqs: Sequence[int], around: Mapping[int, Neighbours], model: EmbeddingModel) -> Turns:
        """These and their neighbours, if not all."""
        return self._whole or self._turns(sorted({*seqs, *beside(around)}), around, model)

    def farther(self, seqs: Sequence[int], model: EmbeddingModel) -> Turns:
        """These and those around them, up to two steps away, if not all."""
        if self._whole is not None:
            return self._whole
        self.memories.read_dialogue(seqs)
        around = self.around(seqs)
        around = {**self.around(beside(around)), **around}
        return self._turns(sorted({*around, *beside(around)}), around, model)

    def around(self, seqs: Collection[int]) -> dict[int, Neighbours]:
        """The neighbours of each, of one occasion: allowed by the filter, in one channel, about one time."""
        if self._whole is not None:
            return {seq: self._whole.around[seq] for seq in sorted(set(seqs))}
        around = self.memories.neighbours(seqs)
        of = self.memories.known_facts([*around, *beside(around)]).get
        return {
            seq: (
                before if before is not None and _are_together(own, of(before)) else None,
                after if after is not None and _are_together(own, of(after)) else None,
            )
            for seq, (before, after) in around.items()
            if (own := of(seq)) is not None
        }

    def _around_all(self, seqs: Sequence[int]) -> dict[int, Neighbours]:
        """The same of all, in the order they were stored, in which neighbours are side by side."""
        known = self.memories.known_facts()
        facts = [known[seq] for seq in seqs]
        together = [own is not None and _are_together(own, other) for own, other in pairwise(facts)]
        before = [None, *(seq if joined else None for seq, joined in zip(seqs, together, strict=False))]
        after = [*(seq if joined else None for seq, joined in zip(seqs[1:], together, strict=True)), None]
        return {
            seq: (previous, following)
            for seq, own, previous, following in zip(seqs, facts, before, after, strict=True)
            if own is not None
        }

    def _turns(self, seqs: Sequence[int], around: Mapping[int, Neighbours], model: EmbeddingModel) -> Turns:
        contents = self.memories.known_contents()
        texts = tuple([contents.get(seq) or "" for seq in seqs])
        return Turns(self._tx, self._question, model, seqs, texts, around)


def _are_together(own: RankingFacts, other: RankingFacts | None) -> bool:
    # Hot path: called for the neighbours of hundreds.
    return (
        other is not None
        and own.channel == other.channel
        and -ONE_OCCASION <= own.created_at - other.created_at <= ONE_OCCASION
    )
