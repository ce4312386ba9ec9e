"""Breadth-first reads of the graph, one query per step."""

from collections.abc import Sequence

from mcp_memory.model import Memory, Relation
from mcp_memory.storage.memories import MEMORY_COLUMNS, memory_of
from mcp_memory.storage.relations import RELATION_COLUMNS, relation_of
from mcp_memory.storage.scope import Scope


class GraphWalk:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def step(self, seqs: Sequence[int], min_strength: float, limit: int) -> list[tuple[int, int]]:
        """Both ends of the relations that touch one of these entities, strongest first."""
        names, bound = self._scope.connection.listed(seqs)
        found = self._scope.run(
            "relations_around", slots={"keys": names}, **bound, min_strength=min_strength, limit=limit
        )
        return [(row["source_seq"], row["target_seq"]) for row in found]

    def among(self, seqs: Sequence[int], min_strength: float, limit: int) -> list[Relation]:
        """Relations with both ends among these entities, the strongest first."""
        names, bound = self._scope.connection.listed(seqs)
        found = self._scope.run(
            "relations_among",
            slots={"columns": RELATION_COLUMNS, "keys": names},
            **bound,
            min_strength=min_strength,
            limit=limit,
        )
        return [relation_of(row) for row in found]

    def best_connected(self, min_strength: float, limit: int) -> dict[int, int]:
        """Entities with the most relations, most first, and how many each has."""
        found = self._scope.run("best_connected", min_strength=min_strength, limit=limit)
        return {row["seq"]: row["degree"] for row in found}

    def newest_memories(self, seqs: Sequence[int], per_entity: int) -> dict[int, list[Memory]]:
        """The newest memories about each entity, newest first."""
        found: dict[int, list[Memory]] = {}
        for row in self._scope.fetch(
            "newest_memories_of", seqs, slots={"columns": MEMORY_COLUMNS}, per_entity=per_entity
        ):
            found.setdefault(row["entity_seq"], []).append(memory_of(row))
        return found
