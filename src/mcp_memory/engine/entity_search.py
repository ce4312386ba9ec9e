"""Finds entities by meaning, words and how they have been used."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mcp_memory.engine.context import Topic, checked_limit, checked_query
from mcp_memory.engine.indexing import ByWordsOnly, Indexing, Meaning
from mcp_memory.engine.learning import record_search, weights_in
from mcp_memory.engine.orphan_memories import unattached_memories
from mcp_memory.errors import Invalid
from mcp_memory.model import Entity, Memory, Node
from mcp_memory.ranking.fusion import best_first, calibrated, min_max, rrf
from mcp_memory.ranking.limbic import OVER_FETCH, Candidate, CoOccurrence, Scored, Usage, rank
from mcp_memory.ranking.routing import Strategy, routed, strategy_for
from mcp_memory.storage import Transaction
from mcp_memory.storage.search_log import LoggedResult
from mcp_memory.storage.usage import Access
from mcp_memory.text.words import query_terms

MEMORY_HITS = 10
"""Memories looked at per candidate entity: an entity is often found by several of its observations."""

LATER_MATCH = 0.5
"""What each further matching observation of an entity adds, beside the one before it."""

IDENTIFIER_LENGTH = 4
"""Characters from which on a word with a digit in it names one thing."""

MOST_IDENTIFIERS = 4
"""Of one query: each is looked up by itself."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """What use says about an entity."""

    importance: float
    temporal_factor: float
    cooc_boost: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Where a result came from, and what each step made of it."""

    place_by_meaning: int | None
    """Its place among the nearest vectors, from 1; none if it was found by words alone."""
    place_by_words: int | None
    meaning: float
    """Its cosine on the scale from unrelated (0) to the same (1)."""
    words: float
    """Its keyword score, beside the best one's 1."""
    identifiers: float
    """Which part of the identifiers in the query it holds."""
    relevance: float
    """All of that together, before use is looked at; status and metadata have taken their part off."""
    deboost: float
    use: float
    """What importance, age and company multiplied the relevance by, before routing."""
    held_back: bool
    """Whether its use would have lifted it above something clearly more relevant."""
    limbic_score: float
    """Before routing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityHit:
    """An entity that was found, and why it stands where it stands."""

    node: Node
    limbic_score: float
    """What the results are ordered by."""
    scoring: Scoring
    routing_strategy: str
    distance: float | None
    """1 - cosine; none when there is no vector to compare."""
    rrf_score: float | None
    """None when no word of the query was found anywhere."""
    explanation: Explanation | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityAnswer:
    """What was found, best first, and how it was looked for."""

    mode: str
    """`hybrid`, `semantic` when no word matched, or `keyword only:` and why."""
    routing_strategy: str
    hits: tuple[EntityHit, ...]
    unattached: tuple[Memory, ...] = ()
    """Memories that match as well and are about no entity."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """All the evidence that words and vectors have brought, by entity."""

    fused: dict[int, float]
    by_meaning: dict[int, float]
    by_words: dict[int, float]
    cosines: dict[int, float]
    words: dict[int, float]
    identifiers: dict[int, float]
    entities: dict[int, Entity]
    unrelated: float


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ranking:
    """Both orders of all candidates."""

    found: _Found
    scored: dict[int, Scored]
    final: dict[int, float]
    by_cosine: list[int]


class EntitySearch(Topic):
    def search(self, query: str, limit: int, *, explain: bool = False) -> EntityAnswer:
        """The entities that answer the query best. That they were shown is remembered."""
        started_at = self._context.clock()
        checked_query(query, self._context.limits)
        checked_limit(limit, self._context.limits.entities)
        if not query.strip():
            raise Invalid("the query is empty: say what to look for")
        meaning = Indexing(self._context).meaning(query, "entity")
        strategy = strategy_for(query, limit)
        with self._context.reading() as tx:
            ranking = _ranking(tx, _found(tx, query, meaning, limit * OVER_FETCH), strategy)
            best = list(ranking.final)[:limit]
            nodes = tx.entities.nodes(ranking.found.entities[seq] for seq in best)
            unattached = unattached_memories(
                tx, query_terms(query), meaning, min_similarity=self._context.tuning.min_similarity
            )
        answer = EntityAnswer(
            mode=_mode(meaning, ranking.found),
            routing_strategy=strategy,
            hits=tuple(_hit(node, ranking, strategy, explain) for node in nodes),
            unattached=unattached,
        )
        self._remember(query, limit, answer, ranking, started_at)
        return answer

    def _remember(
        self, query: str, limit: int, answer: EntityAnswer, ranking: _Ranking, started_at: datetime
    ) -> None:
        """Being shown is use."""
        took = self._context.clock() - started_at
        shown = [hit.node.entity.seq for hit in answer.hits]

        def note(tx: Transaction) -> None:
            tx.usage.record(shown)
            tx.memories.reinforce([memory.seq for memory in answer.unattached])
            record_search(
                tx,
                self._context.tuning,
                query,
                strategy=answer.routing_strategy,
                mode=answer.mode,
                limit=limit,
                shown=len(shown),
                duration_ms=took / timedelta(milliseconds=1),
                results=_logged(ranking, limit),
            )

        self._context.note_in_passing(note)


def nearest_entities(tx: Transaction, meaning: Meaning, limit: int) -> list[tuple[int, float]]:
    """Entities whose snapshots are closest in meaning, with their cosines."""
    return tx.indexes.nearest("entity", meaning.model, meaning.vector, tx.entities.anywhere, limit)


def matching_entities(tx: Transaction, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Entities whose name, type, description or observations hold any of the terms, best first.

    An entity counts its name and its best observation in full, and further ones less and less, so
    that much being known about something does not make it match everything.
    """
    scores = dict(tx.indexes.matching("entity", terms, tx.entities.anywhere, limit))
    hits = tx.indexes.matching("memory", terms, tx.memories.current_observations, limit * MEMORY_HITS)
    links = tx.entities.of_memories(seq for seq, _ in hits)
    weight: dict[int, float] = {}
    for memory_seq, score in hits:
        for link in links.get(memory_seq, ()):
            seq = link["entity_seq"]
            share = weight.get(seq, 1.0)
            scores[seq] = scores.get(seq, 0.0) + share * score
            weight[seq] = share * LATER_MATCH
    return list(best_first(scores).items())[:limit]


def identifiers(terms: Iterable[str]) -> list[str]:
    """The terms that name one thing, the longest first: words with digits in them, but not a year."""
    codes = [term for term in terms if len(term) >= IDENTIFIER_LENGTH and _is_code(term)]
    return sorted(codes, key=len, reverse=True)[:MOST_IDENTIFIERS]


def _is_code(term: str) -> bool:
    is_year = len(term) == 4 and term.isdigit() and term[:2] in ("19", "20")
    return any(character.isdigit() for character in term) and not is_year


def _found(tx: Transaction, query: str, meaning: Meaning | ByWordsOnly, wanted: int) -> _Found:
    terms = query_terms(query)
    by_words = dict(matching_entities(tx, terms, wanted))
    held = _holders(tx, identifiers(terms), wanted)
    by_meaning = dict(nearest_entities(tx, meaning, wanted)) if isinstance(meaning, Meaning) else {}
    fused = rrf([list(by_meaning), list(by_words)])
    seqs = list(dict.fromkeys([*fused, *held]))
    others = [seq for seq in seqs if seq not in by_meaning]
    return _Found(
        fused=fused,
        by_meaning=by_meaning,
        by_words=by_words,
        cosines=by_meaning | _cosines(tx, meaning, others),
        words=min_max(by_words, floor=0.0),
        identifiers=held,
        entities=_in_order(tx.entities.fetch(seqs), seqs),
        unrelated=meaning.unrelated_cosine if isinstance(meaning, Meaning) else 0.0,
    )


def _holders(tx: Transaction, codes: Sequence[str], wanted: int) -> dict[int, float]:
    """Which part of the identifiers that anybody holds each entity holds.

    Where the whole of one is found (`inv21047`), its parts (`21047`) say nothing more.
    """
    found: dict[str, list[int]] = {}
    for code in codes:
        if not any(code in longer for longer in found):
            holders = [seq for seq, _ in matching_entities(tx, [code], wanted)]
            if holders:
                found[code] = holders
    held = Counter(seq for holders in found.values() for seq in holders)
    return {seq: count / len(found) for seq, count in held.items()}


def _cosines(tx: Transaction, meaning: Meaning | ByWordsOnly, seqs: Sequence[int]) -> dict[int, float]:
    """Of those that words have found: being beyond the nearest does not make them unrelated."""
    if not isinstance(meaning, Meaning) or not seqs:
        return {}
    import numpy as np

    query = np.frombuffer(meaning.vector, np.float32)
    stored = tx.indexes.vectors("entity", meaning.model, seqs)
    return {seq: float(np.frombuffer(vector, np.float32) @ query) for seq, vector in stored.items()}


def _ranking(tx: Transaction, found: _Found, strategy: Strategy) -> _Ranking:
    accesses = tx.usage.accesses(found.entities)
    pairs = [
        CoOccurrence(pair.a_seq, pair.b_seq, pair.count, pair.last_at)
        for pair in tx.usage.co_occurrences(list(accesses))
    ]
    candidates = _candidates(tx, found, accesses)
    scored = rank(candidates, pairs, tx.at, weights_in(tx), unrelated=found.unrelated)
    return _Ranking(
        found=found,
        scored={item.key: item for item in scored},
        final=routed(scored, strategy),
        by_cosine=[seq for seq in best_first(found.cosines) if seq in found.entities],
    )


def _candidates(tx: Transaction, found: _Found, accesses: Mapping[int, Access]) -> list[Candidate]:
    degrees = tx.usage.degrees(found.entities)
    metadata = tx.entities.metadata_shares(found.entities)
    return [
        Candidate(
            key=seq,
            usage=_usage(entity, accesses.get(seq), degrees.get(seq, 0)),
            cosine=found.cosines.get(seq),
            words=found.words.get(seq),
            identifiers=found.identifiers.get(seq, 0.0),
            status=entity.status,
            metadata_share=metadata.get(seq, 0.0),
        )
        for seq, entity in found.entities.items()
    ]


def _usage(entity: Entity, access: Access | None, degree: int) -> Usage:
    if access is None:
        return Usage(created_at=entity.created_at, degree=degree)
    return Usage(
        created_at=entity.created_at,
        last_access_at=access.last_at,
        access_count=access.count,
        active_days=access.active_days,
        degree=degree,
    )


def _mode(meaning: Meaning | ByWordsOnly, found: _Found) -> str:
    if isinstance(meaning, ByWordsOnly):
        return f"keyword only: {meaning.reason}"
    return "hybrid" if found.by_words else "semantic"


def _hit(node: Node, ranking: _Ranking, strategy: Strategy, explain: bool) -> EntityHit:
    seq, found = node.entity.seq, ranking.found
    scored = ranking.scored[seq]
    cosine = found.cosines.get(seq)
    return EntityHit(
        node=node,
        limbic_score=ranking.final[seq],
        scoring=Scoring(scored.importance, scored.temporal_factor, scored.cooc_boost),
        routing_strategy=strategy,
        distance=None if cosine is None else 1 - cosine,
        rrf_score=found.fused.get(seq) if found.by_words else None,
        explanation=_explanation(seq, scored, found) if explain else None,
    )


def _explanation(seq: int, scored: Scored, found: _Found) -> Explanation:
    return Explanation(
        place_by_meaning=_place(seq, found.by_meaning),
        place_by_words=_place(seq, found.by_words),
        meaning=calibrated(found.cosines.get(seq, 0.0), found.unrelated),
        words=found.words.get(seq, 0.0),
        identifiers=found.identifiers.get(seq, 0.0),
        relevance=scored.relevance,
        deboost=scored.deboost,
        use=scored.boost,
        held_back=scored.score < scored.relevance * scored.boost,
        limbic_score=scored.score,
    )


def _logged(ranking: _Ranking, limit: int) -> list[LoggedResult]:
    """What either ranking would have shown."""
    places = {seq: place for place, seq in enumerate(ranking.final, start=1)}
    by_cosine = {seq: place for place, seq in enumerate(ranking.by_cosine, start=1)}
    either = dict.fromkeys([*list(ranking.final)[:limit], *ranking.by_cosine[:limit]])
    return [
        LoggedResult(
            entity_seq=seq,
            rank=places[seq],
            baseline_rank=by_cosine.get(seq),
            relevance=ranking.scored[seq].relevance,
            limbic_score=ranking.final[seq],
            cosine=ranking.found.cosines.get(seq),
            importance=ranking.scored[seq].importance,
            temporal=ranking.scored[seq].temporal_factor,
            cooc=ranking.scored[seq].cooc_boost,
        )
        for seq in either
    ]


def _in_order(entities: Mapping[int, Entity], seqs: Iterable[int]) -> dict[int, Entity]:
    return {seq: entities[seq] for seq in seqs if seq in entities}


def _place(seq: int, scores: Mapping[int, float]) -> int | None:
    return list(scores).index(seq) + 1 if seq in scores else None
