"""Candidates read in their surroundings: what the memories stored right before and after them add."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from mcp_memory.engine.candidates import Candidates
from mcp_memory.engine.indexing import ByWordsOnly
from mcp_memory.engine.pipeline import Question
from mcp_memory.ranking.conversation import (
    Neighbours,
    connectedness,
    meaning_in_context,
    saturation,
    term_weights,
    words_in_context,
)
from mcp_memory.ranking.fusion import calibrated
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts
from mcp_memory.text.words import tokens

ONE_OCCASION = timedelta(hours=1)
"""Memories stored one after the other within this time are taken for parts of one conversation."""

FactsOf = Callable[[Iterable[int]], dict[int, RankingFacts]]
"""What ranking must know of those memories that the filter lets through."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the neighbours of the best candidates lend them."""

    around: Mapping[int, Neighbours]
    facts: Mapping[int, RankingFacts]
    """Of all candidates and their neighbours."""
    strength: float = 0.0
    """From 0, unconnected facts, to 1, a conversation."""
    words: Mapping[int, float] = field(default_factory=dict)
    """BM25 with the words of the neighbours; also of neighbours that no list has found."""
    meaning: Mapping[int, float] = field(default_factory=dict)
    """Similarity to the query, raised towards that of the best neighbour."""


def read_in_context(
    tx: Transaction,
    question: Question,
    found: Candidates,
    best: Sequence[int],
    facts: Mapping[int, RankingFacts],
    facts_of: FactsOf,
) -> Surroundings:
    """Read the best candidates with their neighbours, as far as they are one conversation."""
    around, facts = _around(tx, best, facts, facts_of)
    meaning = question.meaning
    ring = _neighbours(around)
    if isinstance(meaning, ByWordsOnly) or not ring:
        return Surroundings(around, facts)
    vectors = tx.indexes.vectors("memory", meaning.model, {**dict.fromkeys(around), **dict.fromkeys(ring)})
    contents = tx.memories.contents(around)
    strength = connectedness(around, vectors, [len(text.encode()) for text in contents.values()])
    if not strength:
        return Surroundings(around, facts)
    further, facts = _around(tx, [seq for seq in ring if seq not in around], facts, facts_of)
    wide = {**further, **around}
    others = [seq for seq in {*wide, *_neighbours(wide)} if seq not in contents]
    texts = {**contents, **tx.memories.contents(others)}
    words = _words_in_context(question, found, wide, texts, strength)
    similar = {seq: calibrated(cosine, found.unrelated) for seq, cosine in meaning.cosines(vectors).items()}
    return Surroundings(around, facts, strength, words, meaning_in_context(similar, wide, strength))


def _words_in_context(
    question: Question,
    found: Candidates,
    around: Mapping[int, Neighbours],
    texts: Mapping[int, str],
    strength: float,
) -> dict[int, float]:
    cut = {seq: tokens(text) for seq, text in texts.items()}
    average = sum(map(len, cut.values())) / len(cut)
    counted = {seq: saturation(words, question.terms, average) for seq, words in cut.items()}
    weights = term_weights(counted, found.words, question.terms)
    lent = words_in_context([seq for seq in around if seq in counted], counted, weights, around, strength)
    return {seq: max(score, found.words.get(seq, 0.0)) for seq, score in lent.items() if score > 0}


def _around(
    tx: Transaction, seqs: Sequence[int], known: Mapping[int, RankingFacts], facts_of: FactsOf
) -> tuple[dict[int, Neighbours], dict[int, RankingFacts]]:
    """The neighbours of each, of one occasion: allowed by the filter, in one channel, at about one time."""
    around = tx.memories.neighbours(seqs)
    facts = {**known, **facts_of({*around, *_neighbours(around)} - known.keys())}

    def together(seq: int, other: int | None) -> int | None:
        if other is None or other not in facts or facts[seq].channel != facts[other].channel:
            return None
        near = abs(facts[seq].created_at - facts[other].created_at) <= ONE_OCCASION
        return other if near else None

    return {
        seq: (together(seq, before), together(seq, after))
        for seq, (before, after) in around.items()
        if seq in facts
    }, facts


def _neighbours(around: Mapping[int, Neighbours]) -> list[int]:
    return list(dict.fromkeys(seq for pair in around.values() for seq in pair if seq is not None))
