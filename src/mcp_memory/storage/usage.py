"""Acts that record how entities are used; they are not changes of what is known, so not journaled."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from mcp_memory.storage.scope import Scope


@dataclass(frozen=True, slots=True)
class Access:
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
        """The entities were shown, together."""
        unique = sorted(set(seqs))
        at, day = self._scope.at, self._scope.at.date().isoformat()
        self._scope.change_many("record_access", ({"entity_seq": seq, "at": at} for seq in unique))
        self._scope.change_many("record_access_day", ({"entity_seq": seq, "day": day} for seq in unique))
        self._scope.change_many(
            "record_co_occurrence", ({"a_seq": a, "b_seq": b, "at": at} for a, b in combinations(unique, 2))
        )

    def accesses(self, seqs: Iterable[int]) -> dict[int, Access]:
        return {
            row["entity_seq"]: Access(row["access_count"], row["last_at"], row["active_days"])
            for row in self._scope.fetch("accesses_of", seqs)
        }

    def degrees(self, seqs: Iterable[int]) -> dict[int, int]:
        """How many active relations touch each."""
        return {row["entity_seq"]: row["degree"] for row in self._scope.fetch("degrees_of", seqs)}

    def co_occurrences(self, seqs: Sequence[int]) -> list[CoOccurrence]:
        """Among at most one statement's worth of entities."""
        found = self._scope.fetch("co_occurrences_among", seqs)
        return [CoOccurrence(row["a_seq"], row["b_seq"], row["count"], row["last_at"]) for row in found]
