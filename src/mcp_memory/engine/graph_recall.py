"""Finds memories through the graph: from an entity along its relations to what is known of its neighbours."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from mcp_memory.engine.entity_search import matching_entities
from mcp_memory.model import Entity, Filter
from mcp_memory.ranking.fusion import best_first
from mcp_memory.ranking.spreading import reached
from mcp_memory.storage import Transaction
from mcp_memory.text.words import plain_words, query_terms

FURTHER_HOP = 0.7
"""What each hop after the first leaves of a path's weight, so that the near counts before the far."""

MOST_ENTITIES = 500
"""How many entities a search visits, those with the strongest connections first."""

NAMES_LOOKED_AT = 50
STARTS = 3
"""How many entities a search begins at when the query names none outright."""


def starting_entities(tx: Transaction, query: str) -> list[Entity]:
    """Those the query names; if it names none, those it fits best."""
    found = tx.indexes.matching("entity", query_terms(query), tx.entities.anywhere, NAMES_LOOKED_AT)
    entities = tx.entities.fetch(seq for seq, _ in found)
    words = plain_words(query)
    named = [seq for seq, _ in found if seq in entities and _names(plain_words(entities[seq].name), words)]
    seqs = named or [seq for seq, _ in matching_entities(tx, query_terms(query), STARTS)]
    fitting = tx.entities.fetch(seqs)
    return [fitting[seq] for seq in seqs if seq in fitting]


def connected(tx: Transaction, starts: Sequence[Entity], hops: int) -> dict[int, float]:
    """Entities within so many hops; each weighs strength × confidence along its best path."""
    weights = {entity.seq: 1.0 for entity in starts}
    frontier = dict(weights)
    for hop in range(hops):
        decay = FURTHER_HOP if hop else 1.0
        edges = [
            (relation.source_seq, relation.target_seq, relation.strength * relation.confidence * decay)
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
    """By memory: its weight, and the entity that gave it."""
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
