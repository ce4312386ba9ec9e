"""Statistics: totals, growth, types, tags and confidence."""

from dataclasses import dataclass
from datetime import UTC, date, timedelta
from typing import Annotated, Any, Literal, get_args

from mcp_memory.embedding import NoModel
from mcp_memory.engine.context import Topic, checked_limit
from mcp_memory.engine.indexing import ENGLISH_MODELS, MULTILINGUAL_HINT
from mcp_memory.errors import Invalid
from mcp_memory.fields import Help
from mcp_memory.model import Filter
from mcp_memory.statistics import Overview, Stats
from mcp_memory.storage import Transaction
from mcp_memory.storage.analytics import Totals
from mcp_memory.text.language import is_foreign

LOW_CONFIDENCE = 0.3
"""Effective confidence below which a memory counts as low: about 52 days without use from full confidence.
Strict searches leave memories out below 0.1, and pruning archives them below 0.05.
"""

Period = Literal["day", "week", "month"]
PERIODS: tuple[Period, ...] = get_args(Period)

MOST_PERIODS = 1000
MOST_TAGS = 1000
MOST_BINS = 100

LANGUAGE_SAMPLE = 60
"""How many of the newest memories are sampled to detect the language people write in."""

_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Growth:
    """How many memories one period brought."""

    start: Annotated[date, Help("The first day of the period, in UTC.")]
    added: int
    total: Annotated[int, Help("How many there were at its end.")]


@dataclass(frozen=True, slots=True)
class Bin:
    """How many memories have an effective confidence between two values."""

    low: float
    high: Annotated[float, Help("Exclusive, except for the last bin.")]
    count: int


class Analytics(Topic):
    def stats(self) -> Stats:
        with self._context.reading() as tx:
            return Stats(**_counts(tx, self._totals(tx)))

    def overview(self) -> Overview:
        with self._context.reading() as tx:
            totals = self._totals(tx)
            return Overview(
                **_counts(tx, totals),
                pinned_memories=totals.pinned_count,
                superseded_memories=totals.superseded_count,
                forgotten_memories=tx.analytics.count("forgotten"),
                total_tags=tx.analytics.count_tags(),
                total_associations=tx.analytics.count("associations"),
                total_reflections=tx.analytics.count("reflections"),
                pending_vectors=tx.indexes.count_pending(),
                search_hint=self._language_hint(tx),
            )

    def _totals(self, tx: Transaction) -> Totals:
        return tx.analytics.totals(LOW_CONFIDENCE, self._context.tuning.half_life)

    def _language_hint(self, tx: Transaction) -> str | None:
        """Suggests another model when most memories are in a language that this one does not know."""
        embedder = self._context.embedder
        if isinstance(embedder, NoModel) or embedder.card.name not in ENGLISH_MODELS:
            return None
        newest = tx.memories.find(
            Filter(), order="recent", limit=LANGUAGE_SAMPLE, half_life=self._context.tuning.half_life
        )
        foreign = sum(is_foreign(memory.content) for memory in newest)
        if 2 * foreign <= len(newest):
            return None
        return (
            f"most of the newest memories are not in English, which is all that {embedder.card.name} knows, "
            f"so search goes mostly by words; {MULTILINGUAL_HINT}"
        )

    def growth(self, period: Period = "day", limit: int = 30) -> list[Growth]:
        """The last days, weeks (from Monday) or months, oldest first, without gaps."""
        if period not in PERIODS:
            raise Invalid(f"{period!r} is not a period of growth: choose one of {', '.join(PERIODS)}")
        checked_limit(limit, MOST_PERIODS)
        today = self._context.clock().astimezone(UTC).date()
        starts = [_start(today, period)]
        while len(starts) < limit and starts[-1] > _EPOCH:
            starts.append(_start(starts[-1] - timedelta(days=1), period))
        starts.reverse()
        with self._context.reading() as tx:
            days = tx.analytics.by_day(_number(starts[0]), _number(today))
            total = tx.analytics.before_day(_number(starts[0]))
        added = dict.fromkeys(starts, 0)
        for day, count in days.items():
            added[_start(_EPOCH + timedelta(days=day), period)] += count
        growth = []
        for start in starts:
            total += added[start]
            growth.append(Growth(start, added[start], total))
        return growth

    def types(self) -> dict[str, int]:
        """Memories of each type, the most frequent first."""
        with self._context.reading() as tx:
            return tx.analytics.by_type()

    def tags(self, limit: int = 100) -> dict[str, int]:
        """Memories with each tag, the most frequent first."""
        checked_limit(limit, MOST_TAGS)
        with self._context.reading() as tx:
            return tx.analytics.tags(limit)

    def confidence(self, bins: int = 10) -> list[Bin]:
        """The distribution of effective confidence; exactly 1 falls into the last bin."""
        checked_limit(bins, MOST_BINS)
        with self._context.reading() as tx:
            counts = tx.analytics.confidences(bins, self._context.tuning.half_life)
        return [Bin(index / bins, (index + 1) / bins, count) for index, count in enumerate(counts)]


def _start(day: date, period: Period) -> date:
    """The first day of the period that the day is in."""
    if period == "month":
        return day.replace(day=1)
    return day - timedelta(days=day.weekday()) if period == "week" else day


def _number(day: date) -> int:
    return (day - _EPOCH).days


def _counts(tx: Transaction, totals: Totals) -> dict[str, Any]:
    """The fields of `Stats`."""
    return {
        "total_memories": totals.count,
        "total_entities": tx.entities.count(),
        "total_relations": tx.relations.count(),
        "memories_by_type": tx.analytics.by_type(),
        "average_confidence": round(totals.average_confidence, 4),
        "oldest_memory": totals.oldest_at,
        "newest_memory": totals.newest_at,
        "low_confidence_count": totals.low_count,
    }
