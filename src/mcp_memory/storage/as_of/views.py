"""Entities, relations, memories and indexes as they were at a moment.

Each view answers the questions that reads as of a moment ask; the rest of its base class is about today.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from mcp_memory.errors import EntityNotFound, NotFound
from mcp_memory.model import (
    EQUAL_FILTERS,
    MARK_FILTERS,
    EmbeddingModel,
    Entity,
    Filter,
    Memory,
    Node,
    Owner,
    Relation,
)
from mcp_memory.ranking.decay import effective_confidence
from mcp_memory.storage import filters
from mcp_memory.storage.as_of.past_rows import PastRows
from mcp_memory.storage.database import Allowed, Row
from mcp_memory.storage.entities import Entities
from mcp_memory.storage.graph_walk import GraphWalk
from mcp_memory.storage.indexes import Indexes
from mcp_memory.storage.memories import Memories, RankingFacts
from mcp_memory.storage.relations import Relations
from mcp_memory.storage.schema import COLUMNS
from mcp_memory.storage.scope import Scope
from mcp_memory.text.words import tokens

Embed = Callable[[Sequence[str]], Sequence[bytes]]
"""Vectors of texts; none when there is no model."""

MOST_EMBEDDED = 32
"""Texts of changed memories that one search embeds, the best matching first."""


def _columns(table: str) -> dict[str, str]:
    return {"columns": ", ".join(f"o.{column}" for column in COLUMNS[table])}


@dataclass(frozen=True)
class PastAllowed(Allowed):
    """A condition on today's rows, and which of them, or of those changed since, were allowed then."""

    admitted: Callable[[Iterable[int]], Iterable[int]]


class PastMemories(Memories):
    def __init__(self, scope: Scope, past: PastRows) -> None:
        super().__init__(scope)
        self._past = past
        self._found: dict[tuple[Filter, timedelta], list[Memory]] = {}

    def get(self, id: str) -> Memory:
        found = self.fetch_ids([id])
        if id not in found:
            raise NotFound(f"no memory had the id {id} then")
        return found[id]

    def fetch(self, seqs: Iterable[int]) -> dict[int, Memory]:
        wanted = dict.fromkeys(seqs)
        current = self._scope.fetch("memories_by_seq", wanted, slots=_columns("memory"))
        found = {
            row["seq"]: _memory(row) for row in self._past.seen("memory", current, _among("seq", wanted))
        }
        return {seq: found[seq] for seq in wanted if seq in found}

    def fetch_ids(self, ids: Iterable[str]) -> dict[str, Memory]:
        wanted = dict.fromkeys(ids)
        current = self._scope.fetch("memories_by_id", wanted, slots=_columns("memory"))
        found = {row["id"]: _memory(row) for row in self._past.seen("memory", current, _among("id", wanted))}
        return {id: found[id] for id in wanted if id in found}

    def find(
        self, filter: Filter, *, order: str, limit: int, offset: int = 0, half_life: timedelta
    ) -> list[Memory]:
        found = self._matching(filter, half_life)
        return sorted(found, key=self._sort_key(order, half_life))[offset : offset + limit]

    def count(self, filter: Filter, *, half_life: timedelta) -> int:
        return len(self._matching(filter, half_life))

    def allowed(self, filter: Filter, *, half_life: timedelta) -> "PastAllowed":
        """A filter over today's rows; `standing` decides by the past ones."""
        lasting = replace(
            filter, min_confidence=None, below_confidence=None, pinned=None, superseded=None, captured=None,
            forgotten=False, entity_seq=None,
        )  # fmt: skip
        today = filters.where(lasting, self._scope.space_id, self._scope.at, half_life)
        return PastAllowed(
            f"{today.condition} AND o.created_at <= :as_of",
            {**today.params, "as_of": self._scope.at},
            lambda seqs: self.standing(seqs, filter, half_life=half_life).keys(),
        )

    def standing(
        self, seqs: Iterable[int], filter: Filter, *, half_life: timedelta
    ) -> dict[int, RankingFacts]:
        found = self.fetch(seqs)
        linked = self._linked(filter, found)
        return {
            seq: RankingFacts(
                memory.channel,
                memory.created_at,
                memory.importance,
                self.confidence(memory, half_life),
                memory.superseded_at is not None,
            )
            for seq, memory in found.items()
            if self._matches(memory, filter, half_life, linked)
        }

    def neighbours(self, seqs: Iterable[int]) -> dict[int, tuple[int | None, int | None]]:
        """None: a past conversation is searched memory by memory."""
        return {}

    def contents(self, seqs: Iterable[int]) -> dict[int, str]:
        return {seq: memory.content for seq, memory in self.fetch(seqs).items()}

    def about(
        self, entity_seqs: Iterable[int], filter: Filter, *, half_life: timedelta
    ) -> list[tuple[int, int, float]]:
        wanted = dict.fromkeys(entity_seqs)
        current = self._scope.fetch("links_of_entities", wanted)
        links = self._past.seen("entity_memory", current, _among("entity_seq", wanted))
        allowed = self.standing((link["memory_seq"] for link in links), filter, half_life=half_life)
        return [
            (link["entity_seq"], link["memory_seq"], link["relevance"])
            for link in links
            if link["memory_seq"] in allowed
        ]

    def confidence(self, memory: Memory, half_life: timedelta) -> float:
        return effective_confidence(
            memory.confidence,
            memory.last_used_at,
            self._scope.at,
            half_life,
            memory.pinned_at is not None,
            memory.captured_at is not None,
        )

    def _matching(self, filter: Filter, half_life: timedelta) -> list[Memory]:
        """All memories that the filter let through; a page and its total ask for the same ones."""
        if (filter, half_life) not in self._found:
            self._found[filter, half_life] = self._search(filter, half_life)
        return self._found[filter, half_life]

    def _search(self, filter: Filter, half_life: timedelta) -> list[Memory]:
        slots = {
            **_columns("memory"),
            "where": "o.space_id = :space_id AND o.created_at <= :as_of",
            "order": "o.seq",
        }
        at, everything = self._scope.at, 2**31
        current = self._scope.run("find_memories", slots=slots, as_of=at, limit=everything, offset=0)
        memories = {row["seq"]: _memory(row) for row in self._past.seen("memory", current, _any)}
        linked = self._linked(filter, memories)
        return [one for one in memories.values() if self._matches(one, filter, half_life, linked)]

    def _linked(self, filter: Filter, memories: Iterable[int]) -> frozenset[int]:
        """Those of the memories that were about the filter's entity."""
        if filter.entity_seq is None:
            return frozenset()
        current = self._scope.fetch("links_of_entities", [filter.entity_seq])
        links = self._past.seen("entity_memory", current, _among("entity_seq", [filter.entity_seq]))
        return frozenset(link["memory_seq"] for link in links)

    def _matches(self, memory: Memory, filter: Filter, half_life: timedelta, linked: frozenset[int]) -> bool:
        confidence = self.confidence(memory, half_life)
        return all(
            (
                (memory.forgotten_at is not None) == filter.forgotten,
                not filter.types or memory.type in filter.types,
                set(filter.tags) <= set(memory.tags),
                *(getattr(filter, name) in (None, getattr(memory, name)) for name in EQUAL_FILTERS),
                *(
                    getattr(filter, name) in (None, getattr(memory, column) is not None)
                    for name, column in MARK_FILTERS.items()
                ),
                filter.in_project is None or memory.project in (None, filter.in_project),
                filter.after is None or memory.created_at > filter.after,
                filter.before is None or memory.created_at < filter.before,
                filter.entity_seq is None or memory.seq in linked,
                filter.min_confidence is None or confidence >= filter.min_confidence,
                filter.below_confidence is None or confidence < filter.below_confidence,
            )
        )

    def _sort_key(self, order: str, half_life: timedelta) -> Callable[[Memory], tuple[float, ...]]:
        def recent(memory: Memory) -> tuple[float, ...]:
            return (-memory.created_at.timestamp(), -memory.seq)

        keys: Mapping[str, Callable[[Memory], tuple[float, ...]]] = {
            "oldest": lambda memory: (memory.seq,),
            "recent": recent,
            "importance": lambda memory: (-memory.importance, *recent(memory)),
            "most_accessed": lambda memory: (-memory.access_count, *recent(memory)),
            "weakest": lambda memory: (self.confidence(memory, half_life), memory.seq),
        }
        return keys[order]


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
        current = self._scope.fetch("entities_by_name", wanted, slots=_columns("entity"))
        found: dict[str, list[Entity]] = {}
        for row in self._past.seen("entity", current, _among("name", wanted)):
            found.setdefault(row["name"], []).append(_entity(row))
        return found

    def fetch(self, seqs: Iterable[int]) -> dict[int, Entity]:
        wanted = dict.fromkeys(seqs)
        current = self._scope.fetch("entities_by_seq", wanted, slots=_columns("entity"))
        return {row["seq"]: _entity(row) for row in self._past.seen("entity", current, _among("seq", wanted))}

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
        self, *, name: str | None = None, type: str | None, status: str | None, limit: int, offset: int
    ) -> list[Entity]:
        return self._all(name=name, type=type, status=status)[offset : offset + limit]

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
            "entity_memory", self._scope.fetch("links_of_entities", wanted), _among("entity_seq", wanted)
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
            "entity_memory", self._scope.fetch("links_of_memories", wanted), _among("memory_seq", wanted)
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
        current = self._scope.fetch("entities_by_id", [id], slots=_columns("entity"))
        return next((_entity(row) for row in self._past.seen("entity", current, _among("id", [id]))), None)

    def _all(self, **wanted: str | None) -> list[Entity]:
        given = {column: value for column, value in wanted.items() if value is not None}
        current = self._scope.run("entities_page", slots=_columns("entity"), after=0, limit=2**31)
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
        current = self._scope.fetch("bare_relations_touching", wanted, slots=_columns("relation"))

        def touches(row: Row) -> bool:
            return row["source_seq"] in wanted or row["target_seq"] in wanted

        found = self._named(
            self._past.seen("relation", {row["seq"]: row for row in current}.values(), touches)
        )
        return [relation for relation in found if ended or relation.ended_at is None]

    def get_id(self, id: str) -> Relation:
        current = self._scope.fetch("bare_relations_by_id", [id], slots=_columns("relation"))
        found = self._named(self._past.seen("relation", current, _among("id", [id])))
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


class PastIndexes(Indexes):
    """Today's indexes, but memories that have changed since are found by the words they had."""

    def __init__(self, scope: Scope, past: PastRows, memories: PastMemories, embed: Embed) -> None:
        super().__init__(scope)
        self._past = past
        self._memories = memories
        self._embed = embed

    def matching(
        self, owner: Owner, terms: Sequence[str], allowed: Allowed, limit: int
    ) -> list[tuple[int, float]]:
        found = self._unchanged(owner, super().matching(owner, terms, allowed, limit))
        if owner == "memory" and terms:
            best = max((score for _, score in found), default=1.0)
            found += [(seq, share * best) for seq, share in self._shares(set(terms)).items()]
        return sorted(_admitted(found, allowed), key=lambda item: -item[1])[:limit]

    def nearest(
        self, owner: Owner, model: EmbeddingModel, vector: bytes, allowed: Allowed, limit: int
    ) -> list[tuple[int, float]]:
        found = self._unchanged(owner, super().nearest(owner, model, vector, allowed, limit))
        return _admitted(found, allowed)

    def vectors(self, owner: Owner, model: EmbeddingModel, seqs: Iterable[int]) -> dict[int, bytes]:
        wanted = list(seqs)
        found = dict(self._unchanged(owner, super().vectors(owner, model, wanted).items()))
        if owner == "memory":
            changed = self._memories.fetch(seq for seq in wanted if seq in self._past.touched("memory"))
            texts = [memory.content for memory in list(changed.values())[:MOST_EMBEDDED]]
            found |= dict(zip(changed, self._embed(texts), strict=False))
        return found

    def _unchanged(self, owner: Owner, found: Iterable[tuple[int, Any]]) -> list[tuple[int, Any]]:
        touched = self._past.touched("memory") if owner == "memory" else {}
        return [(seq, value) for seq, value in found if seq not in touched]

    def _shares(self, terms: set[str]) -> dict[int, float]:
        """For memories changed since: the share of the terms in their former words."""
        memories = self._memories.fetch(self._past.touched("memory"))
        shares = {
            seq: len(terms & set(tokens(f"{memory.content} {' '.join(memory.tags)} {memory.context or ''}")))
            / len(terms)
            for seq, memory in memories.items()
        }
        return {seq: share for seq, share in shares.items() if share}


def _admitted(found: Sequence[tuple[int, float]], allowed: Allowed) -> list[tuple[int, float]]:
    if not isinstance(allowed, PastAllowed):
        return list(found)
    admitted = set(allowed.admitted([seq for seq, _ in found]))
    return [(seq, score) for seq, score in found if seq in admitted]


def _among(column: str, values: Iterable[Any]) -> Callable[[Row], bool]:
    wanted = frozenset(values)
    return lambda row: row[column] in wanted


def _any(row: Row) -> bool:
    return True


def _memory(row: Row) -> Memory:
    values: dict[str, Any] = {name: row.get(name) for name in Memory.__slots__}
    return Memory(**{**values, "tags": tuple(row["tags"])})


def _entity(row: Row) -> Entity:
    values: dict[str, Any] = {name: row.get(name) for name in Entity.__slots__}
    return Entity(**values)


def _relation(row: Row) -> Relation:
    values: dict[str, Any] = {name: row.get(name) for name in Relation.__slots__}
    return Relation(**values)
