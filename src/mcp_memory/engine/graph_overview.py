"""A view of the whole graph: its best connected entities, and the relations among them."""

from dataclasses import dataclass
from datetime import datetime

from mcp_memory.engine.context import Topic, checked_limit, checked_share
from mcp_memory.model import Entity, Relation

MOST_NODES = 10_000
EDGES_PER_NODE = 4
LEAST_EDGES = 2_000


@dataclass(frozen=True, slots=True)
class OverviewNode:
    entity: Entity
    degree: int
    """How many active relations touch it, also those to entities that are not shown."""
    observation_count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphOverview:
    nodes: tuple[OverviewNode, ...]
    """The best connected first."""
    edges: tuple[Relation, ...]
    """The strongest first."""
    total: int
    """How many entities there are in all."""
    truncated: bool
    """More relations exist among these entities than are shown."""


class GraphOverviews(Topic):
    def overview(
        self, *, limit: int = 500, min_strength: float = 0.0, as_of: datetime | None = None
    ) -> GraphOverview:
        """The best connected entities; with `as_of`, as they were at that moment."""
        checked_limit(limit, MOST_NODES)
        checked_share(min_strength, "min_strength")
        most = max(LEAST_EDGES, limit * EDGES_PER_NODE)
        with self._context.reading(as_of=as_of) as tx:
            degrees = tx.walk.best_connected(min_strength, limit)
            entities, counts = tx.entities.fetch(degrees), tx.entities.observation_counts(degrees)
            edges = tx.walk.among(list(degrees), min_strength, most + 1) if degrees else []
            total = tx.entities.count()
        # As of an earlier moment, a relation may name an entity that has been purged since.
        nodes = (
            OverviewNode(entities[seq], degree, counts.get(seq, 0))
            for seq, degree in degrees.items()
            if seq in entities
        )
        shown = [edge for edge in edges[:most] if {edge.source_seq, edge.target_seq} <= entities.keys()]
        return GraphOverview(nodes=tuple(nodes), edges=tuple(shown), total=total, truncated=len(edges) > most)
