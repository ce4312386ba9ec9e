"""Reads candidates together with their neighbours: the memories stored right before and after them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import lru_cache
from itertools import chain
from statistics import median

from mcp_memory.engine.candidates import Candidates
from mcp_memory.engine.indexing import ByWordsOnly, Meaning
from mcp_memory.engine.memory_reader import READ_CLOSELY, MemoryReader
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
    TurnReading,
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
from mcp_memory.ranking.unit_vectors import Neighbours, UnitVectors
from mcp_memory.ranking.wording import TextWords, Vocabulary, Wording
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts
from mcp_memory.text.stems import indexed_words
from mcp_memory.text.words import beginnings_of, tokens, tokens_near

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
def read(vocabulary: Vocabulary, text: str) -> TextWords:
    """The words of a text; searches read the same memories again and again."""
    return vocabulary.text(tokens(text[:MOST_READ]))


@lru_cache(maxsize=4096)
def read_turn(vocabulary: Vocabulary, text: str) -> tuple[TextWords, ReadTurn]:
    """The same of a turn in a dialogue."""
    words = read(vocabulary, text)
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
    facts: Mapping[int, RankingFacts]
    """Of all candidates and their neighbours."""
    strength: float = 0.0
    """From 0, unconnected facts, to 1, a conversation."""
    exchange: float = 0.0
    """From 0, memories or requests that stand for themselves, to 1, turns that answer each other."""
    words: Mapping[int, float] = field(default_factory=dict)
    """BM25 including the neighbours' words; also for neighbours that are not candidates themselves."""
    meaning: Mapping[int, float] = field(default_factory=dict)
    """Similarity to the query, raised towards that of the best neighbour."""
    close_reading: Mapping[int, CloseReading] = field(default_factory=dict)
    """Of the best candidates."""
    turns: Mapping[int, TurnReading] = field(default_factory=dict)
    """Of the best candidates and their neighbours, as far as they are turns of a dialogue."""
    heard: Mapping[int, TextWords] = field(default_factory=dict)
    """Their words, and those of their neighbours."""
    shares: bool = True
    """Whether memories get a share of their neighbours' scores."""
    texts: Mapping[int, str] = field(default_factory=dict)
    """Of the best candidates."""

    def in_dialogue(self, scores: Mapping[int, float], terms: Sequence[str]) -> dict[int, float]:
        """Scores with each turn's own bonus, and a bonus for rare words of the best turns."""
        if not self.turns:
            return dict(scores)
        read = {
            seq: self.turns[seq].raised(score) if seq in self.turns else score
            for seq, score in scores.items()
        }
        weight = FEEDBACK * closeness(self.strength)
        found = feedback(self.heard, read, terms)
        return best_first({seq: score + weight * found.get(seq, 0.0) for seq, score in read.items()})


def read_in_context(
    tx: Transaction,
    question: Question,
    found: Candidates,
    best: Sequence[int],
    facts: Mapping[int, RankingFacts],
    reader: MemoryReader,
    without: Collection[str] = (),
) -> Surroundings:
    """Read the best candidates with their neighbours, where these form one conversation.

    `best` is in the order of a first ranking; `without` names signals that an ablation leaves out.
    """
    context = _read(tx, question, found, best, facts, reader, without)
    return replace(context, shares="neighbours" not in without)


def _read(
    tx: Transaction,
    question: Question,
    found: Candidates,
    best: Sequence[int],
    facts: Mapping[int, RankingFacts],
    reader: MemoryReader,
    without: Collection[str],
) -> Surroundings:
    first, further = best[:READ_CLOSELY], best[READ_CLOSELY:READ_IN_DIALOGUE]
    contents = reader.contents(first) if question.terms else {}
    around, facts = _around(first, facts, reader)
    meaning = question.meaning
    if isinstance(meaning, ByWordsOnly) or not contents or not _neighbours(around):
        reading = _read_closely(question, contents, 0.0, without)
        return Surroundings(around, facts, close_reading=reading, texts=contents)
    vectors = tx.indexes.unit_vectors("memory", meaning.model, _with_neighbours(around))
    strength = 0.0 if "conversation" in without else _strength(around, vectors, contents)
    if further and closeness(strength) * alternation(contents.values()) > LIKELY_DIALOGUE:
        contents = {**contents, **reader.contents(further)}
        later, facts = _around(further, facts, reader)
        unread = [seq for seq in _with_neighbours(later) if seq not in vectors.places]
        vectors = vectors.joined_with(tx.indexes.unit_vectors("memory", meaning.model, unread))
        around = {**around, **later}
        strength = _strength(around, vectors, contents)
    context = Surroundings(
        around,
        facts,
        strength,
        exchange(strength, contents.values()),
        close_reading=_read_closely(question, contents, strength, without),
        texts=contents,
    )
    if not strength:
        return context
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
    around, strength = context.around, context.strength
    ring = [seq for seq in _neighbours(around) if seq not in around]
    further, facts = _around(ring, context.facts, reader)
    wide = {**further, **around}
    others = [seq for seq in {*wide, *_neighbours(wide)} if seq not in context.texts]
    texts = {**context.texts, **reader.contents(others)}
    several = context.exchange if question.asks_for_several else 0.0
    near_words = 0.0 if "thesaurus" in without else several
    vocabulary = _vocabularies.current()
    turns = {seq: read_turn(vocabulary, text) for seq, text in texts.items()}
    heard = {seq: words for seq, (words, _) in turns.items()}
    if len(question.sought) > len(question.terms):
        sought = {seq: read_with_stems(vocabulary, text) for seq, text in texts.items()}
    else:
        sought = heard
    words = _words_in_context(question, found, wide, sought, strength, near_words)
    threaded = 0.0 if "thread" in without else context.exchange
    raised = _meaning_in_context(found, meaning, wide, vectors, strength, threaded)
    context = replace(context, facts=facts, words=words, meaning=raised)
    context = replace(context, heard=heard)
    return _read_as_turns(
        context, question, wide, {seq: turn for seq, (_, turn) in turns.items()}, several, without
    )


def _read_closely(
    question: Question, contents: Mapping[int, str], strength: float, without: Collection[str]
) -> dict[int, CloseReading]:
    if "proximity" in without:
        return {}
    if strength:  # a conversation's texts are read whole anyway
        return {seq: _close_reading_of_turn(question, text) for seq, text in contents.items()}
    beginnings = beginnings_of({*question.terms, *(word for phrase in question.phrases for word in phrase)})
    return {
        seq: _close_reading(question, tokens_near(text[:MOST_READ], beginnings))
        for seq, text in contents.items()
    }


def _close_reading_of_turn(question: Question, text: str) -> CloseReading:
    words = read(_vocabularies.current(), text)
    if not question.phrases and len(words.distinct.intersection(question.terms)) < 2:
        return _NOTHING_CLOSE
    return _close_reading(question, words.words)


def _close_reading(question: Question, words: Sequence[str]) -> CloseReading:
    near = proximity(words, question.terms)
    if any(holds_phrase(words, phrase) for phrase in question.phrases):
        phrase = QUOTED
    else:
        phrase = WHOLE if near == 1.0 and holds_phrase(words, question.terms) else 0.0
    return CloseReading(proximity=NEAR * near, phrase=phrase)


def _read_as_turns(
    context: Surroundings,
    question: Question,
    wide: Mapping[int, Neighbours],
    turns: Mapping[int, ReadTurn],
    several: float,
    without: Collection[str],
) -> Surroundings:
    """Add the dialogue features of the best candidates and their neighbours."""
    close = closeness(context.strength)
    if not close:
        return context
    best = context.texts
    beside = {seq: (turns[seq], turns.get(before or 0)) for seq, (before, _) in wide.items() if seq in turns}
    readings = turn_readings(
        list(beside.values()),
        names=frozenset() if "names" in without else question.names,
        median_length=None if "turns" in without else median(len(turns[seq].words) for seq in best),
        closeness=close,
        alternation=0.0 if "turns" in without else alternation(best.values()),
        several=0.0 if "several" in without else several,
    )
    heard = {} if "feedback" in without else context.heard
    return replace(context, turns=dict(zip(beside, readings, strict=True)), heard=heard)


def said_around(tx: Transaction, memories: Sequence[Memory]) -> dict[int, tuple[str, ...]]:
    """The neighbours of each memory: stored right before and after it, in the same channel and sitting."""
    around = tx.memories.neighbours([memory.seq for memory in memories])
    found = tx.memories.fetch(_neighbours(around))

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


def _words_in_context(
    question: Question,
    found: Candidates,
    around: Mapping[int, Neighbours],
    texts: Mapping[int, TextWords],
    strength: float,
    near_words: float,
) -> dict[int, float]:
    wording = Wording(list(texts.values()))
    counted = saturation(wording, question.sought)
    weights = term_weights(counted, [found.words.get(seq, 0.0) for seq in texts])
    worth = counted * weights
    if near_words:
        worth = with_near_words(worth, wording, question.near_words, weights, near_words)
    lent = words_in_context(list(texts), worth, around, strength)
    return {seq: max(score, found.words.get(seq, 0.0)) for seq, score in lent.items() if score > 0}


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


def _around(
    seqs: Sequence[int], known: Mapping[int, RankingFacts], reader: MemoryReader
) -> tuple[dict[int, Neighbours], dict[int, RankingFacts]]:
    """The neighbours of each, of one occasion: allowed by the filter, in one channel, at about one time."""
    around = reader.neighbours(seqs)
    facts = {**known, **reader.facts({*around, *_neighbours(around)} - known.keys())}
    of = facts.get

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
    }, facts


def _with_neighbours(around: Mapping[int, Neighbours]) -> list[int]:
    return list(dict.fromkeys([*around, *_neighbours(around)]))


def _neighbours(around: Mapping[int, Neighbours]) -> list[int]:
    return [seq for seq in dict.fromkeys(chain.from_iterable(around.values())) if seq is not None]
