"""Finds entities by meaning, words and how they have been used."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Generic, Literal, TypeVar

from mcp_memory.engine.candidates import Candidates, cosines, with_vectors
from mcp_memory.engine.context import Context, Topic, checked_limit, storable
from mcp_memory.engine.cursors import cursor_after, seq_in
from mcp_memory.engine.learning import record_search, weights_in
from mcp_memory.engine.orphan_memories import any_orphans, orphan_memories
from mcp_memory.engine.pipeline import Note, Question, Ranking, ask, search
from mcp_memory.model import Entity, Memory, Node, Outline
from mcp_memory.ranking.fusion import best_first, rrf
from mcp_memory.ranking.limbic import OVER_FETCH, EntityStanding, LimbicWeights, Matches, Scored, rank
from mcp_memory.ranking.routing import Strategy, routed, strategy_for
from mcp_memory.storage import Transaction
from mcp_memory.storage.search_log import LoggedResult, NewSearch
from mcp_memory.tuning import Tuning

MEMORY_HITS = 10
"""Memories read per candidate entity: an entity is often found through several of its observations."""

LATER_MATCH = 0.5
"""Factor by which each further matching observation of an entity counts less than the one before."""

IDENTIFIER_LENGTH = 4
"""Minimum length of a word with a digit that counts as an identifier."""

MOST_IDENTIFIERS = 4
"""Most identifiers per query: each is looked up separately."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Usage factors of an entity."""

    importance: float
    temporal_factor: float
    cooc_boost: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """How a result was found, and what each ranking step contributed."""

    place_by_meaning: int | None
    """Its place among the nearest vectors, from 1; none if it was found by words alone."""
    place_by_words: int | None
    meaning: float
    """Its cosine on the scale from unrelated (0) to the same (1)."""
    words: float
    """Its keyword score, relative to the best, which is 1."""
    identifiers: float
    """Share of the query's identifiers that it contains."""
    relevance: float
    """The fused relevance, after penalties for status and metadata and before usage."""
    deboost: float
    use: float
    """Factor of importance, age and co-occurrence on the relevance, before routing."""
    held_back: bool
    """Whether usage would have lifted it above a clearly more relevant result."""
    limbic_score: float
    """Before routing."""


N = TypeVar("N", bound=Node | Outline)
"""What is read of the entities that were found."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityHit(Generic[N]):
    """An entity that was found, with its ranking factors."""

    seq: int
    node: N
    limbic_score: float
    """The final score, by which results are ordered."""
    scoring: Scoring
    routing_strategy: str
    distance: float | None
    """1 - cosine; None without a vector."""
    rrf_score: float | None
    """None if no keyword of the query matched."""
    explanation: Explanation | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityAnswer(Generic[N]):
    """Hits, best first, and how they were searched for."""

    mode: str
    """`hybrid`, `semantic` when no word matched, or `keyword only:` and why."""
    routing_strategy: str
    hits: tuple[EntityHit[N], ...]
    orphans: tuple[Memory, ...] = ()
    """Matching memories that are about no entity."""


@dataclass(frozen=True, slots=True)
class EntityCandidates(Generic[N]):
    """Entities that words, vectors or an identifier have found."""

    found: Candidates
    fused: Mapping[int, float]
    """Reciprocal ranks, best first."""
    identifiers: Mapping[int, float]
    """Share of the query's identifiers that each contains."""
    standings: Mapping[int, EntityStanding]
    weights: LimbicWeights
    nodes: Mapping[int, N]
    """Those that words have found best, read while the model computed."""
    has_orphans: bool
    """Whether memories that are about no entity may match, too."""


BASELINE: Literal["BASELINE"] = "BASELINE"
"""The strategy of a search that an A/B test answers by cosine alone."""

EntityRanking = Ranking[EntityCandidates[N], Scored]
Reading = Callable[[Transaction, Sequence[int]], Mapping[int, N]]


@dataclass(frozen=True, slots=True)
class ListedEntity:
    entity: Entity
    observation_count: int


@dataclass(frozen=True, slots=True)
class ListedEntities:
    """A page of entities in stored order, and their total number."""

    entities: tuple[ListedEntity, ...]
    total: int
    cursor: str | None = None
    """Where the next page begins."""


def is_baseline(query: str, tuning: Tuning) -> bool:
    """Whether an A/B test answers this query by cosine alone; always the same for the same words."""
    if not tuning.ab_testing:
        return False
    share = int.from_bytes(hashlib.sha256(query.encode()).digest()[:4]) / 2**32
    return share < tuning.baseline_probability


class EntitySearch(Topic):
    def search(self, query: str, limit: int, *, explain: bool = False) -> EntityAnswer[Node]:
        """The entities that answer the query best. Showing them counts as use."""
        return self._found(query, limit, _nodes, explain)

    def outlines(self, query: str, limit: int, *, explain: bool = False) -> EntityAnswer[Outline]:
        """The same with only the texts of what was found, which takes half of the time."""
        return self._found(query, limit, _outlines, explain)

    def _found(self, query: str, limit: int, read: Reading[N], explain: bool) -> EntityAnswer[N]:
        checked_limit(limit, self._context.limits.entities)
        started_at = self._context.clock()
        question = ask(self._context, query, "entity")
        strategy = BASELINE if is_baseline(query, self._context.tuning) else strategy_for(query, limit)
        plan = EntityPlan(self._context, limit, read, explain, strategy, started_at)
        return search(self._context, question, plan)

    def find(
        self,
        *,
        name: str | None = None,
        type: str | None = None,
        status: str | None = None,
        limit: int,
        offset: int = 0,
        cursor: str | None = None,
        as_of: datetime | None = None,
    ) -> ListedEntities:
        """Entities in stored order; a filter that is not given does not restrict.

        A page begins at an `offset`, or at the `cursor` of the page before it, as quickly however deep.
        """
        wanted = {"name": name, "type": type, "status": status}
        for text in wanted.values():
            storable(text or "", "a filter")
        after = seq_in(cursor, offset)
        with self._context.reading(as_of=as_of) as tx:
            found = tx.entities.find(**wanted, limit=limit + 1, offset=offset, after=after)
            shown = found[:limit]
            counts = tx.entities.observation_counts([entity.seq for entity in shown])
            total = tx.entities.count_found(**wanted)
        listed = tuple(ListedEntity(one, counts.get(one.seq, 0)) for one in shown)
        return ListedEntities(listed, total, cursor_after(shown[-1].seq) if len(found) > limit else None)


@dataclass(frozen=True, slots=True)
class EntityPlan(Generic[N]):
    """Entities by snapshot vectors and words, re-ranked by how they have been used."""

    context: Context
    limit: int
    read: Reading[N]
    explain: bool
    strategy: Strategy | Literal["BASELINE"]
    started_at: datetime

    def candidates(self, tx: Transaction, question: Question) -> EntityCandidates[N]:
        wanted = self.limit * OVER_FETCH
        # Before the vector is needed: a model in this process still computes it.
        words = dict(matching_entities(tx, question.sought, wanted))
        held = _holders(tx, identifiers(question.terms), wanted)
        known = tx.usage.standings({**words, **held})
        has_orphans, weights = any_orphans(tx), weights_in(tx)
        nodes: Mapping[int, N] = {}
        if question.soon.model is not None:
            tx.indexes.prepare("entity", question.soon.model)
            nodes = self.read(tx, list({**held, **words})[: self.limit])
        found = with_vectors(tx, "entity", question.meaning, words, tx.entities.anywhere, wanted)
        fused = rrf([list(found.nearest), list(found.words)])
        seqs = list(dict.fromkeys([*fused, *held]))
        # An identifier may lead to entities beyond both lists.
        missing = cosines(tx, "entity", question.meaning, [seq for seq in seqs if seq not in fused])
        if missing:
            found = replace(found, cosine={**found.cosine, **missing})
        known |= tx.usage.standings(seq for seq in seqs if seq not in known)
        standings = {seq: known[seq] for seq in seqs if seq in known}
        return EntityCandidates(found, fused, held, standings, weights, nodes, has_orphans)

    def fuse(self, question: Question, candidates: EntityCandidates[N]) -> Mapping[int, float]:
        return candidates.fused

    def rerank(
        self, tx: Transaction, candidates: EntityCandidates[N], matches: Mapping[int, float]
    ) -> EntityRanking[N]:
        accessed = [seq for seq, standing in candidates.standings.items() if standing.was_accessed]
        pairs = tx.usage.co_occurrences(accessed)
        unrelated = candidates.found.unrelated
        scored = rank(_matches(candidates), pairs, tx.at, candidates.weights, unrelated=unrelated)
        factors = {item.key: item for item in scored}
        if self.strategy == BASELINE:
            by_cosine = {seq: candidates.found.cosine.get(seq, -1.0) for seq in factors}
            return Ranking(candidates, best_first(by_cosine), factors)
        return Ranking(candidates, routed(scored, self.strategy), factors)

    def hydrate(self, tx: Transaction, question: Question, ranking: EntityRanking[N]) -> EntityAnswer[N]:
        best = list(ranking.scores)[: self.limit]
        known = ranking.candidates.nodes
        nodes = {**known, **self.read(tx, [seq for seq in best if seq not in known])}
        wanted = "hybrid" if ranking.candidates.found.words else "semantic"
        return EntityAnswer(
            mode=question.meaning.mode(wanted),
            routing_strategy=self.strategy,
            hits=tuple(_hit(seq, nodes[seq], ranking, self.strategy, self.explain) for seq in best),
            orphans=self._orphans(tx, question) if ranking.candidates.has_orphans else (),
        )

    def _orphans(self, tx: Transaction, question: Question) -> tuple[Memory, ...]:
        return orphan_memories(tx, question, min_similarity=self.context.tuning.min_similarity)

    def remember(self, question: Question, ranking: EntityRanking[N], answer: EntityAnswer[N]) -> Note:
        """Results count as used; the search log keeps both rankings."""
        took = self.context.clock() - self.started_at

        def note(tx: Transaction) -> None:
            shown = [hit.seq for hit in answer.hits]
            search = NewSearch(
                query=question.text,
                strategy=answer.routing_strategy,
                mode=answer.mode,
                limit=self.limit,
                shown=len(shown),
                duration_ms=took / timedelta(milliseconds=1),
                results=_logged(ranking, self.limit),
            )
            tx.usage.record(shown)
            tx.memories.reinforce([memory.seq for memory in answer.orphans])
            record_search(tx, self.context.tuning, search)

        return note


def matching_entities(tx: Transaction, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Entities whose name, type, description or observations hold any of the terms, best first.

    An entity counts its name and its best observation in full, and further ones less and less, so that an
    entity with many observations does not match everything.
    """
    scores = dict(tx.indexes.matching("entity", terms, tx.entities.anywhere, limit))
    hits = tx.indexes.matching("memory", terms, tx.memories.current_observations, limit * MEMORY_HITS)
    links = tx.entities.seqs_of_memories(seq for seq, _ in hits)
    weight: dict[int, float] = {}
    for memory_seq, score in hits:
        for seq in links.get(memory_seq, ()):
            share = weight.get(seq, 1.0)
            scores[seq] = scores.get(seq, 0.0) + share * score
            weight[seq] = share * LATER_MATCH
    return list(best_first(scores).items())[:limit]


def _nodes(tx: Transaction, seqs: Sequence[int]) -> dict[int, Node]:
    entities = tx.entities.fetch(seqs)
    return {node.entity.seq: node for node in tx.entities.nodes(entities[seq] for seq in seqs)}


def _outlines(tx: Transaction, seqs: Sequence[int]) -> dict[int, Outline]:
    return tx.entities.outlines(seqs)


def identifiers(terms: Iterable[str]) -> list[str]:
    """The identifiers among the terms, longest first: words with digits, except years."""
    codes = [term for term in terms if len(term) >= IDENTIFIER_LENGTH and _is_code(term)]
    return sorted(codes, key=len, reverse=True)[:MOST_IDENTIFIERS]


def _is_code(term: str) -> bool:
    is_year = len(term) == 4 and term.isdigit() and term[:2] in ("19", "20")
    return any(character.isdigit() for character in term) and not is_year


def _holders(tx: Transaction, codes: Sequence[str], wanted: int) -> dict[int, float]:
    """Share of the known identifiers that each entity contains.

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


def _matches(candidates: EntityCandidates[N]) -> Matches:
    found, keyword, identifiers = candidates.found, candidates.found.keyword, candidates.identifiers
    seqs = list(candidates.standings)
    return Matches(
        keys=seqs,
        standings=list(candidates.standings.values()),
        cosines=[found.cosine.get(seq) for seq in seqs],
        words=[keyword.get(seq, 0.0) for seq in seqs],
        identifiers=[identifiers.get(seq, 0.0) for seq in seqs],
    )


def _hit(seq: int, node: N, ranking: EntityRanking[N], strategy: str, explain: bool) -> EntityHit[N]:
    candidates = ranking.candidates
    scored = ranking.factors[seq]
    cosine = candidates.found.cosine.get(seq)
    return EntityHit(
        seq=seq,
        node=node,
        limbic_score=ranking.scores[seq],
        scoring=Scoring(scored.importance, scored.temporal_factor, scored.cooc_boost),
        routing_strategy=strategy,
        distance=None if cosine is None else 1 - cosine,
        rrf_score=candidates.fused.get(seq) if candidates.found.words else None,
        explanation=_explanation(seq, scored, candidates) if explain else None,
    )


def _explanation(seq: int, scored: Scored, candidates: EntityCandidates[N]) -> Explanation:
    found = candidates.found
    return Explanation(
        place_by_meaning=_place(seq, found.nearest),
        place_by_words=_place(seq, found.words),
        meaning=found.semantic(seq),
        words=found.keyword.get(seq, 0.0),
        identifiers=candidates.identifiers.get(seq, 0.0),
        relevance=scored.relevance,
        deboost=scored.deboost,
        use=scored.boost,
        held_back=scored.score < scored.relevance * scored.boost,
        limbic_score=scored.score,
    )


def _logged(ranking: EntityRanking[N], limit: int) -> list[LoggedResult]:
    """The results of both rankings, for the search log."""
    cosine, known = ranking.candidates.found.cosine, ranking.candidates.standings
    nearest = [seq for seq in best_first(cosine) if seq in known]
    places = {seq: place for place, seq in enumerate(ranking.scores, start=1)}
    by_cosine = {seq: place for place, seq in enumerate(nearest, start=1)}
    either = dict.fromkeys([*list(ranking.scores)[:limit], *nearest[:limit]])
    return [
        LoggedResult(
            entity_seq=seq,
            rank=places[seq],
            baseline_rank=by_cosine.get(seq),
            relevance=ranking.factors[seq].relevance,
            limbic_score=ranking.scores[seq],
            cosine=cosine.get(seq),
            importance=ranking.factors[seq].importance,
            temporal=ranking.factors[seq].temporal_factor,
            cooc=ranking.factors[seq].cooc_boost,
        )
        for seq in either
    ]


def _place(seq: int, scores: Mapping[int, float]) -> int | None:
    return list(scores).index(seq) + 1 if seq in scores else None
