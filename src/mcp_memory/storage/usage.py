"""Records how entities are used. Not journaled: use is no change of knowledge."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from mcp_memory.storage.scope import Scope


@dataclass(frozen=True, slots=True)
class EntityAccess:
    count: int
    last_at: datetime
    active_days: int


@dataclass(frozen=True, slots=True)
class CoOccurrence:
    a_seq: int
    b_seq: int
    count: int
    last_at: datetime


class Usage:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def record(self, seqs: Sequence[int]) -> None:
        """Count entities that were shown together; at most one statement's worth."""
        at, day = self._scope.at, self._scope.at.date().isoformat()
        self._scope.change_each("record_access", seqs, at=at)
        self._scope.change_each("record_access_day", seqs, day=day)
        if len(seqs) > 1:
            self._scope.change_each("record_co_occurrences", seqs, at=at)

    def accesses(self, seqs: Iterable[int]) -> dict[int, EntityAccess]:
        return {
            row["entity_seq"]: EntityAccess(row["access_count"], row["last_at"], row["active_days"])
            for row in self._scope.fetch("accesses_of", seqs)
        }

    def degrees(self, seqs: Iterable[int]) -> dict[int, int]:
        """The number of active relations of each."""
        return {row["entity_seq"]: row["degree"] for row in self._scope.fetch("degrees_of", seqs)}

    def co_occurrences(self, seqs: Sequence[int]) -> list[CoOccurrence]:
        """Among at most one statement's worth of entities."""
        found = self._scope.fetch("co_occurrences_among", seqs)
        return [CoOccurrence(row["a_seq"], row["b_seq"], row["count"], row["last_at"]) for row in found]
