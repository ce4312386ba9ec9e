"""Records how entities are used. Not journaled: usage is not a change of knowledge."""

from collections.abc import Iterable, Sequence

from mcp_memory.ranking.limbic import CoOccurrence, EntityStanding
from mcp_memory.storage.scope import Scope


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
        found = self._scope.fetch_tuples("entity_standings", seqs)
        return {row[0]: EntityStanding._make(row[1:]) for row in found}

    def co_occurrences(self, seqs: Sequence[int]) -> list[CoOccurrence]:
        """Among at most one statement's worth of entities."""
        return list(map(CoOccurrence._make, self._scope.fetch_tuples("co_occurrences_among", seqs)))
