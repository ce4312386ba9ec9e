"""Finds entities by meaning and words together."""

from dataclasses import dataclass

from mcp_memory.engine.context import Topic, checked_limit, checked_query
from mcp_memory.engine.indexing import Indexing, Meaning
from mcp_memory.model import Node
from mcp_memory.ranking.fusion import best_first, rrf
from mcp_memory.storage import Transaction
from mcp_memory.storage.database import Allowed
from mcp_memory.text.words import query_terms

OVERFETCH = 3
"""Candidates from each list, per result that is wanted."""

MEMORY_HITS = 10
"""Memories looked at per candidate entity: an entity is often found by several of its observations."""

LATER_MATCH = 0.5
"""What each further matching observation of an entity adds, beside the one before it."""


@dataclass(frozen=True, slots=True)
class EntityHit:
    """An entity that was found, and by what."""

    node: Node
    distance: float | None
    rrf_score: float | None


@dataclass(frozen=True, slots=True)
class EntityAnswer:
    """What was found, best first, and how it was looked for."""

    mode: str
    hits: tuple[EntityHit, ...]


class EntitySearch(Topic):
    def search(self, query: str, limit: int) -> EntityAnswer:
        checked_query(query, self._context.limits)
        checked_limit(limit, self._context.limits.entities)
        meaning = Indexing(self._context).meaning(query, "entity")
        with self._context.reading() as tx:
            wanted = limit * OVERFETCH
            by_words = matching_entities(tx, query, wanted)
            by_meaning = nearest_entities(tx, meaning, wanted) if isinstance(meaning, Meaning) else []
            fused = rrf([[seq for seq, _ in by_meaning], [seq for seq, _ in by_words]])
            cosines = dict(by_meaning)
            best = list(fused)[:limit]
            entities = tx.entities.fetch(best)
            nodes = tx.entities.nodes(entities[seq] for seq in best if seq in entities)
        self._context.record_use(best)
        mode = "hybrid" if isinstance(meaning, Meaning) else f"keyword only: {meaning.reason}"
        return EntityAnswer(mode, tuple(_hit(node, cosines, fused if by_words else {}) for node in nodes))


def nearest_entities(tx: Transaction, meaning: Meaning, limit: int) -> list[tuple[int, float]]:
    """Entities whose snapshots are closest in meaning, with their cosines."""
    return tx.indexes.nearest("entity", meaning.model, meaning.vector, _anywhere(tx), limit)


def matching_entities(tx: Transaction, query: str, limit: int) -> list[tuple[int, float]]:
    """Entities whose name, type, description or observations hold words of the query, best first.

    An entity counts its name and its best observation in full, and further ones less and less, so
    that much being known about something does not make it match everything.
    """
    terms = query_terms(query)
    scores = dict(tx.indexes.matching("entity", terms, _anywhere(tx), limit))
    current = Allowed(
        "o.space_id = :space_id AND o.forgotten_at IS NULL AND o.superseded_at IS NULL"
        " AND EXISTS (SELECT 1 FROM entity_memory em WHERE em.memory_seq = o.seq)",
        {"space_id": tx.scope.space_id},
    )
    hits = tx.indexes.matching("memory", terms, current, limit * MEMORY_HITS)
    links = tx.entities.of_memories(seq for seq, _ in hits)
    weight: dict[int, float] = {}
    for memory_seq, score in hits:
        for link in links.get(memory_seq, ()):
            seq = link["entity_seq"]
            share = weight.get(seq, 1.0)
            scores[seq] = scores.get(seq, 0.0) + share * score
            weight[seq] = share * LATER_MATCH
    return list(best_first(scores).items())[:limit]


def _anywhere(tx: Transaction) -> Allowed:
    return Allowed("o.space_id = :space_id", {"space_id": tx.scope.space_id})


def _hit(node: Node, cosines: dict[int, float], fused: dict[int, float]) -> EntityHit:
    cosine = cosines.get(node.entity.seq)
    return EntityHit(node, None if cosine is None else 1 - cosine, fused.get(node.entity.seq))
