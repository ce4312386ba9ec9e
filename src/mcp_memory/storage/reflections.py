"""Reads and writes reflections."""

from collections.abc import Iterable

from mcp_memory.errors import NotFound
from mcp_memory.model import Reflection, ReflectionTarget
from mcp_memory.storage.database import Allowed, Row
from mcp_memory.storage.schema import COLUMNS
from mcp_memory.storage.scope import Scope

REFLECTION_COLUMNS = ", ".join(f"o.{column}" for column in COLUMNS["reflection"] if column != "space_id")
_SLOTS = {"columns": REFLECTION_COLUMNS}


def reflection_of(row: Row) -> Reflection:
    return Reflection(**{name: row[name] for name in Reflection.__slots__})


class Reflections:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def add(
        self, *, id: str, target_type: ReflectionTarget, target_seq: int | None, author: str, content: str,
        mood: str | None,
    ) -> Reflection:  # fmt: skip
        row = {
            "id": id, "target_type": target_type, "target_seq": target_seq,
            "author": author, "content": content, "mood": mood, "created_at": self._scope.at,
        }  # fmt: skip
        return reflection_of({**row, "seq": self._scope.rows.insert("reflection", row)})

    def fetch(self, seqs: Iterable[int]) -> dict[int, Reflection]:
        found = self._scope.fetch("reflections_by_seq", seqs, slots=_SLOTS)
        return {row["seq"]: reflection_of(row) for row in found}

    def about(self, target_type: ReflectionTarget, seqs: Iterable[int]) -> list[Reflection]:
        found = self._scope.fetch("reflections_about", seqs, slots=_SLOTS, target_type=target_type)
        return [reflection_of(row) for row in found]

    def allowed(self, **wanted: str | int | None) -> Allowed:
        """Filter by author, mood or target; None does not restrict."""
        given = {column: value for column, value in wanted.items() if value is not None}
        conditions = ["o.space_id = :space_id", *(f"o.{column} = :{column}" for column in given)]
        return Allowed(" AND ".join(conditions), {"space_id": self._scope.space_id, **given})

    def get_id(self, id: str) -> Reflection:
        row = self._scope.first("reflection_by_id", slots=_SLOTS, id=id)
        if row is None:
            raise NotFound(f"no reflection has the id {id}")
        return reflection_of(row)

    def find(self, allowed: Allowed, limit: int, offset: int) -> list[Reflection]:
        """The newest first."""
        found = self._scope.run(
            "find_reflections",
            slots={**_SLOTS, "where": allowed.condition},
            **allowed.params,
            limit=limit,
            offset=offset,
        )
        return [reflection_of(row) for row in found]

    def count_found(self, allowed: Allowed) -> int:
        return self._scope.count(
            "count_found_reflections", slots={"where": allowed.condition}, **allowed.params
        )

    def remove(self, reflection: Reflection) -> None:
        self._scope.rows.delete("reflection", reflection.seq)
