"""Finds what needs attention in the graph, and moves observations."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from mcp_memory.model import Entity
from mcp_memory.storage.scope import Scope


@dataclass(frozen=True, slots=True)
class Flagged:
    """An observation that resembles another one of its entity."""

    entity: str
    id: str
    content: str


@dataclass(frozen=True, slots=True)
class StaleRow:
    """An entity that was not opened for a long time."""

    seq: int
    name: str
    type: str
    last_at: datetime
    access_count: int


class Curation:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def above(self, least: int) -> dict[int, int]:
        """The number of current and superseded observations, by entity, where above `least`."""
        return {row["entity_seq"]: row["count"] for row in self._scope.run("entities_above", least=least)}

    def flagged(self, limit: int) -> list[Flagged]:
        return [
            Flagged(row["name"], row["id"], row["content"])
            for row in self._scope.run("flagged_observations", limit=limit)
        ]

    def count_flagged(self) -> int:
        return self._scope.count("count_flagged")

    def stale(self, before: datetime, seldom: int) -> list[StaleRow]:
        """Longest unused first."""
        return [
            StaleRow(
                row["seq"], row["name"], row["type"], row["last_at"] or row["updated_at"], row["access_count"]
            )
            for row in self._scope.run("stale_entities", before=before, seldom=seldom)
        ]

    def flag(self, seqs: Iterable[int]) -> None:
        """Not journaled: flags are derived from vectors."""
        self._scope.change_each("flag_memories", seqs, at=self._scope.at)

    def move(self, entity: Entity, to: Entity, memory_seqs: Iterable[int]) -> int:
        """Link observations to another entity, keeping order and times. Returns how many were moved."""
        wanted = set(memory_seqs)
        links = [
            link
            for link in self._scope.run("links_of_entity", entity_seq=entity.seq)
            if link["memory_seq"] in wanted
        ]
        already = {link["memory_seq"] for link in self._scope.run("links_of_entity", entity_seq=to.seq)}
        for link in links:
            if link["memory_seq"] in already:
                self._scope.rows.delete("entity_memory", link["seq"])
            else:
                self._scope.rows.update("entity_memory", link["seq"], {"entity_seq": to.seq})
        return len(links)
