"""Reads and writes relations between entities."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcp_memory.errors import NotFound
from mcp_memory.model import Entity, Relation
from mcp_memory.storage.database import Row
from mcp_memory.storage.schema import COLUMNS
from mcp_memory.storage.scope import Scope

RELATION_COLUMNS = (
    ", ".join(f"o.{column}" for column in COLUMNS["relation"] if column != "space_id")
    + ", s.name AS source, t.name AS target"
)
_SLOTS = {"columns": RELATION_COLUMNS}


def relation_of(row: Row) -> Relation:
    values: dict[str, Any] = {name: row.get(name) for name in Relation.__slots__}
    return Relation(**values)


class Relations:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get_seq(self, seq: int) -> Relation:
        row = self._scope.first("relation_by_seq", slots=_SLOTS, seq=seq)
        if row is None:
            raise NotFound(f"no relation has the number {seq}")
        return relation_of(row)

    def get_id(self, id: str) -> Relation:
        row = self._scope.first("relation_by_id", slots=_SLOTS, id=id)
        if row is None:
            raise NotFound(f"no relation has the id {id}")
        return relation_of(row)

    def fetch(self, seqs: Iterable[int]) -> dict[int, Relation]:
        found = self._scope.fetch("relations_by_seq", seqs, slots=_SLOTS)
        return {row["seq"]: relation_of(row) for row in found}

    def active(self, source: Entity, target: Entity, type: str) -> Relation | None:
        row = self._scope.first(
            "active_relation", slots=_SLOTS, source_seq=source.seq, target_seq=target.seq, type=type
        )
        return relation_of(row) if row else None

    def touching(self, seqs: Iterable[int], *, ended: bool = False) -> list[Relation]:
        """With at least one end among the entities, in the order they were stored."""
        found = {row["seq"]: row for row in self._scope.fetch("relations_touching", seqs, slots=_SLOTS)}
        return [relation_of(found[seq]) for seq in sorted(found) if ended or found[seq]["ended_at"] is None]

    def first_touching(self, seqs: Sequence[int], *, ended: bool, limit: int) -> tuple[list[Relation], int]:
        """The oldest relations with an end among at most one statement's worth of entities, and how many
        there are."""
        if not seqs:
            return [], 0
        names, bound = self._scope.connection.listed(seqs)
        wanted = {**bound, "ended": int(ended)}
        count = self._scope.count("count_relations_touching", slots={"keys": names}, **wanted)
        slots = {**_SLOTS, "keys": names}
        found = (
            self._scope.run("first_relations_touching", slots=slots, **wanted, limit=limit) if limit else []
        )
        return [relation_of(row) for row in found], count

    def page(self, after: int, limit: int) -> list[Relation]:
        found = self._scope.run("relations_page", slots=_SLOTS, after=after, limit=limit)
        return [relation_of(row) for row in found]

    def find(
        self, *, type: str | None, ended: bool, limit: int, offset: int, after: int = 0
    ) -> list[Relation]:
        where, params = self._where(type, ended)
        place = {"limit": limit, "offset": offset, "after": after}
        found = self._scope.run("find_relations", slots={**_SLOTS, "where": where}, **params, **place)
        return [relation_of(row) for row in found]

    def count_found(self, *, type: str | None, ended: bool) -> int:
        where, params = self._where(type, ended)
        return self._scope.count("count_found_relations", slots={"where": where}, **params)

    def count(self) -> int:
        return self._scope.count("count_relations")

    def add(
        self,
        *,
        id: str,
        source: Entity,
        target: Entity,
        type: str,
        strength: float = 0.5,
        confidence: float = 1.0,
        context: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Relation:
        row = {
            "id": id, "source_seq": source.seq, "target_seq": target.seq,
            "type": type, "strength": strength, "confidence": confidence, "context": context,
            "metadata": dict(metadata or {}), "created_at": self._scope.at, "updated_at": self._scope.at,
            "ended_at": None,
        }  # fmt: skip
        seq = self._scope.rows.insert("relation", row)
        return relation_of({**row, "seq": seq, "source": source.name, "target": target.name})

    def change(self, relation: Relation, **changes: Any) -> Relation:
        self._scope.rows.update("relation", relation.seq, {**changes, "updated_at": self._scope.at})
        return self.get_seq(relation.seq)

    def remove(self, relation: Relation) -> None:
        """Delete the relation with its reflections."""
        for reflection in self._scope.run(
            "reflection_seqs_about", target_type="relation", target_seq=relation.seq
        ):
            self._scope.rows.delete("reflection", reflection["seq"])
        self._scope.rows.delete("relation", relation.seq)

    def _where(self, type: str | None, ended: bool) -> tuple[str, dict[str, Any]]:
        conditions, params = ["o.space_id = :space_id"], {}
        if not ended:
            conditions.append("o.ended_at IS NULL")
        if type is not None:
            conditions.append("o.type = :type")
            params["type"] = type
        return " AND ".join(conditions), params
