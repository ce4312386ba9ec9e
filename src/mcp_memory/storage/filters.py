"""Translates a filter into the SQL condition that all memory searches share."""

import math
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from mcp_memory.model import EQUAL_FILTERS, MARK_FILTERS, Filter
from mcp_memory.ranking.decay import CAPTURED_FADES_FASTER
from mcp_memory.storage.database import Allowed
from mcp_memory.storage.scope import in_list

EFFECTIVE_CONFIDENCE = (
    "CASE WHEN o.pinned_at IS NOT NULL THEN o.confidence"
    # A row from the future, by this clock, has not decayed and keeps its stored confidence.
    " WHEN o.used_epoch >= :now_epoch THEN o.confidence"
    " ELSE o.confidence * power(0.5, (:now_epoch - o.used_epoch) / :half_life_seconds"
    f" * CASE WHEN o.captured_at IS NULL THEN 1 ELSE {CAPTURED_FADES_FASTER} END) END"
)
"""Decay at read time: the same function as `ranking.decay.effective_confidence`, where the rows are."""


def decay_params(now: datetime, half_life: timedelta) -> dict[str, float]:
    return {"now_epoch": now.timestamp(), "half_life_seconds": max(half_life.total_seconds(), math.ulp(1.0))}


_COMPARISONS = {
    **{name: f"o.{name} = :{name}" for name in EQUAL_FILTERS},
    "in_project": "(o.project IS NULL OR o.project = :in_project)",
    "after": "o.created_at > :after",
    "before": "o.created_at < :before",
    "entity_seq": "o.seq IN (SELECT em.memory_seq FROM entity_memory em WHERE em.entity_seq = :entity_seq)",
    "min_confidence": f"{EFFECTIVE_CONFIDENCE} >= :min_confidence",
    "below_confidence": f"{EFFECTIVE_CONFIDENCE} < :below_confidence",
}
"""By the filter's field: the condition it sets when it is given."""


def where(
    filter: Filter, space_id: int, now: datetime, half_life: timedelta, *, ordered: bool = False
) -> Allowed:
    """A condition over `memory o`; `ordered` is for the first rows of an order that has its own index."""
    given = {name: value for name in _COMPARISONS if (value := getattr(filter, name)) is not None}
    conditions = [
        "o.space_id = :space_id",
        f"o.forgotten_at IS {'NOT ' if filter.forgotten else ''}NULL",
        *(_COMPARISONS[name] for name in given),
        *_marks(filter, ordered),
    ]
    params: dict[str, object] = {"space_id": space_id, **given}
    if given.keys() & {"min_confidence", "below_confidence"}:
        params |= decay_params(now, half_life)
    for condition, bound in (*_types(filter), *_tags(filter)):
        conditions.append(condition)
        params |= bound
    return Allowed(" AND ".join(conditions), params)


def _marks(filter: Filter, ordered: bool) -> Iterator[str]:
    for name, column in MARK_FILTERS.items():
        wanted = getattr(filter, name)
        if wanted:
            yield f"o.{column} IS NOT NULL"
        elif wanted is not None:
            # No index serves a negation. For `IS NULL`, SQLite takes the one that is made for counting,
            # `memory_shown`, and sorts everything it finds.
            yield f"NOT (o.{column} IS NOT NULL)" if ordered else f"o.{column} IS NULL"


def _types(filter: Filter) -> Iterator[tuple[str, Mapping[str, object]]]:
    if filter.types:
        names, bound = in_list(filter.types, "type")
        yield f"o.type IN ({names})", bound


def _tags(filter: Filter) -> Iterator[tuple[str, Mapping[str, object]]]:
    """One sub-select for all tags: a join for each would take PostgreSQL minutes to plan."""
    if filter.tags:
        wanted = tuple(dict.fromkeys(filter.tags))
        names, bound = in_list(wanted, "tag")
        yield (
            (
                "o.seq IN (SELECT mt.memory_seq FROM memory_tag mt"
                f" WHERE mt.space_id = :space_id AND mt.tag IN ({names})"
                " GROUP BY mt.memory_seq HAVING count(*) = :tag_count)"
            ),
            {**bound, "tag_count": len(wanted)},
        )
