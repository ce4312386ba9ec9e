"""Search plans over memories, and their common base."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from mcp_memory.engine.candidates import POOL
from mcp_memory.engine.indexing import ByWordsOnly, Meaning
from mcp_memory.engine.memories import entity_names
from mcp_memory.engine.memory_candidates import MemoryCandidates, gather_memories, keyword_weight
from mcp_memory.engine.pipeline import Note, Question, Ranking
from mcp_memory.engine.surroundings import said_around
from mcp_memory.model import Filter, Memory, TextMode
from mcp_memory.ranking.decay import fading_factor
from mcp_memory.ranking.fusion import DATED, best_first
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts
from mcp_memory.text.snapshot import cost
from mcp_memory.tuning import Fading, Tuning

SUPERSEDED = 0.5
"""Factor on the score of a superseded memory."""

C = TypeVar("C")


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A memory that was found, in its state before the search reinforced it."""

    memory: Memory
    score: float
    """0..1, more is better."""
    effective_confidence: float
    entities: tuple[str, ...]
    explanation: Mapping[str, Any] | None = None
    """How it was found and what each factor contributed, if requested."""
    around: tuple[str, ...] = ()
    """Memories stored right before and after it on the same occasion, as far as the token budget allows."""
    space: str = ""
    """Where it was found, if that is not the caller's own space."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """Memories that were found, best first, and how they were searched for."""

    mode: str
    hits: tuple[Hit, ...]
    total: int
    """How many matched."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """Which memories a caller wants, and how many."""

    filter: Filter
    limit: int
    offset: int = 0
    explain: bool = False
    fading: Fading = "gentle"
    max_tokens: int | None = None
    """Token budget: as many results as fit, then the surroundings of the best."""

    @property
    def pool(self) -> int:
        """Candidates per list; in coarse steps, so that the pages of one search agree."""
        pool = POOL
        while pool < 2 * (self.offset + self.limit):
            pool *= 2
        return pool


@dataclass(frozen=True)
class MemoryPlan:
    """Base of memory searches: paging, and counting returned memories as used."""

    tuning: Tuning
    wanted: Wanted

    def gathered(self, tx: Transaction, question: Question, filter: Filter) -> MemoryCandidates:
        return gather_memories(
            tx,
            question,
            filter,
            tuning=self.tuning,
            pool=self.wanted.pool,
        )

    def matched(
        self, question: Question, candidates: MemoryCandidates, mode: TextMode = "hybrid"
    ) -> dict[int, float]:
        if isinstance(question.meaning, ByWordsOnly):
            return candidates.by_words()
        if mode == "semantic":
            return candidates.by_meaning(self.tuning.min_similarity)
        return candidates.by_both(keyword_weight(self.tuning, question))

    def trust(self, facts: RankingFacts) -> float:
        """The factor on a match: lower for faded or superseded memories."""
        faded = fading_factor(facts.effective_confidence, self.wanted.fading)
        return faded * (SUPERSEDED if facts.superseded else 1.0)

    def explained_trust(self, facts: RankingFacts) -> dict[str, Any]:
        return {
            "effective_confidence": facts.effective_confidence,
            "fading": fading_factor(facts.effective_confidence, self.wanted.fading),
            "superseded": facts.superseded,
        }

    def hits(self, tx: Transaction, ranking: Ranking[C, RankingFacts]) -> tuple[Hit, ...]:
        """The page that was asked for."""
        seqs = list(ranking.scores)[self.wanted.offset : self.wanted.offset + self.wanted.limit]
        found = tx.memories.fetch(seqs)
        names = entity_names(tx, list(found.values()))
        hits = tuple(
            Hit(
                memory=memory,
                score=min(1.0, ranking.scores[seq]),
                effective_confidence=ranking.factors[seq].effective_confidence,
                entities=names[memory.id],
                explanation=ranking.explained(seq) if self.wanted.explain else None,
            )
            for seq, memory in found.items()
        )
        return hits if self.wanted.max_tokens is None else within(tx, hits, self.wanted.max_tokens)

    def remember(self, question: Question, ranking: Ranking[C, RankingFacts], answer: Answer) -> Note | None:
        """Reinforce the memories that are returned."""
        return reinforcement([hit.memory.seq for hit in answer.hits])


@dataclass(frozen=True)
class TextSearch(MemoryPlan):
    """By words, by meaning or both; scored by the match and by how far the memory has faded."""

    mode: TextMode
    entity_name: str | None = None

    def candidates(self, tx: Transaction, question: Question) -> MemoryCandidates:
        filter = self.wanted.filter
        if self.entity_name is not None:
            filter = replace(filter, entity_seq=tx.entities.get(self.entity_name).seq)
        if self.mode == "semantic" and isinstance(question.meaning, Meaning):
            question = question.without_words()
        return self.gathered(tx, question, filter)

    def fuse(self, question: Question, candidates: MemoryCandidates) -> dict[int, float]:
        return self.matched(question, candidates, self.mode)

    def rerank(
        self, tx: Transaction, candidates: MemoryCandidates, matches: Mapping[int, float]
    ) -> Ranking[MemoryCandidates, RankingFacts]:
        facts = candidates.facts
        scores = {seq: score * self.trust(facts[seq]) for seq, score in matches.items()}

        def explained(seq: int) -> dict[str, Any]:
            return {**parts(candidates, seq), "match": matches[seq], **self.explained_trust(facts[seq])}

        return Ranking(candidates, best_first(scores), facts, explained)

    def hydrate(
        self, tx: Transaction, question: Question, ranking: Ranking[MemoryCandidates, RankingFacts]
    ) -> Answer:
        mode = "keyword" if self.mode == "keyword" else question.meaning.mode(self.mode)
        return Answer(mode=mode, hits=self.hits(tx, ranking), total=len(ranking.scores))


MOST_TOKENS = 10**9
"""A larger budget does not restrict anything."""


def within(tx: Transaction, hits: Sequence[Hit], max_tokens: int) -> tuple[Hit, ...]:
    """The best results that fit a token budget, at least one, with surroundings where these fit."""
    left = float(min(max_tokens, MOST_TOKENS))
    kept: list[Hit] = []
    for hit in hits:
        left -= cost(hit.memory.content)
        if left < 0 and kept:
            break
        kept.append(hit)
    shown = {hit.memory.content for hit in kept}
    around = said_around(tx, [hit.memory for hit in kept])
    for place, hit in enumerate(kept):
        texts = []
        for text in around.get(hit.memory.seq, ()):
            if text not in shown and cost(text) <= left:
                texts.append(text)
                shown.add(text)
                left -= cost(text)
        kept[place] = replace(hit, around=tuple(texts))
    return tuple(kept)


def reinforcement(seqs: Sequence[int]) -> Note | None:
    return (lambda tx: tx.memories.reinforce(seqs)) if seqs else None


def parts(candidates: MemoryCandidates, seq: int) -> dict[str, Any]:
    """The signals of a candidate, for an explanation."""
    found, context = candidates.found, candidates.context
    reading = context.close_reading.get(seq)
    turn = context.turns.get(seq) if context.turns else None
    signals = (asdict(reading) if reading else {}) | (turn._asdict() if turn else {})
    return {
        "keyword": candidates.keyword.get(seq),
        "own_keyword": found.keyword.get(seq),
        "cosine": found.cosine.get(seq),
        "semantic": candidates.semantic.get(seq, 0.0) if seq in found.cosine else None,
        "conversation": context.strength,
        "dated": DATED if seq in candidates.dated else 0.0,
        "is_instruction": seq in candidates.instructions,
        **signals,
    }
