"""Reads candidates together with their neighbours: the memories stored right before and after them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING

from mcp_memory.engine.candidates import Candidates
from mcp_memory.engine.indexing import ByWordsOnly, Meaning
from mcp_memory.engine.memory_reader import READ_CLOSELY, MemoryReader, beside
from mcp_memory.engine.pipeline import Question
from mcp_memory.model import Memory
from mcp_memory.ranking.conversation import (
    connectedness,
    meaning_in_context,
    saturation,
    term_weights,
    with_near_words,
    words_in_context,
)
from mcp_memory.ranking.dialogue import (
    FEEDBACK,
    ReadTurn,
    TurnReadings,
    alternation,
    closeness,
    exchange,
    feedback,
    in_thread,
    moved_by_thread,
    turn_readings,
)
from mcp_memory.ranking.fusion import best_first, calibrated_all
from mcp_memory.ranking.proximity import NEAR, QUOTED, WHOLE, holds_phrase, proximity
from mcp_memory.ranking.unit_vectors import NeighbourRows, Neighbours, UnitVectors, neighbour_rows
from mcp_memory.ranking.wording import TextWords, Vocabulary, Wording
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts
from mcp_memory.text.stems import indexed_words
from mcp_memory.text.words import beginnings_of, tokens, tokens_near

if TYPE_CHECKING:
    from mcp_memory.ranking.unit_vectors import Numbers

ONE_OCCASION = timedelta(hours=1)
"""Consecutive memories within this time count as parts of one conversation."""

READ_IN_DIALOGUE = 100
"""How many of the best candidates are read with their surroundings in a dialogue, instead of `READ_CLOSELY`.

Turns are short, and what answers a question ranks lower among them at first.
"""

LIKELY_DIALOGUE = 0.25
"""Closeness times alternation of the first ones from which more are read, and measured again."""

MOST_READ = 1500
"""Characters of a memory that are read for phrases and proximity."""


class _Vocabularies:
    """The vocabulary of this process. One search uses the same from its beginning to its end."""

    def __init__(self) -> None:
        self._current = Vocabulary()

    def current(self) -> Vocabulary:
        if self._current.is_full:
            self._current = Vocabulary()
        return self._current


_vocabularies = _Vocabularies()


@lru_cache(maxsize=4096)
def read_turn(vocabulary: Vocabulary, text: str) -> tuple[TextWords, ReadTurn]:
    """The words of a text, and what a turn needs; searches read the same memories again and again."""
    words = vocabulary.text(tokens(text[:MOST_READ]))
    return words, ReadTurn.of(text, words.words)


@lru_cache(maxsize=4096)
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


_NOTHING_CLOSE = CloseReading(proximity=0.0, phrase=0.0)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The bonus that neighbours give the best candidates."""

    around: Mapping[int, Neighbours]
    strength: float = 0.0
    """From 0, unconnected facts, to 1, a conversation."""
    words: Mapping[int, float] = field(default_factory=dict)
    """BM25 including the neighbours' words; also for neighbours that are not candidates themselves."""
    meaning: Mapping[int, float] = field(default_factory=dict)
    """Similarity to the query, raised towards that of the best neighbour."""
    close_reading: Mapping[int, CloseReading] = field(default_factory=dict)
    """Of the best candidates."""
    turns: TurnReadings | None = None
    """Of the best candidates and their neighbours, if they are turns of a dialogue."""
    heard: "TurnTexts | None" = None
    """The words of the best candidates and all around them, if they are a conversation."""
    shares: bool = True
    """Whether memories get a share of their neighbours' scores."""
    texts: Mapping[int, str] = field(default_factory=dict)
    """Of the best candidates."""

    def in_dialogue(self, scores: Mapping[int, float], terms: Sequence[str]) -> dict[int, float]:
        """Scores with each turn's own bonus, and a bonus for rare words of the best turns."""
        if self.turns is None:
            return dict(scores)
        raised = self.turns.raised(scores)
        read = {seq: raised.get(seq, score) for seq, score in scores.items()}
        weight = FEEDBACK * closeness(self.strength)
        found = feedback(self.heard.seqs, self.heard.wording, read, terms) if self.heard else {}
        return best_first({seq: score + weight * found.get(seq, 0.0) for seq, score in read.items()})


@dataclass(frozen=True, slots=True)
class TurnTexts:
    """Texts of a conversation, the best candidates before those around them."""

    seqs: Sequence[int]
    wording: Wording
    turns: Sequence[ReadTurn]

    @classmethod
    def of(cls, texts: Mapping[int, str]) -> "TurnTexts":
        vocabulary = _vocabularies.current()
        found = [read_turn(vocabulary, text) for text in texts.values()]
        return cls(list(texts), Wording([words for words, _ in found]), [turn for _, turn in found])

    def places(self, around: Mapping[int, Neighbours]) -> NeighbourRows:
        return neighbour_rows(around, {seq: place for place, seq in enumerate(self.seqs)}, len(self.seqs))


def read_in_context(
    tx: Transaction,
    question: Question,
    found: Candidates,
    best: Sequence[int],
    reader: MemoryReader,
    without: Collection[str] = (),
) -> Surroundings:
    """Read the best candidates with their neighbours, where these form one conversation.

    `best` is in the order of a first ranking; `without` names signals that an ablation leaves out.
    """
    context = _read(tx, question, found, best, reader, without)
    return replace(context, shares="neighbours" not in without)


def _read(
    tx: Transaction,
    question: Question,
    found: Candidates,
    best: Sequence[int],
    reader: MemoryReader,
    without: Collection[str],
) -> Surroundings:
    first, further = best[:READ_CLOSELY], best[READ_CLOSELY:READ_IN_DIALOGUE]
    contents = reader.contents(first) if question.terms else {}
    around = _around(first, reader)
    meaning = question.meaning
    if isinstance(meaning, ByWordsOnly) or not contents or not beside(around):
        return Surroundings(around, close_reading=_read_closely(question, contents, without), texts=contents)
    vectors = tx.indexes.unit_vectors("memory", meaning.model, _with_neighbours(around))
    strength = 0.0 if "conversation" in without else _strength(around, vectors, contents)
    if further and closeness(strength) * alternation(contents.values()) > LIKELY_DIALOGUE:
        reader.read_dialogue([*first, *further])
        contents = {**contents, **reader.contents(further)}
        later = _around(further, reader)
        unread = [seq for seq in _with_neighbours(later) if seq not in vectors.places]
        vectors = vectors.joined_with(tx.indexes.unit_vectors("memory", meaning.model, unread))
        around = {**around, **later}
        strength = _strength(around, vectors, contents)
    if not strength:
        return Surroundings(around, close_reading=_read_closely(question, contents, without), texts=contents)
    context = Surroundings(around, strength, texts=contents)
    return _read_as_conversation(context, question, found, meaning, vectors, reader, without)


def _strength(around: Mapping[int, Neighbours], vectors: UnitVectors, contents: Mapping[int, str]) -> float:
    sizes = [len(text) if text.isascii() else len(text.encode()) for text in contents.values()]
    return connectedness(around, vectors, sizes)


def _read_as_conversation(
    context: Surroundings,
    question: Question,
    found: Candidates,
    meaning: Meaning,
    vectors: UnitVectors,
    reader: MemoryReader,
    without: Collection[str],
) -> Surroundings:
    """Add what neighbours say to the words and the meaning of the best candidates."""
    around, strength, best = context.around, context.strength, context.texts
    wide = {**_around([seq for seq in beside(around) if seq not in around], reader), **around}
    others = [seq for seq in {*wide, *beside(wide)} if seq not in best]
    texts = {**best, **reader.contents(others)}
    heard = TurnTexts.of(texts)
    counts = heard.wording.counts(question.terms)
    alternating = alternation(best.values())
    exchanging = exchange(strength, alternating)
    several = exchanging if question.asks_for_several else 0.0
    spoken = {seq: pair for seq, pair in wide.items() if seq in texts}
    places = heard.places(spoken)
    if len(question.sought) > len(question.terms):
        vocabulary = heard.wording.vocabulary
        indexed = Wording([read_with_stems(vocabulary, text) for text in texts.values()])
        worth = _worth(question, found, heard.seqs, indexed, indexed.counts(question.sought))
    else:
        near_words = 0.0 if "thesaurus" in without else several
        worth = _worth(question, found, heard.seqs, heard.wording, counts, near_words)
    lent = words_in_context(worth, places, strength).tolist()
    threaded = 0.0 if "thread" in without else exchanging
    context = replace(
        context,
        words={
            seq: max(score, found.words.get(seq, 0.0))
            for seq, score in zip(spoken, lent, strict=True)
            if score > 0
        },
        meaning=_meaning_in_context(found, meaning, wide, vectors, strength, threaded),
        close_reading={} if "proximity" in without else _turns_read_closely(question, heard, counts, best),
    )
    close = closeness(strength)
    if not close:
        return context
    sizes = heard.wording.sizes[: len(best)].tolist()
    turns = turn_readings(
        list(spoken),
        heard.turns,
        places,
        names=frozenset() if "names" in without else question.names,
        median_length=None if "turns" in without else median(sizes),
        closeness=close,
        alternation=0.0 if "turns" in without else alternating,
        several=0.0 if "several" in without else several,
    )
    return replace(context, turns=turns, heard=None if "feedback" in without else heard)


def _worth(
    question: Question,
    found: Candidates,
    seqs: Sequence[int],
    wording: Wording,
    counts: "Numbers",
    near_words: float = 0.0,
) -> "Numbers":
    """What each term is worth in each text, as in their BM25 scores."""
    import numpy as np

    counted = saturation(wording, counts)
    weights = term_weights(counted, np.array([found.words.get(seq, 0.0) for seq in seqs], float))
    worth = counted * weights
    if near_words:
        worth = with_near_words(worth, wording, question.near_words, weights, near_words)
    return worth


def _read_closely(
    question: Question, contents: Mapping[int, str], without: Collection[str]
) -> dict[int, CloseReading]:
    if "proximity" in without:
        return {}
    beginnings = beginnings_of({*question.terms, *(word for phrase in question.phrases for word in phrase)})
    return {
        seq: _close_reading(question, tokens_near(text[:MOST_READ], beginnings))
        for seq, text in contents.items()
    }


def _turns_read_closely(
    question: Question, heard: TurnTexts, counts: "Numbers", best: Collection[int]
) -> dict[int, CloseReading]:
    """The same of the best turns, whose words are known."""
    found = dict.fromkeys(best, _NOTHING_CLOSE)
    several = (counts[: len(best)] > 0).sum(axis=1) > 1  # one word alone is near to nothing
    places = range(len(best)) if question.phrases else several.nonzero()[0].tolist()
    for place in places:
        found[heard.seqs[place]] = _close_reading(question, heard.turns[place].words)
    return found


def _close_reading(question: Question, words: Sequence[str]) -> CloseReading:
    near = proximity(words, question.terms)
    if any(holds_phrase(words, phrase) for phrase in question.phrases):
        phrase = QUOTED
    else:
        phrase = WHOLE if near == 1.0 and holds_phrase(words, question.terms) else 0.0
    return CloseReading(proximity=NEAR * near, phrase=phrase)


def said_around(tx: Transaction, memories: Sequence[Memory]) -> dict[int, tuple[str, ...]]:
    """The neighbours of each memory: stored right before and after it, in the same channel and sitting."""
    around = tx.memories.neighbours([memory.seq for memory in memories])
    found = tx.memories.fetch(beside(around))

    def together(memory: Memory, other: int | None) -> bool:
        near = found.get(other or 0)
        if near is None or near.forgotten_at is not None or near.channel != memory.channel:
            return False
        return abs(near.created_at - memory.created_at) <= ONE_OCCASION

    return {
        memory.seq: tuple(
            found[other].content
            for other in around.get(memory.seq, ())
            if other is not None and together(memory, other)
        )
        for memory in memories
    }


def _meaning_in_context(
    found: Candidates,
    meaning: Meaning,
    around: Mapping[int, Neighbours],
    vectors: UnitVectors,
    strength: float,
    exchange: float,
) -> dict[int, float]:
    turns = vectors.neighbour_rows(around)
    cosines = vectors.cosines(meaning.vector)
    similar = found.worth * calibrated_all(cosines, found.unrelated)
    similar[vectors.missing] = 0.0
    raised = meaning_in_context(similar, turns, strength)
    if exchange:
        threaded = found.worth * calibrated_all(in_thread(cosines, vectors, turns), found.unrelated)
        threaded[turns.own == vectors.missing] = 0.0
        raised = moved_by_thread(raised, similar[turns.own], threaded, exchange)
    return dict(zip(around, raised.tolist(), strict=True))


def _around(seqs: Sequence[int], reader: MemoryReader) -> dict[int, Neighbours]:
    """The neighbours of each, of one occasion: allowed by the filter, in one channel, at about one time."""
    around = reader.neighbours(seqs)
    of = reader.known_facts([*around, *beside(around)]).get

    def together(own: RankingFacts, other: RankingFacts | None) -> bool:
        # Hot path: called for two neighbours of each of hundreds.
        return (
            other is not None
            and own.channel == other.channel
            and -ONE_OCCASION <= own.created_at - other.created_at <= ONE_OCCASION
        )

    return {
        seq: (
            before if before is not None and together(own, of(before)) else None,
            after if after is not None and together(own, of(after)) else None,
        )
        for seq, (before, after) in around.items()
        if (own := of(seq)) is not None
    }


def _with_neighbours(around: Mapping[int, Neighbours]) -> list[int]:
    return list(dict.fromkeys([*around, *beside(around)]))
