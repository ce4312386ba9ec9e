"""Turns a filter into the one condition that searches over memories share."""

import math
from datetime import datetime, timedelta

from mcp_memory.model import Filter
from mcp_memory.storage.database import Allowed
from mcp_memory.storage.scope import in_list

EFFECTIVE_CONFIDENCE = (
    "CASE WHEN o.pinned_at IS NOT NULL THEN o.confidence"
    " ELSE o.confidence * power(0.5, (:now_epoch - o.used_epoch) / :half_life_seconds) END"
)
"""Decay at read time: the same function as `ranking.decay.effective_confidence`, where the rows are."""


def decay_params(now: datetime, half_life: timedelta) -> dict[str, float]:
    return {"now_epoch": now.timestamp(), "half_life_seconds": max(half_life.total_seconds(), math.ulp(1.0))}


def where(filter: Filter, space_id: int, now: datetime, half_life: timedelta) -> Allowed:
    """A condition over `memory o`."""
    conditions = ["o.space_id = :space_id", f"o.forgotten_at IS {'NOT ' if filter.forgotten else ''}NULL"]
    params: dict[str, object] = {"space_id": space_id}
    if filter.types:
        names, bound = in_list(filter.types, "type")
        conditions.append(f"o.type IN ({names})")
        params |= bound
    if filter.tags:
        # One sub-select for all of them: a join for each would take PostgreSQL minutes to plan.
        wanted_tags = tuple(dict.fromkeys(filter.tags))
        names, bound = in_list(wanted_tags, "tag")
        conditions.append(
            "o.seq IN (SELECT mt.memory_seq FROM memory_tag mt"
            f" WHERE mt.space_id = :space_id AND mt.tag IN ({names})"
            " GROUP BY mt.memory_seq HAVING count(*) = :tag_count)"
        )
        params |= {**bound, "tag_count": len(wanted_tags)}
    if filter.entity_seq is not None:
        conditions.append(
            "o.seq IN (SELECT em.memory_seq FROM entity_memory em WHERE em.entity_seq = :entity_seq)"
        )
        params["entity_seq"] = filter.entity_seq
    for column, value in (("source", filter.source), ("channel", filter.channel)):
        if value is not None:
            conditions.append(f"o.{column} = :{column}")
            params[column] = value
    if filter.after is not None:
        conditions.append("o.created_at > :after")
        params["after"] = filter.after
    if filter.before is not None:
        conditions.append("o.created_at < :before")
        params["before"] = filter.before
    for column, wanted in (("pinned_at", filter.pinned), ("superseded_at", filter.superseded)):
        if wanted is not None:
            conditions.append(f"o.{column} IS {'NOT ' if wanted else ''}NULL")
    if filter.min_confidence is not None:
        conditions.append(f"{EFFECTIVE_CONFIDENCE} >= :min_confidence")
        params["min_confidence"] = filter.min_confidence
    if filter.below_confidence is not None:
        conditions.append(f"{EFFECTIVE_CONFIDENCE} < :below_confidence")
        params["below_confidence"] = filter.below_confidence
    if filter.min_confidence is not None or filter.below_confidence is not None:
        params |= decay_params(now, half_life)
    return Allowed(" AND ".join(conditions), params)
