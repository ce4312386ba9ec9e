"""Memories as they were at a moment.

Overrides the methods that reads as of a moment use; the rest of the base class reads today's rows.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from mcp_memory.errors import NotFound
from mcp_memory.model import (
    EQUAL_FILTERS,
    MARK_FILTERS,
    Filter,
    Memory,
)
from mcp_memory.ranking.decay import effective_confidence
from mcp_memory.storage import filters
from mcp_memory.storage.as_of.past_rows import PastRows, among, columns_of
from mcp_memory.storage.database import Allowed, Row
from mcp_memory.storage.memories import Memories, RankingFacts
from mcp_memory.storage.orders import ListPosition
from mcp_memory.storage.scope import Scope


@dataclass(frozen=True)
class PastAllowed(Allowed):
    """A condition on today's rows, and a check of which rows, including changed ones, were allowed then."""

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
        current = self._scope.fetch("memories_by_seq", wanted, slots=columns_of("memory"))
        found = {row["seq"]: _memory(row) for row in self._past.seen("memory", current, among("seq", wanted))}
        return {seq: found[seq] for seq in wanted if seq in found}

    def fetch_ids(self, ids: Iterable[str]) -> dict[str, Memory]:
        wanted = dict.fromkeys(ids)
        current = self._scope.fetch("memories_by_id", wanted, slots=columns_of("memory"))
        found = {row["id"]: _memory(row) for row in self._past.seen("memory", current, among("id", wanted))}
        return {id: found[id] for id in wanted if id in found}

    def find(
        self,
        filter: Filter,
        *,
        order: str,
        limit: int,
        offset: int = 0,
        after: ListPosition | None = None,
        half_life: timedelta,
    ) -> list[Memory]:
        key = self._sort_key(order, half_life)
        found = [one for one in self._matching(filter, half_life) if not after or key(one) > after.keys]
        return sorted(found, key=key)[offset : offset + limit]

    def place(self, memory: Memory, order: str, *, begun_at: datetime, half_life: timedelta) -> ListPosition:
        """The past does not move: the moment that is read is the moment that counts."""
        return ListPosition(self._sort_key(order, half_life)(memory), begun_at)

    def count(self, filter: Filter, *, half_life: timedelta) -> int:
        return len(self._matching(filter, half_life))

    def allowed(self, filter: Filter, *, half_life: timedelta) -> "PastAllowed":
        """A filter over today's rows; `ranking_facts` decides by the past ones."""
        lasting = replace(
            filter, min_confidence=None, below_confidence=None, pinned=None, superseded=None, captured=None,
            forgotten=False, entity_seq=None,
        )  # fmt: skip
        today = filters.where(lasting, self._scope.space_id, self._scope.at, half_life)
        return PastAllowed(
            f"{today.condition} AND o.created_at <= :as_of",
            {**today.params, "as_of": self._scope.at},
            lambda seqs: self.ranking_facts(seqs, filter, half_life=half_life).keys(),
        )

    def ranking_facts(
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

    def whole_space(self, filter: Filter, most: int, longest: int, *, half_life: timedelta) -> None:
        """None: a past conversation is searched memory by memory."""

    def neighbours(self, seqs: Iterable[int]) -> dict[int, tuple[int | None, int | None]]:
        """None, for the same reason."""
        return {}

    def contents(self, seqs: Iterable[int]) -> dict[int, str]:
        return {seq: memory.content for seq, memory in self.fetch(seqs).items()}

    def about(
        self, entity_seqs: Iterable[int], filter: Filter, *, half_life: timedelta
    ) -> list[tuple[int, int, float]]:
        wanted = dict.fromkeys(entity_seqs)
        current = self._scope.fetch("links_of_entities", wanted)
        links = self._past.seen("entity_memory", current, among("entity_seq", wanted))
        allowed = self.ranking_facts((link["memory_seq"] for link in links), filter, half_life=half_life)
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
        """All memories that passed the filter; cached, because a page and its total need the same ones."""
        if (filter, half_life) not in self._found:
            self._found[filter, half_life] = self._search(filter, half_life)
        return self._found[filter, half_life]

    def _search(self, filter: Filter, half_life: timedelta) -> list[Memory]:
        slots = {
            **columns_of("memory"),
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
        links = self._past.seen("entity_memory", current, among("entity_seq", [filter.entity_seq]))
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


def _any(row: Row) -> bool:
    return True


def _memory(row: Row) -> Memory:
    values: dict[str, Any] = {name: row.get(name) for name in Memory.__slots__}
    return Memory(**{**values, "tags": tuple(row["tags"])})
