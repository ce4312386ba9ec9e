"""Finds memories again, for a query or without one, best first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from mcp_memory.engine.association_recall import recollect
from mcp_memory.engine.candidates import POOL, Candidates, gather
from mcp_memory.engine.context import Context, Topic, checked_limit, checked_offset, checked_query
from mcp_memory.engine.drafts import checked_filter
from mcp_memory.engine.graph_recall import connected, memories_of, starting_entities
from mcp_memory.engine.indexing import ByWordsOnly, Indexing, Meaning
from mcp_memory.engine.memories import entity_names
from mcp_memory.errors import Invalid
from mcp_memory.model import Entity, Filter, Memory
from mcp_memory.ranking.decay import effective_confidence
from mcp_memory.ranking.fusion import best_first
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts
from mcp_memory.text.words import query_terms

Mode = Literal["keyword", "semantic", "hybrid", "graph"]
AgentMode = Literal["hybrid", "recent", "important", "typed"]
SortOrder = Literal["recent", "importance", "most_accessed"]

MOST_RESULTS = 100
MOST_FOR_AGENT = 50
MOST_HOPS = 5

SUPERSEDED = 0.5
"""What is left of a memory's score when a later one has replaced it."""

CURATED = 3
"""Of how many, per result that is wanted, the best are chosen after lists were fused by rank."""

EVERYTHING = Filter()
_ASKED_FOR = ByWordsOnly("asked for")

_OWN_ORDER: Mapping[AgentMode, SortOrder] = {
    "recent": "recent",
    "important": "importance",
    "typed": "recent",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A memory that was found, as it was before it was found."""

    memory: Memory
    score: float
    """0..1, more is better."""
    effective_confidence: float
    entities: tuple[str, ...]
    explanation: Mapping[str, Any] | None = None
    """Where it came from and what each factor did, when asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What was found, best first, and how it was looked for."""

    mode: str
    hits: tuple[Hit, ...]
    total: int
    """How many there were to choose from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Question:
    query: str
    mode: Mode
    filter: Filter
    entity_name: str | None
    hops: int
    pool: int


@dataclass(frozen=True, slots=True)
class _Ranking:
    mode: str
    scores: Mapping[int, float]
    """Best first."""
    standing: Mapping[int, RankingFacts]
    explained: Callable[[int], dict[str, Any]]


class Recall(Topic):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._indexing = Indexing(context)
        self._half_life = context.tuning.half_life

    def recall(
        self,
        query: str,
        *,
        mode: Mode = "hybrid",
        filter: Filter = EVERYTHING,
        entity_name: str | None = None,
        hops: int = 1,
        limit: int | None = None,
        offset: int = 0,
        explain: bool = False,
    ) -> Answer:
        """Memories for a query, scored by how well they match × their effective confidence.

        `entity_name` keeps to memories about that entity. In graph mode it is where the search starts,
        and `hops` says how far it goes. Being returned makes a memory stronger, after it was scored.
        """
        limit = checked_limit(self._context.tuning.search_limit if limit is None else limit, MOST_RESULTS)
        question = _Question(
            query=self._checked(query),
            mode=mode,
            filter=checked_filter(filter),
            entity_name=entity_name,
            hops=_checked_hops(hops),
            pool=_pool(checked_offset(offset) + limit),
        )
        meaning = _ASKED_FOR if mode == "keyword" else self._indexing.meaning(query, "memory")
        with self._context.reading() as tx:
            rank = self._through_graph if mode == "graph" else self._by_text
            ranking = rank(tx, question, meaning)
            seqs = list(ranking.scores)[offset : offset + limit]
            hits = self._hits(tx, seqs, ranking, explain)
        self._context.reinforce([hit.memory.seq for hit in hits])
        return Answer(mode=ranking.mode, hits=hits, total=len(ranking.scores))

    def recall_for_agent(
        self,
        query: str | None = None,
        *,
        mode: AgentMode = "hybrid",
        filter: Filter = EVERYTHING,
        sort_by: SortOrder | None = None,
        limit: int = 10,
        explain: bool = False,
    ) -> Answer:
        """Memories for an agent: for a query, or the newest, the most important, those of one type.

        `sort_by` orders what is chosen without a query; each mode has an order of its own.
        """
        checked_limit(limit, MOST_FOR_AGENT)
        filter = checked_filter(filter)
        if mode == "hybrid":
            answer = self._recollect(self._checked(query or ""), filter, limit, explain)
        else:
            if mode == "typed" and not filter.types:
                raise Invalid("typed mode needs a memory_type: say which type to list")
            answer = self._choose(mode, filter, sort_by, limit)
        self._context.reinforce([hit.memory.seq for hit in answer.hits])
        return answer

    def _checked(self, query: str) -> str:
        if not checked_query(query, self._context.limits).strip():
            raise Invalid("the query is empty: say what to look for, in words that memories may contain")
        return query

    def _by_text(self, tx: Transaction, question: _Question, meaning: Meaning | ByWordsOnly) -> _Ranking:
        filter = question.filter
        if question.entity_name is not None:
            filter = _only_about(filter, tx.entities.get(question.entity_name))
        by_meaning = question.mode == "semantic" and isinstance(meaning, Meaning)
        terms = [] if by_meaning else query_terms(question.query)
        evidence = self._gather(tx, terms, meaning, filter, question.pool)
        matches = self._matches(evidence, question.mode, meaning)
        scores = {seq: score * _trust(evidence.standing[seq]) for seq, score in matches.items()}

        def explained(seq: int) -> dict[str, Any]:
            return {**_parts(evidence, seq), "match": matches[seq], **_factors(evidence.standing[seq])}

        return _Ranking(_ran(question.mode, meaning), best_first(scores), evidence.standing, explained)

    def _matches(self, evidence: Candidates, mode: Mode, meaning: Meaning | ByWordsOnly) -> dict[int, float]:
        tuning = self._context.tuning
        if isinstance(meaning, ByWordsOnly):
            return evidence.by_words()
        if mode == "semantic":
            return evidence.by_meaning(tuning.min_similarity)
        return evidence.by_both(tuning.keyword_weight)

    def _through_graph(
        self, tx: Transaction, question: _Question, meaning: Meaning | ByWordsOnly
    ) -> _Ranking:
        if question.entity_name is not None:
            starts = [tx.entities.get(question.entity_name)]
        else:
            starts = starting_entities(tx, question.query)
        weights = connected(tx, starts, question.hops)
        found = memories_of(tx, weights, question.filter, half_life=self._half_life)
        standing = tx.memories.standing(found, question.filter, half_life=self._half_life)
        evidence = self._gather(tx, query_terms(question.query), meaning, question.filter, question.pool)
        matches = self._matches(evidence, "hybrid", meaning)
        # In hundredths: what an entity is told about weighs nearly the same, and the query shall decide.
        scores = {seq: round(weight * _trust(standing[seq]), 2) for seq, (weight, _) in found.items()}
        ranked = dict(sorted(scores.items(), key=lambda item: (-item[1], -matches.get(item[0], 0.0))))

        def explained(seq: int) -> dict[str, Any]:
            weight, entity_seq = found[seq]
            through = tx.entities.get_seq(entity_seq).name
            graph = {"through": through, "weight": weight, "match": matches.get(seq, 0.0)}
            return {"graph": graph, **_factors(standing[seq])}

        names = ", ".join(entity.name for entity in starts)
        return _Ranking(f"graph, from {names or 'no entity'}", ranked, standing, explained)

    def _recollect(self, query: str, filter: Filter, limit: int, explain: bool) -> Answer:
        """What words, meaning and associations bring up together, the best of it in order of relevance."""
        meaning = self._indexing.meaning(query, "memory")
        pool = _pool(limit)
        with self._context.reading() as tx:
            evidence = self._gather(tx, query_terms(query), meaning, filter, pool)
            matches = self._matches(evidence, "hybrid", meaning)
            found = recollect(tx, evidence, matches, filter, half_life=self._half_life, pool=pool)

            def explained(seq: int) -> dict[str, Any]:
                return {**_parts(evidence, seq), **found.explained(seq)}

            ranking = _Ranking(
                _ran("hybrid", meaning), found.curated(CURATED * limit), found.standing, explained
            )
            hits = self._hits(tx, list(ranking.scores)[:limit], ranking, explain)
        return Answer(mode=ranking.mode, hits=hits, total=len(found.fused))

    def _choose(self, mode: AgentMode, filter: Filter, sort_by: SortOrder | None, limit: int) -> Answer:
        """The first in a mode's own order, superseded ones last, then sorted as they are to be shown."""
        order = _OWN_ORDER[mode] if mode != "typed" else sort_by or _OWN_ORDER[mode]
        with self._context.reading() as tx:
            total = tx.memories.count(filter, half_life=self._half_life)
            memories: list[Memory] = []
            for superseded in (False, True):
                wanted = replace(filter, superseded=superseded)
                memories += tx.memories.find(
                    wanted, order=order, limit=limit - len(memories), half_life=self._half_life
                )
            names = entity_names(tx, memories)
            now = tx.at
        shown = sorted(memories, key=_SORTING[sort_by]) if sort_by else memories
        hits = tuple(
            Hit(
                memory=memory,
                score=1 - rank / len(shown),
                effective_confidence=self._confidence(memory, now),
                entities=names[memory.id],
            )
            for rank, memory in enumerate(shown)
        )
        return Answer(mode=mode, hits=hits, total=total)

    def _confidence(self, memory: Memory, now: datetime) -> float:
        return effective_confidence(
            memory.confidence, memory.last_used_at, now, self._half_life, memory.pinned_at is not None
        )

    def _gather(
        self,
        tx: Transaction,
        terms: Sequence[str],
        meaning: Meaning | ByWordsOnly,
        filter: Filter,
        pool: int,
    ) -> Candidates:
        return gather(tx, terms, meaning, filter, half_life=self._half_life, pool=pool)

    def _hits(
        self, tx: Transaction, seqs: Sequence[int], ranking: _Ranking, explain: bool
    ) -> tuple[Hit, ...]:
        found = tx.memories.fetch(seqs)
        names = entity_names(tx, list(found.values()))
        return tuple(
            Hit(
                memory=found[seq],
                score=min(1.0, ranking.scores[seq]),
                effective_confidence=ranking.standing[seq].effective_confidence,
                entities=names[found[seq].id],
                explanation=ranking.explained(seq) if explain else None,
            )
            for seq in seqs
            if seq in found
        )


_SORTING: Mapping[SortOrder, Callable[[Memory], tuple[float, float, int]]] = {
    "recent": lambda memory: (0, -memory.created_at.timestamp(), -memory.seq),
    "importance": lambda memory: (-memory.importance, -memory.created_at.timestamp(), -memory.seq),
    "most_accessed": lambda memory: (-memory.access_count, -memory.created_at.timestamp(), -memory.seq),
}


def _pool(wanted: int) -> int:
    """How many candidates each list gives; in few steps, so that the pages of one search agree."""
    pool = POOL
    while pool < 2 * wanted:
        pool *= 2
    return pool


def _checked_hops(hops: int) -> int:
    if not 1 <= hops <= MOST_HOPS:
        raise Invalid(f"hops must be between 1 and {MOST_HOPS}, not {hops}")
    return hops


def _only_about(filter: Filter, entity: Entity) -> Filter:
    return replace(filter, entity_seq=entity.seq)


def _ran(mode: Mode, meaning: Meaning | ByWordsOnly) -> str:
    if mode == "keyword" or isinstance(meaning, Meaning):
        return mode
    return f"keyword only: {meaning.reason}"


def _trust(standing: RankingFacts) -> float:
    return standing.effective_confidence * (SUPERSEDED if standing.superseded else 1.0)


def _parts(evidence: Candidates, seq: int) -> dict[str, Any]:
    return {
        "keyword": evidence.keyword.get(seq),
        "cosine": evidence.cosine.get(seq),
        "semantic": evidence.semantic(seq) if seq in evidence.cosine else None,
    }


def _factors(standing: RankingFacts) -> dict[str, Any]:
    return {"effective_confidence": standing.effective_confidence, "superseded": standing.superseded}
