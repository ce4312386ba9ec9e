"""Entities, relations and walks of the graph as they were at a moment.

Overrides the methods that reads as of a moment use; the rest of the base class reads today's rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from mcp_memory.errors import EntityNotFound, NotFound
from mcp_memory.model import (
    Entity,
    Memory,
    Node,
    Relation,
)
from mcp_memory.storage.as_of.past_memories import PastMemories
from mcp_memory.storage.as_of.past_rows import PastRows, among, columns_of
from mcp_memory.storage.database import Row
from mcp_memory.storage.entities import Entities
from mcp_memory.storage.graph_walk import GraphWalk
from mcp_memory.storage.relations import Relations
from mcp_memory.storage.scope import Scope


class PastEntities(Entities):
    def __init__(self, scope: Scope, past: PastRows, memories: PastMemories) -> None:
        super().__init__(scope)
        self._past = past
        self._memories = memories

    def get(self, which: str) -> Entity:
        found = self.find_one(which)
        if found is None:
            raise EntityNotFound(f"{which} (at {self._scope.at.isoformat()})")
        return found

    def named(self, names: Iterable[str]) -> dict[str, list[Entity]]:
        wanted = dict.fromkeys(names)
        current = self._scope.fetch("entities_by_name", wanted, slots=columns_of("entity"))
        found: dict[str, list[Entity]] = {}
        for row in self._past.seen("entity", current, among("name", wanted)):
            found.setdefault(row["name"], []).append(_entity(row))
        return found

    def fetch(self, seqs: Iterable[int]) -> dict[int, Entity]:
        wanted = dict.fromkeys(seqs)
        current = self._scope.fetch("entities_by_seq", wanted, slots=columns_of("entity"))
        return {row["seq"]: _entity(row) for row in self._past.seen("entity", current, among("seq", wanted))}

    def get_seq(self, seq: int) -> Entity:
        found = self.fetch([seq])
        if seq not in found:
            raise NotFound(f"no entity had the number {seq} then")
        return found[seq]

    def get_id(self, id: str) -> Entity:
        found = self._find_id(id)
        if found is None:
            raise NotFound(f"no entity had the id {id} then")
        return found

    def page(self, after: int, limit: int) -> list[Entity]:
        return [entity for entity in self._all() if entity.seq > after][:limit]

    def count(self) -> int:
        return len(self._all())

    def find(
        self,
        *,
        name: str | None = None,
        type: str | None,
        status: str | None,
        limit: int,
        offset: int,
        after: int = 0,
    ) -> list[Entity]:
        found = [one for one in self._all(name=name, type=type, status=status) if one.seq > after]
        return found[offset : offset + limit]

    def count_found(self, *, name: str | None = None, type: str | None, status: str | None) -> int:
        return len(self._all(name=name, type=type, status=status))

    def nodes(self, entities: Iterable[Entity], *, superseded: bool = False) -> list[Node]:
        wanted = list(entities)
        observations = self.observations([entity.seq for entity in wanted], superseded=superseded)
        return [Node(entity, tuple(observations.get(entity.seq, ()))) for entity in wanted]

    def observation_counts(self, seqs: Iterable[int]) -> dict[int, int]:
        return {seq: len(found) for seq, found in self.observations(seqs).items()}

    def observations(self, seqs: Iterable[int], *, superseded: bool = False) -> dict[int, list[Memory]]:
        """The memories about each entity, in the order they were linked."""
        wanted = dict.fromkeys(seqs)
        links = self._past.seen(
            "entity_memory", self._scope.fetch("links_of_entities", wanted), among("entity_seq", wanted)
        )
        memories = self._memories.fetch(link["memory_seq"] for link in links)
        found: dict[int, list[Memory]] = {}
        for link in links:
            memory = memories.get(link["memory_seq"])
            if memory and memory.forgotten_at is None and (superseded or memory.superseded_at is None):
                found.setdefault(link["entity_seq"], []).append(memory)
        return found

    def of_memories(self, seqs: Iterable[int]) -> dict[int, list[Row]]:
        wanted = dict.fromkeys(seqs)
        links = self._past.seen(
            "entity_memory", self._scope.fetch("links_of_memories", wanted), among("memory_seq", wanted)
        )
        entities = self.fetch(link["entity_seq"] for link in links)
        found: dict[int, list[Row]] = {}
        for link in links:
            entity = entities.get(link["entity_seq"])
            if entity is not None:
                told = {"name": entity.name, "type": entity.type, "id": entity.id}
                found.setdefault(link["memory_seq"], []).append({**link, **told})
        return found

    def _find_id(self, id: str) -> Entity | None:
        current = self._scope.fetch("entities_by_id", [id], slots=columns_of("entity"))
        return next((_entity(row) for row in self._past.seen("entity", current, among("id", [id]))), None)

    def _all(self, **wanted: str | None) -> list[Entity]:
        given = {column: value for column, value in wanted.items() if value is not None}
        current = self._scope.run("entities_page", slots=columns_of("entity"), after=0, limit=2**31)
        rows = self._past.seen(
            "entity", current, lambda row: all(row[column] == value for column, value in given.items())
        )
        return [_entity(row) for row in rows]


class PastRelations(Relations):
    def __init__(self, scope: Scope, past: PastRows, entities: PastEntities) -> None:
        super().__init__(scope)
        self._past = past
        self._entities = entities

    def touching(self, seqs: Iterable[int], *, ended: bool = False) -> list[Relation]:
        wanted = dict.fromkeys(seqs)
        current = self._scope.fetch("bare_relations_touching", wanted, slots=columns_of("relation"))

        def touches(row: Row) -> bool:
            return row["source_seq"] in wanted or row["target_seq"] in wanted

        found = self._named(
            self._past.seen("relation", {row["seq"]: row for row in current}.values(), touches)
        )
        return [relation for relation in found if ended or relation.ended_at is None]

    def get_id(self, id: str) -> Relation:
        current = self._scope.fetch("bare_relations_by_id", [id], slots=columns_of("relation"))
        found = self._named(self._past.seen("relation", current, among("id", [id])))
        if not found:
            raise NotFound(f"no relation had the id {id} then")
        return found[0]

    def _named(self, rows: Sequence[Row]) -> list[Relation]:
        """Relations whose two ends existed, with the names these had."""
        ends = self._entities.fetch(row[end] for row in rows for end in ("source_seq", "target_seq"))
        return [
            _relation({**row, "source": ends[row["source_seq"]].name, "target": ends[row["target_seq"]].name})
            for row in rows
            if row["source_seq"] in ends and row["target_seq"] in ends
        ]


class PastWalk(GraphWalk):
    def __init__(self, scope: Scope, entities: PastEntities, relations: PastRelations) -> None:
        super().__init__(scope)
        self._entities = entities
        self._relations = relations

    def step(self, seqs: Sequence[int], min_strength: float, limit: int) -> list[tuple[int, int]]:
        found = self._strongest(seqs, min_strength)
        return [(relation.source_seq, relation.target_seq) for relation in found[:limit]]

    def among(self, seqs: Sequence[int], min_strength: float, limit: int) -> list[Relation]:
        present = set(seqs)
        return [
            relation
            for relation in self._strongest(seqs, min_strength)
            if relation.source_seq in present and relation.target_seq in present
        ][:limit]

    def newest_memories(self, seqs: Sequence[int], per_entity: int) -> dict[int, list[Memory]]:
        found = self._entities.observations(seqs)
        return {seq: list(reversed(memories))[:per_entity] for seq, memories in found.items()}

    def _strongest(self, seqs: Sequence[int], min_strength: float) -> list[Relation]:
        found = [one for one in self._relations.touching(seqs) if one.strength >= min_strength]
        return sorted(found, key=lambda relation: (-relation.strength, relation.seq))


def _entity(row: Row) -> Entity:
    values: dict[str, Any] = {name: row.get(name) for name in Entity.__slots__}
    return Entity(**values)


def _relation(row: Row) -> Relation:
    values: dict[str, Any] = {name: row.get(name) for name in Relation.__slots__}
    return Relation(**values)
