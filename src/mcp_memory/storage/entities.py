"""Reads and writes entities and their links to memories."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcp_memory.errors import EntityNotFound, NotFound
from mcp_memory.model import ACTIVE, Entity, Memory, Node, Outline
from mcp_memory.storage.database import Allowed, Columns, Row
from mcp_memory.storage.memories import MEMORY_COLUMNS, memory_of
from mcp_memory.storage.row_values import reader_of
from mcp_memory.storage.schema import COLUMNS
from mcp_memory.storage.scope import Scope

ENTITY_COLUMNS = ", ".join(f"o.{column}" for column in COLUMNS["entity"] if column != "space_id")
_SLOTS = {"columns": ENTITY_COLUMNS}
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NAMES_COMPARED = 2000
_LIKE_SPECIALS = str.maketrans({"\\": r"\\", "%": r"\%", "_": r"\_"})


entity_of = reader_of(Entity)


class Entities:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    @property
    def anywhere(self) -> Allowed:
        """All of the space."""
        return Allowed("o.space_id = :space_id", {"space_id": self._scope.space_id}, whole_space=True)

    def get(self, which: str) -> Entity:
        """The entity by name or id."""
        found = self.find_one(which)
        if found is None:
            close = self.names_like(which)
            raise EntityNotFound(which, close[0] if close else "")
        return found

    def names_like(self, name: str) -> list[str]:
        """Suggestions for a mistyped name, nearest first, among names with the same beginning."""
        known = {one.lower(): one for one in self.names_beginning(name[:1], NAMES_COMPARED)}
        return [known[one] for one in difflib.get_close_matches(name.lower(), known)]

    def find_one(self, which: str) -> Entity | None:
        """The entity by name, else by id."""
        return self.find_named(which) or self._find_id(which)

    def find_each(self, which: Iterable[str]) -> list[Entity]:
        """Existing ones, each once, in the order given; found as by `find_one`."""
        wanted = list(dict.fromkeys(which))
        named = self.named(wanted)
        found = [named[one][0] if one in named else self._find_id(one) for one in wanted]
        return list({entity.seq: entity for entity in found if entity}.values())

    def find_named(self, name: str, type: str | None = None) -> Entity | None:
        """The entity by name alone: the one with a given type, else the oldest."""
        found = self.named([name]).get(name, [])
        return next((entity for entity in found if entity.type == type), found[0] if found else None)

    def named(self, names: Iterable[str]) -> dict[str, list[Entity]]:
        """All entities with these names, the oldest of each name first."""
        found: dict[str, list[Entity]] = {}
        for row in sorted(
            self._scope.fetch("entities_by_name", names, slots=_SLOTS), key=lambda row: row["seq"]
        ):
            found.setdefault(row["name"], []).append(entity_of(row))
        return found

    def get_seq(self, seq: int) -> Entity:
        row = self._scope.first("entity_by_seq", slots=_SLOTS, seq=seq)
        if row is None:
            raise NotFound(f"no entity has the number {seq}")
        return entity_of(row)

    def get_id(self, id: str) -> Entity:
        row = self._scope.first("entity_by_id", slots=_SLOTS, id=id)
        if row is None:
            raise NotFound(f"no entity has the id {id}")
        return entity_of(row)

    def fetch(self, seqs: Iterable[int]) -> dict[int, Entity]:
        return {
            row["seq"]: entity_of(row) for row in self._scope.fetch("entities_by_seq", seqs, slots=_SLOTS)
        }

    def page(self, after: int, limit: int) -> list[Entity]:
        """Entities in the order they were stored."""
        return [
            entity_of(row) for row in self._scope.run("entities_page", slots=_SLOTS, after=after, limit=limit)
        ]

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
        where, params = self._where(name=name, type=type, status=status)
        place = {"limit": limit, "offset": offset, "after": after}
        found = self._scope.run("find_entities", slots={**_SLOTS, "where": where}, **params, **place)
        return [entity_of(row) for row in found]

    def count_found(self, *, name: str | None = None, type: str | None, status: str | None) -> int:
        where, params = self._where(name=name, type=type, status=status)
        return self._scope.count("count_found_entities", slots={"where": where}, **params)

    def holding(self, needle: str) -> list[Entity]:
        """Entities with the text in their name, type or a living observation, ignoring case."""
        if not needle:
            return self.page(0, self.count())
        return [entity_of(row) for row in self._holding(needle, ENTITY_COLUMNS)]

    def seqs_holding(self, needle: str) -> list[int]:
        """The numbers of the entities that `holding` finds, in order."""
        return [row["seq"] for row in self._holding(needle, "o.seq")]

    def names_beginning(self, beginning: str, limit: int) -> list[str]:
        lowered = beginning.lower()
        found = self._scope.run(
            "names_beginning",
            slots={"lower": "lower" if lowered.isascii() else "lowered"},
            beginning=f"{lowered.translate(_LIKE_SPECIALS)}%",
            limit=limit,
        )
        return [row["name"] for row in found]

    def count(self) -> int:
        return self._scope.count("count_entities")

    def count_observations(self) -> int:
        return self._scope.count("count_observations")

    def observation_counts(self, seqs: Iterable[int]) -> dict[int, int]:
        return {row["entity_seq"]: row["count"] for row in self._scope.fetch("observation_counts", seqs)}

    def add(
        self,
        *,
        id: str,
        name: str,
        type: str,
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        status: str = ACTIVE,
    ) -> Entity:
        [entity] = self.add_all(
            {
                "id": [id], "name": [name], "type": [type], "description": [description],
                "metadata": [dict(metadata or {})], "status": [status],
            }
        )  # fmt: skip
        return entity

    def add_all(self, drafts: Columns) -> list[Entity]:
        """Bulk insert, with all fields of `add`."""
        shared = {"created_at": self._scope.at, "updated_at": self._scope.at}
        return list(map(entity_of, self._scope.rows.insert_all("entity", drafts, shared)))

    def change(self, entity: Entity, **changes: Any) -> Entity:
        return entity_of(
            self._scope.rows.changed("entity", entity.seq, {**changes, "updated_at": self._scope.at})
        )

    def remove(self, entity: Entity) -> None:
        """Delete the entity with its relations, reflections and links; its memories stay."""
        rows = self._scope.rows
        for relation in self._scope.run("relation_seqs_touching", entity_seq=entity.seq):
            for reflection in self._scope.run(
                "reflection_seqs_about", target_type="relation", target_seq=relation["seq"]
            ):
                rows.delete("reflection", reflection["seq"])
            rows.delete("relation", relation["seq"])
        for reflection in self._scope.run(
            "reflection_seqs_about", target_type="entity", target_seq=entity.seq
        ):
            rows.delete("reflection", reflection["seq"])
        for link in self._scope.run("links_of_entity", entity_seq=entity.seq):
            rows.delete("entity_memory", link["seq"])
        rows.delete("entity", entity.seq)

    def nodes(self, entities: Iterable[Entity], *, superseded: bool = False) -> list[Node]:
        """The entities with their observations, in the order given."""
        wanted = list(entities)
        observations: dict[int, list[Memory]] = {}
        for row in self._scope.fetch(
            "observations_of", [entity.seq for entity in wanted], slots={"columns": MEMORY_COLUMNS}
        ):
            if superseded or row["superseded_at"] is None:
                observations.setdefault(row["entity_seq"], []).append(memory_of(row))
        return [Node(entity, tuple(observations.get(entity.seq, ()))) for entity in wanted]

    def outlines(self, seqs: Sequence[int]) -> dict[int, Outline]:
        """Names, types and current texts: a tenth of the work of `nodes`, whose rows are wide."""
        found: dict[int, Outline] = {}
        for seq, name, type, text in self._scope.fetch_tuples("outlines_of", seqs):
            outline = found.get(seq)
            if outline is None:
                outline = found[seq] = Outline(seq, name, type, [])
            if text is not None:
                outline.texts.append(text)
        return found

    def link(self, entity: Entity, memory: Memory, relevance: float = 1.0) -> None:
        self.link_all([(entity, memory)], relevance)

    def link_all(self, pairs: Sequence[tuple[Entity, Memory]], relevance: float = 1.0) -> None:
        """Link memories to entities, after their existing observations."""
        self._scope.rows.insert_all(
            "entity_memory",
            {
                "entity_seq": [entity.seq for entity, _ in pairs],
                "memory_seq": [memory.seq for _, memory in pairs],
            },
            {"relevance": relevance, "created_at": self._scope.at},
        )

    def unlink(self, entity: Entity, memory: Memory) -> int:
        """Returns how many links were removed."""
        links = [
            link for link in self._scope.run("links_of_memory", memory_seq=memory.seq)
            if link["entity_seq"] == entity.seq
        ]  # fmt: skip
        for link in links:
            self._scope.rows.delete("entity_memory", link["seq"])
        return len(links)

    def linked_to(self, memory: Memory) -> list[int]:
        """The numbers of the linked entities."""
        found = self._scope.run("links_of_memory", memory_seq=memory.seq)
        return list(dict.fromkeys(row["entity_seq"] for row in found))

    def of_memories(self, seqs: Iterable[int]) -> dict[int, list[Row]]:
        """The entities of each memory: `entity_seq`, `name`, `type`, `id`, `relevance`."""
        found: dict[int, list[Row]] = {}
        for row in self._scope.fetch("entities_of_memories", seqs):
            found.setdefault(row["memory_seq"], []).append(row)
        return found

    def seqs_of_memories(self, seqs: Iterable[int]) -> dict[int, list[int]]:
        """The numbers of the entities of each memory."""
        found: dict[int, list[int]] = {}
        for memory_seq, entity_seq in self._scope.fetch_tuples("entity_seqs_of_memories", seqs):
            found.setdefault(memory_seq, []).append(entity_seq)
        return found

    def _holding(self, needle: str, columns: str) -> list[Row]:
        lowered, scope = needle.lower(), self._scope
        containing = scope.database.words.containing
        entities = containing(scope.connection, "entity", scope.space_id, lowered)
        memories = containing(scope.connection, "memory", scope.space_id, lowered)
        slots = {"columns": columns, "lower": "lower" if lowered.isascii() else "lowered"}
        return scope.run(
            "entities_holding",
            slots={
                **slots,
                "entities": entities.condition,
                "memories": memories.condition,
                "few": "+" if memories.params else "",
            },
            **{**entities.params, **memories.params},
            needle=f"%{lowered.translate(_LIKE_SPECIALS)}%",
        )

    def _find_id(self, id: str) -> Entity | None:
        row = self._scope.first("entity_by_id", slots=_SLOTS, id=id) if _ID.fullmatch(id) else None
        return entity_of(row) if row else None

    def _where(self, **wanted: str | None) -> tuple[str, dict[str, Any]]:
        params = {column: value for column, value in wanted.items() if value is not None}
        conditions = ["o.space_id = :space_id", *(f"o.{column} = :{column}" for column in params)]
        return " AND ".join(conditions), params
