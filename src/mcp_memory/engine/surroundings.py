"""Reads candidates together with their neighbours: the memories stored right before and after them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING

from mcp_memory.engine.candidates import Candidates
from mcp_memory.engine.indexing import ByWordsOnly, Meaning
from mcp_memory.engine.memory_reader import READ_CLOSELY, beside
from mcp_memory.engine.pipeline import Question
from mcp_memory.engine.read_turns import (
    MOST_READ,
    NOTHING_CLOSE,
    ONE_OCCASION,
    CloseReading,
    TurnReader,
    Turns,
    close_reading,
)
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
from mcp_memory.ranking.unit_vectors import Neighbours
from mcp_memory.ranking.wording import Wording
from mcp_memory.storage import Transaction
from mcp_memory.text.words import beginnings_of, tokens_near

if TYPE_CHECKING:
    from mcp_memory.ranking.unit_vectors import Numbers, Rows

READ_IN_DIALOGUE = 100
"""How many of the best candidates are read with their surroundings in a dialogue, instead of `READ_CLOSELY`.

Turns are short, and what answers a question ranks lower among them at first.
"""

LIKELY_DIALOGUE = 0.25
"""Closeness times alternation of the first ones from which more are read, and measured again."""


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
    heard: "HeardTexts | None" = None
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
class HeardTexts:
    """The words of a conversation, the best candidates before those around them."""

    seqs: Sequence[int]
    wording: Wording


def read_in_context(
    question: Question,
    found: Candidates,
    best: Sequence[int],
    reader: TurnReader,
    without: Collection[str] = (),
) -> Surroundings:
    """Read the best candidates with their neighbours, where these form one conversation.

    `best` is in the order of a first ranking; `without` names signals that an ablation leaves out.
    """
    context = _read(question, found, best, reader, without)
    return replace(context, shares="neighbours" not in without)


def _read(
    question: Question,
    found: Candidates,
    best: Sequence[int],
    reader: TurnReader,
    without: Collection[str],
) -> Surroundings:
    first, further = best[:READ_CLOSELY], best[READ_CLOSELY:READ_IN_DIALOGUE]
    contents = reader.memories.contents(first) if question.terms else {}
    around = reader.around(first)
    meaning = question.meaning
    if isinstance(meaning, ByWordsOnly) or not contents or not beside(around):
        return Surroundings(around, close_reading=_read_closely(question, contents, without), texts=contents)
    turns = reader.near(first, around, meaning.model)
    strength = 0.0 if "conversation" in without else _strength(turns, contents)
    if further and closeness(strength) * alternation(contents.values()) > LIKELY_DIALOGUE:
        turns = reader.farther([*first, *further], meaning.model)
        contents = {**contents, **reader.memories.contents(further)}
        around = {**around, **reader.around(further)}
        strength = _strength(turns, contents)
    elif strength:
        turns = reader.farther(first, meaning.model)
    if not strength:
        return Surroundings(around, close_reading=_read_closely(question, contents, without), texts=contents)
    context = Surroundings(around, strength, texts=contents)
    return _read_as_conversation(context, question, found, meaning, turns, without)


def _strength(turns: Turns, contents: Mapping[int, str]) -> float:
    sizes = [len(text) if text.isascii() else len(text.encode()) for text in contents.values()]
    return connectedness(turns.vectors, turns.places(list(contents)), sizes)


def _read_as_conversation(
    context: Surroundings,
    question: Question,
    found: Candidates,
    meaning: Meaning,
    turns: Turns,
    without: Collection[str],
) -> Surroundings:
    """Add what neighbours say to the words and the meaning of the best candidates."""
    import numpy as np

    strength = context.strength
    best = turns.places(list(context.texts))
    wide = np.concatenate([turns.beside_others(best, best), best])
    heard = np.concatenate([best, turns.beside_others(wide, best)])
    alternating = alternation(context.texts.values())
    exchanging = exchange(strength, alternating)
    several = exchanging if question.asks_for_several else 0.0
    near_words = 0.0 if "thesaurus" in without else several
    wording = turns.wording.of(heard)
    worth = _worth(question, found, turns, heard, wording, near_words)
    lent = words_in_context(worth, turns.beside.of(wide), strength).tolist()
    threaded = 0.0 if "thread" in without else exchanging
    seqs: list[int] = turns.numbers[wide].tolist()
    known = found.words.get
    context = replace(
        context,
        words={seq: max(score, known(seq, 0.0)) for seq, score in zip(seqs, lent, strict=True) if score > 0},
        meaning=_meaning_in_context(found, meaning, turns, wide, strength, threaded),
        close_reading={} if "proximity" in without else _turns_read_closely(turns, context.texts),
    )
    close = closeness(strength)
    if not close:
        return context
    signs = turns.unnamed if "names" in without else turns.signs
    readings = turn_readings(
        seqs,
        signs,
        turns.beside.of(wide),
        median_length=None if "turns" in without else median(signs.lengths[best].tolist()),
        closeness=close,
        alternation=0.0 if "turns" in without else alternating,
        several=0.0 if "several" in without else several,
    )
    heard_words = None if "feedback" in without else HeardTexts(turns.numbers[heard].tolist(), wording)
    return replace(context, turns=readings, heard=heard_words)


def _worth(
    question: Question,
    found: Candidates,
    turns: Turns,
    heard: "Rows",
    wording: Wording,
    near_words: float,
) -> "Numbers":
    """What each term is worth in each text that is heard, as in their BM25 scores; nothing in others."""
    import numpy as np

    if len(question.sought) > len(question.terms):
        wording = turns.indexed.of(heard)
        counts, near_words = wording.counts(question.sought), 0.0
    else:
        counts = turns.counts[heard]
    counted = saturation(wording.sizes, counts)
    scores = [found.words.get(seq, 0.0) for seq in turns.numbers[heard].tolist()]
    weights = term_weights(counted, np.array(scores, float))
    worth = counted * weights
    if near_words:
        worth = with_near_words(worth, wording, question.near_words, weights, near_words)
    all_worth = np.zeros((len(turns.seqs), worth.shape[1]))
    all_worth[heard] = worth
    return all_worth


def _read_closely(
    question: Question, contents: Mapping[int, str], without: Collection[str]
) -> dict[int, CloseReading]:
    if "proximity" in without:
        return {}
    beginnings = beginnings_of({*question.terms, *(word for phrase in question.phrases for word in phrase)})
    return {
        seq: close_reading(question, tokens_near(text[:MOST_READ], beginnings))
        for seq, text in contents.items()
    }


def _turns_read_closely(turns: Turns, best: Collection[int]) -> dict[int, CloseReading]:
    """The same of the best turns, whose words are known."""
    readings = turns.close_readings
    return {seq: readings.get(seq, NOTHING_CLOSE) for seq in best}


def _meaning_in_context(
    found: Candidates,
    meaning: Meaning,
    turns: Turns,
    wide: "Rows",
    strength: float,
    exchange: float,
) -> dict[int, float]:
    import numpy as np

    vectors = turns.vectors
    known = np.zeros(len(vectors.known), bool)
    known[wide] = vectors.known[wide]
    cosines = vectors.cosines(meaning.vector) * known
    similar = found.worth * calibrated_all(cosines, found.unrelated) * known
    raised = meaning_in_context(similar, turns.beside.of(wide), strength)
    if exchange:
        in_threads = calibrated_all(in_thread(cosines, vectors, known, wide), found.unrelated)
        threaded = found.worth * in_threads * known[wide]
        raised = moved_by_thread(raised, similar[wide], threaded, exchange)
    return dict(zip(turns.numbers[wide].tolist(), raised.tolist(), strict=True))


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
