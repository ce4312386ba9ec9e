"""Aggregates over a space."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from mcp_memory.model import PINNED_TYPE
from mcp_memory.storage.filters import EFFECTIVE_CONFIDENCE, decay_params
from mcp_memory.storage.scope import Scope

_EFFECTIVE = {"effective": EFFECTIVE_CONFIDENCE}


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """Statistics of the living memories."""

    count: int
    average_confidence: float
    """Effective, at this moment; 0 when there is no memory."""
    low_count: int
    pinned_count: int
    """Pinned explicitly, not because of their type."""
    superseded_count: int
    oldest_at: datetime | None
    newest_at: datetime | None


class Analytics:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def totals(self, low: float, half_life: timedelta) -> Totals:
        [row] = self._scope.run(
            "memory_totals",
            slots=_EFFECTIVE,
            low=low,
            pinned_type=PINNED_TYPE,
            **self._decay(half_life),
        )
        oldest, newest = self._scope.first("oldest_memory_time"), self._scope.first("newest_memory_time")
        return Totals(
            count=int(row["count"]),
            average_confidence=float(row["average_confidence"] or 0),
            low_count=int(row["low_count"] or 0),
            pinned_count=int(row["pinned_count"] or 0),
            superseded_count=int(row["superseded_count"]),
            oldest_at=oldest["created_at"] if oldest else None,
            newest_at=newest["created_at"] if newest else None,
        )

    def by_type(self) -> dict[str, int]:
        """The most frequent first."""
        return {row["type"]: row["count"] for row in self._scope.run("memories_by_type")}

    def by_day(self, first_day: int, last_day: int) -> dict[int, int]:
        """Memories stored per day, for days with any; days are counted from 1970 in UTC."""
        found = self._scope.run("memories_by_day", first_day=first_day, last_day=last_day)
        return {row["day"]: row["count"] for row in found}

    def before_day(self, day: int) -> int:
        return self._scope.count("count_before_day", day=day)

    def tags(self, limit: int) -> dict[str, int]:
        """The most frequent first."""
        return {row["tag"]: row["count"] for row in self._scope.run("tag_counts", limit=limit)}

    def count_tags(self) -> int:
        return self._scope.count("count_tags")

    def confidences(self, bin_count: int, half_life: timedelta) -> list[int]:
        """How many memories lie in each of the equal parts between 0 and 1."""
        bins = [0] * bin_count
        for row in self._scope.run(
            "confidence_histogram", slots=_EFFECTIVE, bin_count=bin_count, **self._decay(half_life)
        ):
            bins[int(row["bin"])] = row["count"]
        return bins

    def count(self, what: str) -> int:
        """The count of `associations`, `reflections` or `forgotten` memories."""
        return self._scope.count(f"count_{what}")

    def _decay(self, half_life: timedelta) -> dict[str, float]:
        return decay_params(self._scope.at, half_life)
