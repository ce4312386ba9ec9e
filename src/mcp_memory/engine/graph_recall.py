"""Search plan through the graph: from an entity along its relations to the memories of its neighbours."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mcp_memory.engine.entity_search import matching_entities
from mcp_memory.engine.memory_candidates import MemoryCandidates
from mcp_memory.engine.memory_search import Answer, MemoryPlan
from mcp_memory.engine.pipeline import Question, Ranking
from mcp_memory.model import Entity, Filter, Relation
from mcp_memory.ranking.decay import effective_confidence, fading_factor
from mcp_memory.ranking.fusion import best_first
from mcp_memory.ranking.spreading import reached
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import RankingFacts
from mcp_memory.text.words import plain_words

FURTHER_HOP = 0.7
"""Factor on a path's weight for each hop after the first, so that near memories rank above far ones."""

MOST_ENTITIES = 500
"""How many entities a search visits, those with the strongest connections first."""

NAMES_LOOKED_AT = 50
STARTS = 3
"""How many entities a search starts from when the query names none exactly."""


@dataclass(frozen=True, slots=True)
class GraphCandidates:
    """Memories of the entities that the search visited, and what the query's words find."""

    starts: Sequence[Entity]
    reached: Mapping[int, tuple[float, int]]
    """By memory: the weight of its path, and the entity that gave it."""
    facts: Mapping[int, RankingFacts]
    by_text: MemoryCandidates


@dataclass(frozen=True)
class GraphSearch(MemoryPlan):
    """Memories around an entity, or around those the query names; ordered by path, then by match."""

    entity_name: str | None
    hops: int

    def candidates(self, tx: Transaction, question: Question) -> GraphCandidates:
        if self.entity_name is not None:
            starts = [tx.entities.get(self.entity_name)]
        else:
            starts = starting_entities(tx, question)
        half_life = self.tuning.half_life
        found = memories_of(tx, self._connected(tx, starts), self.wanted.filter, half_life=half_life)
        facts = tx.memories.ranking_facts(found, self.wanted.filter, half_life=half_life)
        return GraphCandidates(starts, found, facts, self.gathered(tx, question, self.wanted.filter))

    def _connected(self, tx: Transaction, starts: Sequence[Entity]) -> dict[int, float]:
        """A relation weighs strength × confidence, which decays from its last write."""

        def weight(relation: Relation) -> float:
            left = effective_confidence(1.0, relation.updated_at, tx.at, self.tuning.half_life)
            return relation.strength * relation.confidence * fading_factor(left, self.wanted.fading)

        return connected(tx, starts, self.hops, weight)

    def fuse(self, question: Question, candidates: GraphCandidates) -> dict[int, float]:
        return self.matched(question, candidates.by_text)

    def rerank(
        self, tx: Transaction, candidates: GraphCandidates, matches: Mapping[int, float]
    ) -> Ranking[GraphCandidates, RankingFacts]:
        reached, facts = candidates.reached, candidates.facts
        # Rounded to hundredths: paths to one entity weigh nearly the same, so the query decides.
        scores = {seq: round(weight * self.trust(facts[seq]), 2) for seq, (weight, _) in reached.items()}
        # Equal ones by their numbers, for the databases return them in an order of their own.
        order = sorted(scores, key=lambda seq: (-scores[seq], -matches.get(seq, 0.0), seq))
        ranked = {seq: scores[seq] for seq in order}

        def explained(seq: int) -> dict[str, Any]:
            weight, entity_seq = reached[seq]
            through = tx.entities.get_seq(entity_seq).name
            graph = {"through": through, "weight": weight, "match": matches.get(seq, 0.0)}
            return {"graph": graph, **self.explained_trust(facts[seq])}

        return Ranking(candidates, ranked, facts, explained)

    def hydrate(
        self, tx: Transaction, question: Question, ranking: Ranking[GraphCandidates, RankingFacts]
    ) -> Answer:
        names = ", ".join(entity.name for entity in ranking.candidates.starts)
        return Answer(
            mode=f"graph, from {names or 'no entity'}",
            hits=self.hits(tx, ranking),
            total=len(ranking.scores),
        )


def starting_entities(tx: Transaction, question: Question) -> list[Entity]:
    """Those the query names; if it names none, those it fits best."""
    found = tx.indexes.matching("entity", question.terms, tx.entities.anywhere, NAMES_LOOKED_AT)
    entities = tx.entities.fetch(seq for seq, _ in found)
    words = plain_words(question.text)
    named = [seq for seq, _ in found if seq in entities and _names(plain_words(entities[seq].name), words)]
    seqs = named or [seq for seq, _ in matching_entities(tx, question.sought, STARTS)]
    fitting = tx.entities.fetch(seqs)
    return [fitting[seq] for seq in seqs if seq in fitting]


def connected(
    tx: Transaction, starts: Sequence[Entity], hops: int, weight: Callable[[Relation], float]
) -> dict[int, float]:
    """Entities within a number of hops, each with the weights of the relations along its best path."""
    weights = {entity.seq: 1.0 for entity in starts}
    frontier = dict(weights)
    for hop in range(hops):
        decay = FURTHER_HOP if hop else 1.0
        edges = [
            (relation.source_seq, relation.target_seq, weight(relation) * decay)
            for relation in tx.relations.touching(frontier)
        ]
        gained = best_first(reached(frontier, edges))
        frontier = {seq: weight for seq, weight in gained.items() if weight > weights.get(seq, 0.0)}
        weights = dict(list(best_first({**weights, **frontier}).items())[:MOST_ENTITIES])
        frontier = {seq: weight for seq, weight in frontier.items() if seq in weights}
    return weights


def memories_of(
    tx: Transaction, weights: Mapping[int, float], filter: Filter, *, half_life: timedelta
) -> dict[int, tuple[float, int]]:
    """The weight of each memory, and the entity that gave it."""
    found: dict[int, tuple[float, int]] = {}
    for entity_seq, memory_seq, relevance in tx.memories.about(weights, filter, half_life=half_life):
        weight = weights[entity_seq] * relevance
        if memory_seq not in found or weight > found[memory_seq][0]:
            found[memory_seq] = (weight, entity_seq)
    return found


def _names(name: Sequence[str], query: Sequence[str]) -> bool:
    return bool(name) and any(list(name) == run for run in _runs(query, len(name)))


def _runs(words: Sequence[str], length: int) -> Iterator[list[str]]:
    return (list(words[start : start + length]) for start in range(len(words) - length + 1))
