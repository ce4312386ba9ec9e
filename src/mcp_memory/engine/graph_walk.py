"""Walks the graph outwards from one entity, within limits of depth and size."""

from dataclasses import dataclass
from datetime import datetime

from mcp_memory.engine.context import Topic, checked_share
from mcp_memory.errors import Invalid
from mcp_memory.model import Entity, Memory, Relation
from mcp_memory.storage import Transaction

MOST_DEPTH = 5
MOST_NODES = 500
MOST_EDGES = 5000
MEMORIES_PER_NODE = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class WalkedNode:
    """An entity, how many steps it is away, and the newest of the memories about it."""

    entity: Entity
    depth: int
    memories: tuple[Memory, ...]
    memory_count: int
    """Number of current memories about it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityGraph:
    """The nodes by their distance from the centre, and the active relations among them."""

    center: Entity
    nodes: tuple[WalkedNode, ...]
    edges: tuple[Relation, ...]
    truncated: bool
    """Limits were reached; the strongest relations were followed first."""


class GraphWalk(Topic):
    def entity_graph(
        self,
        name: str,
        *,
        depth: int = 1,
        min_strength: float = 0.0,
        include_memories: bool = True,
        as_of: datetime | None = None,
    ) -> EntityGraph:
        """The part of the graph within a number of relations of an entity, in either direction."""
        if not 0 <= depth <= MOST_DEPTH:
            raise Invalid(f"depth must be between 0 and {MOST_DEPTH}, not {depth}")
        checked_share(min_strength, "min_strength")
        with self._context.reading(as_of=as_of) as tx:
            center = tx.entities.get(name)
            depths, cut = _reached(tx, center, depth, min_strength)
            edges = tx.walk.among(list(depths), min_strength, MOST_EDGES + 1)
            nodes = _nodes(tx, depths, include_memories)
            shown = self._context.faded(sorted(edges[:MOST_EDGES], key=lambda one: one.seq), tx.at)
        if as_of is None:
            self._context.record_use([center.seq])
            self._context.reinforce(list({memory.seq for node in nodes for memory in node.memories}))
        return EntityGraph(
            center=center,
            nodes=nodes,
            edges=shown,
            truncated=cut or len(edges) > MOST_EDGES,
        )


def _reached(tx: Transaction, center: Entity, depth: int, min_strength: float) -> tuple[dict[int, int], bool]:
    """The distance of each entity, in the order they were reached, and whether some were left out."""
    depths = {center.seq: 0}
    frontier = [center.seq]
    cut = False
    for distance in range(1, depth + 1):
        ends = tx.walk.step(frontier, min_strength, MOST_EDGES + 1)
        reached = dict.fromkeys(seq for pair in ends[:MOST_EDGES] for seq in pair if seq not in depths)
        frontier = list(reached)[: MOST_NODES - len(depths)]
        cut = cut or len(ends) > MOST_EDGES or len(frontier) < len(reached)
        depths |= dict.fromkeys(frontier, distance)
        if not frontier:
            break
    return depths, cut


def _nodes(tx: Transaction, depths: dict[int, int], include_memories: bool) -> tuple[WalkedNode, ...]:
    entities = tx.entities.fetch(depths)
    counts = tx.entities.observation_counts(depths)
    memories = tx.walk.newest_memories(list(depths), MEMORIES_PER_NODE) if include_memories else {}
    return tuple(
        WalkedNode(
            entity=entities[seq],
            depth=distance,
            memories=tuple(memories.get(seq, ())),
            memory_count=counts.get(seq, 0),
        )
        for seq, distance in depths.items()
    )
