"""Selects memories to compare or archive, and merges one into another."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from mcp_memory.model import Memory
from mcp_memory.storage import filters
from mcp_memory.storage.associations import Associations
from mcp_memory.storage.memories import MEMORY_COLUMNS, Memories, memory_of
from mcp_memory.storage.scope import Scope

Pair = frozenset[str]
"""The ids of two memories."""


class Faded(NamedTuple):
    memory: Memory
    effective_confidence: float


class Consolidation:
    def __init__(self, scope: Scope, memories: Memories, associations: Associations) -> None:
        self._scope = scope
        self._memories = memories
        self._associations = associations

    def to_compare(self, since: datetime, after: int, limit: int, *, observations: bool) -> list[int]:
        """A page of current memories that are new or changed since then."""
        found = self._scope.run(
            "memories_to_compare", since=since, after=after, limit=limit, observations=int(observations)
        )
        return [row["seq"] for row in found]

    def count_to_compare(self, since: datetime, *, observations: bool) -> int:
        return self._scope.count("count_to_compare", since=since, observations=int(observations))

    def newest(self) -> int:
        """The number of the newest memory."""
        return self._scope.count("newest_memory")

    def count_added(self, after: int) -> int:
        """The number of memories added after this one."""
        return self._scope.count("count_added", after=after)

    def parted(self) -> set[Pair]:
        """Pairs whose merge was undone: they must not be merged again."""
        return {
            frozenset({row["subject"], absorbed})
            for row in self._scope.run("merges_taken_back")
            for absorbed in row["payload"].get("absorbed_ids", ())
        }

    def contradictions(self, seqs: Iterable[int]) -> set[frozenset[int]]:
        found = self._scope.fetch("contradictions", seqs)
        return {frozenset({row["source_seq"], row["target_seq"]}) for row in found}

    def fading(self, below: float, limit: int, half_life: timedelta, important: float) -> list[Faded]:
        """Faded memories, the weakest first.

        From `important` on, importance keeps a memory whatever its confidence.
        """
        found = self._scope.run(
            "fading_memories",
            slots={"columns": MEMORY_COLUMNS, "effective": filters.EFFECTIVE_CONFIDENCE},
            **filters.decay_params(self._scope.at, half_life),
            below=below,
            important=important,
            limit=limit,
        )
        return [Faded(memory_of(row), float(row["effective"])) for row in found]

    def count_fading(self, below: float, half_life: timedelta, important: float) -> int:
        return self._scope.count(
            "count_fading",
            slots={"effective": filters.EFFECTIVE_CONFIDENCE},
            **filters.decay_params(self._scope.at, half_life),
            below=below,
            important=important,
        )

    def take_in(self, memory: Memory, absorbed: Memory) -> None:
        """Merge a memory into another: its state becomes a version, its links and associations move."""
        self._move_versions(absorbed, memory)
        self._memories.keep_version(memory, absorbed, "absorbed")
        self._move_links(absorbed, memory)
        self._associations.move(absorbed, memory)
        for row in self._scope.run("superseded_by", id=absorbed.id):
            self._scope.rows.update("memory", row["seq"], {"superseded_by": memory.id})
        self._memories.remove(absorbed)

    def _move_links(self, absorbed: Memory, into: Memory) -> None:
        linked = {link["entity_seq"] for link in self._scope.run("links_of_memory", memory_seq=into.seq)}
        for link in self._scope.run("links_of_memory", memory_seq=absorbed.seq):
            if link["entity_seq"] in linked:
                self._scope.rows.delete("entity_memory", link["seq"])
            else:
                self._scope.rows.update("entity_memory", link["seq"], {"memory_seq": into.seq})
                linked.add(link["entity_seq"])

    def _move_versions(self, absorbed: Memory, into: Memory) -> None:
        """Append the versions of the absorbed memory to the other's."""
        last = self._scope.count("last_version_of_memory", memory_seq=into.seq)
        found = self._scope.run("version_seqs_of_memory", memory_seq=absorbed.seq)
        for number, row in enumerate(found, last + 1):
            self._scope.rows.update("memory_version", row["seq"], {"memory_seq": into.seq, "number": number})
