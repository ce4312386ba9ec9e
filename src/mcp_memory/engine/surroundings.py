"""Reads candidates together with their neighbours: the memories stored right before and after them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import lru_cache
from statistics import median

from mcp_memory.engine.candidates import Candidates
from mcp_memory.engine.indexing import ByWordsOnly, Meaning
from mcp_memory.engine.memory_reader import READ_CLOSELY, MemoryReader
from mcp_memory.engine.pipeline import Question
from mcp_memory.model import Memory
from mcp_memory.ranking.conversation import (
    Neighbours,
    connectedness,
    meaning_in_context,
    saturation,
    term_weights,
    with_near_words,
    words_in_context,
)
from mcp_memory.ranking.dialogue import (
    FEEDBACK,
    TurnReading,
    alternation,
    closeness,
    exchange,
    feedback,
    in_thread,
    moved_by_thread,
    turn_reading,
)
from mcp_memory.ranking.fusion import best_first, calibrated
from mcp_memory.ranking.proximity import NEAR, QUOTED, WHOLE, holds_phrase, proximity
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts
from mcp_memory.storage.vector_codes import cosines_with
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


@lru_cache(maxsize=4096)
def read(text: str) -> tuple[str, ...]:
    """The words of a text; searches read the same memories again and again."""
    return tuple(tokens(text))


@lru_cache(maxsize=4096)
def different_words(text: str) -> frozenset[str]:
    return frozenset(read(text))


@lru_cache(maxsize=4096)
def read_with_stems(text: str) -> tuple[str, ...]:
    """The words of a text as they are indexed, for queries in other languages than English."""
    return tuple(indexed_words(text))


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
    turn_words: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """Their words."""
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
        found = feedback(self.turn_words, read, terms)
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
    vectors = tx.indexes.vectors("memory", meaning.model, _with_neighbours(around))
    strength = 0.0 if "conversation" in without else _strength(around, vectors, contents)
    if further and closeness(strength) * alternation(contents.values()) > LIKELY_DIALOGUE:
        contents = {**contents, **reader.contents(further)}
        later, facts = _around(further, facts, reader)
        unread = [seq for seq in _with_neighbours(later) if seq not in vectors]
        vectors = {**vectors, **tx.indexes.vectors("memory", meaning.model, unread)}
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


def _strength(
    around: Mapping[int, Neighbours], vectors: Mapping[int, bytes], contents: Mapping[int, str]
) -> float:
    return connectedness(around, vectors, [len(text.encode()) for text in contents.values()])


def _read_as_conversation(
    context: Surroundings,
    question: Question,
    found: Candidates,
    meaning: Meaning,
    vectors: Mapping[int, bytes],
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
    words = _words_in_context(question, found, wide, texts, strength, near_words)
    own = cosines_with(vectors, meaning.vector)

    def similar(cosines: Mapping[int, float]) -> dict[int, float]:
        return {seq: found.worth * calibrated(cosine, found.unrelated) for seq, cosine in cosines.items()}

    raised = meaning_in_context(similar(own), wide, strength)
    if context.exchange and "thread" not in without:
        threaded = in_thread(own, vectors, wide)
        raised = moved_by_thread(raised, similar(own), similar(threaded), context.exchange)
    context = replace(context, facts=facts, words=words, meaning=raised)
    return _read_as_turns(context, question, wide, texts, several, without)


def _read_closely(
    question: Question, contents: Mapping[int, str], strength: float, without: Collection[str]
) -> dict[int, CloseReading]:
    if "proximity" in without:
        return {}
    if strength:  # a conversation's texts are read whole anyway
        return {seq: _close_reading(question, read(text[:MOST_READ])) for seq, text in contents.items()}
    beginnings = beginnings_of({*question.terms, *(word for phrase in question.phrases for word in phrase)})
    return {
        seq: _close_reading(question, tokens_near(text[:MOST_READ], beginnings))
        for seq, text in contents.items()
    }


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
    texts: Mapping[int, str],
    several: float,
    without: Collection[str],
) -> Surroundings:
    """Add the dialogue features of the best candidates and their neighbours."""
    best = context.texts
    close = closeness(context.strength)
    if not close:
        return context
    words = {seq: read(text[:MOST_READ]) for seq, text in texts.items()}
    median_length = median(len(words[seq]) for seq in best)
    alternating = 0.0 if "turns" in without else alternation(best.values())
    turns = {
        seq: turn_reading(
            texts[seq],
            words[seq],
            texts.get(before or 0, ""),
            names=frozenset() if "names" in without else question.names,
            median_length=median_length if "turns" not in without else len(words[seq]),
            closeness=close,
            alternation=alternating,
            several=0.0 if "several" in without else several,
        )
        for seq, (before, _) in wide.items()
        if seq in texts
    }
    heard = {} if "feedback" in without else texts
    turn_words = {seq: different_words(text[:MOST_READ]) for seq, text in heard.items()}
    return replace(context, turns=turns, turn_words=turn_words)


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
    texts: Mapping[int, str],
    strength: float,
    near_words: float,
) -> dict[int, float]:
    terms = question.sought
    read_text = read if len(terms) == len(question.terms) else read_with_stems
    cut = [read_text(text[:MOST_READ]) for text in texts.values()]
    counted = saturation(cut, terms)
    weights = term_weights(counted, [found.words.get(seq, 0.0) for seq in texts])
    worth = counted * weights
    if near_words:
        heard = [frozenset(words) for words in cut]
        worth = with_near_words(worth, heard, question.near_words, weights, near_words)
    lent = words_in_context(list(texts), worth, around, strength)
    return {seq: max(score, found.words.get(seq, 0.0)) for seq, score in lent.items() if score > 0}


def _around(
    seqs: Sequence[int], known: Mapping[int, RankingFacts], reader: MemoryReader
) -> tuple[dict[int, Neighbours], dict[int, RankingFacts]]:
    """The neighbours of each, of one occasion: allowed by the filter, in one channel, at about one time."""
    around = reader.neighbours(seqs)
    facts = {**known, **reader.facts({*around, *_neighbours(around)} - known.keys())}

    def together(own: RankingFacts, seq: int | None) -> int | None:
        other = facts.get(seq) if seq is not None else None
        if other is None or own.channel != other.channel:
            return None
        return seq if abs(own.created_at - other.created_at) <= ONE_OCCASION else None

    return {
        seq: (together(own, before), together(own, after))
        for seq, (before, after) in around.items()
        if (own := facts.get(seq)) is not None
    }, facts


def _with_neighbours(around: Mapping[int, Neighbours]) -> list[int]:
    return list(dict.fromkeys([*around, *_neighbours(around)]))


def _neighbours(around: Mapping[int, Neighbours]) -> list[int]:
    return list(dict.fromkeys(seq for pair in around.values() for seq in pair if seq is not None))
