"""Records how entities are used. Not journaled: usage is not a change of knowledge."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcp_memory.ranking.limbic import CoOccurrence, EntityUsage
from mcp_memory.storage.database import Row
from mcp_memory.storage.scope import Scope


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityStanding(EntityUsage):
    """Facts about an entity that ranking needs besides its match."""

    status: str
    metadata_share: float
    """The share of `metadata` among its current observations."""

    @property
    def was_accessed(self) -> bool:
        return self.last_access_at is not None


class Usage:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def record(self, seqs: Sequence[int]) -> None:
        """Count entities that were shown together; at most `scope.CHUNK` of them."""
        at, day = self._scope.at, self._scope.at.date().isoformat()
        self._scope.change_each("record_access", seqs, at=at)
        self._scope.change_each("record_access_day", seqs, day=day)
        if len(seqs) > 1:
            self._scope.change_each("record_co_occurrences", seqs, at=at)

    def standings(self, seqs: Iterable[int]) -> dict[int, EntityStanding]:
        return {row["seq"]: _standing(row) for row in self._scope.fetch("entity_standings", seqs)}

    def co_occurrences(self, seqs: Sequence[int]) -> list[CoOccurrence]:
        """Among at most one statement's worth of entities."""
        return list(map(CoOccurrence._make, self._scope.fetch_tuples("co_occurrences_among", seqs)))


def _standing(row: Row) -> EntityStanding:
    was_accessed = row["last_at"] is not None
    return EntityStanding(
        created_at=row["created_at"],
        status=row["status"],
        access_count=row["access_count"] if was_accessed else 0,
        last_access_at=row["last_at"],
        active_days=row["active_days"] if was_accessed else 1,
        degree=row["degree"],
        metadata_share=float(row["share"] or 0.0),
    )
