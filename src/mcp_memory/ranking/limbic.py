"""The limbic score: relevance, re-ordered by how entities have been used.

    score = relevance × (1 + β_sal × importance) × temporal × (1 + γ × co-occurrence)

Usage reorders results of similar relevance. It never lifts one above another that is clearly more relevant:
`guarded` caps each score below those of clearly more relevant results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache
from operator import mul
from typing import NamedTuple

from mcp_memory.ranking.fusion import ALPHA, calibrated

CLEARLY_MORE_RELEVANT = 1.3
"""From this ratio of relevance on, usage may not swap two results.

The greatest importance multiplies a score by 1.69, and years without use by 0.1: unchecked, either would lift
merely similar results above the right one. Within the ratio they apply in full.
"""

OVER_FETCH = 3  # candidates per wanted result, from words and from vectors each

STATUS_FACTORS: Mapping[str, float] = {
    "active": 1.0, "activo": 1.0,
    "paused": 0.85, "pausado": 0.85,
    "completed": 0.7, "completado": 0.7,
    "archived": 0.5, "archivado": 0.5,
}  # fmt: skip
"""The graph tool set's multipliers; a status not listed here changes nothing."""

HOUR = timedelta(hours=1)

METADATA_FACTOR = 0.7  # for an entity that is mostly bookkeeping
METADATA_SHARE = 0.5  # "mostly": more than this share of its active observations


@dataclass(frozen=True, kw_only=True)
class LimbicWeights:
    """The constants of the graph tool set; tuning changes GAMMA and BETA_SAL."""

    beta_sal: float = 0.5  # how much importance counts
    beta_deg: float = 0.15  # how much relations add to importance
    alpha_cons: float = 0.2  # how much use on many different days adds to importance
    degree_cap: int = 15  # D_MAX: relations beyond this add nothing
    lambda_hourly: float = 0.0001  # decay per hour; a half-life of 289 days
    gamma: float = 0.01  # how much co-occurrence counts; at 0.1 it swamped all else
    floor: float = 0.1  # decay stops here, for single entities and for pairs


class EntityStanding(NamedTuple):
    """Facts about an entity that ranking needs besides its match. A tuple, as the next ones: dozens are made
    in a search.
    """

    created_at: datetime
    last_access_at: datetime | None = None
    access_count: int = 0
    active_days: int = 1
    degree: int = 0
    """The number of its active relations."""
    status: str = ""
    metadata_share: float = 0.0
    """Share of its active observations with the kind `metadata`."""

    @property
    def was_accessed(self) -> bool:
        return self.last_access_at is not None


class Matches(NamedTuple):
    """Entities that were found, with their scores: a list of each, as dozens of objects take long to make."""

    keys: Sequence[int]
    standings: Sequence[EntityStanding]
    cosines: Sequence[float | None]
    words: Sequence[float]
    """Keyword scores on a scale of 0 to 1."""
    identifiers: Sequence[float]
    """The share of the query's identifiers (INV-21047) that each contains."""


class CoOccurrence(NamedTuple):
    """Two entities that were returned together."""

    a: int
    b: int
    times: int
    last_at: datetime


class Scored(NamedTuple):
    """A candidate's score, with each factor."""

    key: int
    score: float
    base: float
    """The fused relevance by keywords and meaning."""
    deboost: float
    importance: float
    temporal_factor: float
    cooc_boost: float
    boost: float = 1.0
    """Factor of usage on the relevance, under the current weights."""

    @property
    def relevance(self) -> float:
        """Relevance without usage: the part that usage may not invert."""
        return self.base * self.deboost


def rank(
    found: Matches,
    co_occurrences: Iterable[CoOccurrence],
    now: datetime,
    weights: LimbicWeights | None = None,
    *,
    unrelated: float = 0.0,
    alpha: float = ALPHA,
) -> list[Scored]:
    """What was found by limbic score, best first; equals by relevance, then as it came.

    `unrelated` is the cosine that the model gives texts which have nothing in common.
    """
    weights = weights or LimbicWeights()
    decay = cached_decay(now, weights)
    return _ordered(
        found.keys,
        fused_relevance(found, unrelated, alpha),
        [deboost(standing) for standing in found.standings],
        importance(found.standings, weights),
        [decay(standing.last_access_at or standing.created_at) for standing in found.standings],
        list(togetherness(found.keys, co_occurrences, decay).values()),
        weights,
    )


def weighed(factors: Sequence[Scored], weights: LimbicWeights) -> list[Scored]:
    """The same factors under these weights, best first; equals by relevance, then as they came."""
    return _ordered(
        [item.key for item in factors],
        [item.base for item in factors],
        [item.deboost for item in factors],
        [item.importance for item in factors],
        [item.temporal_factor for item in factors],
        [item.cooc_boost for item in factors],
        weights,
    )


def _ordered(
    keys: Sequence[int],
    bases: Sequence[float],
    deboosts: Sequence[float],
    importances: Sequence[float],
    temporals: Sequence[float],
    together: Sequence[float],
    weights: LimbicWeights,
) -> list[Scored]:
    """Factors of each candidate, one list each: hundreds of small calls would take most of a ranking."""
    beta, gamma = weights.beta_sal, weights.gamma
    relevances = list(map(mul, bases, deboosts))
    boosts = [
        (1 + beta * salience) * temporal * (1 + gamma * company)
        for salience, temporal, company in zip(importances, temporals, together, strict=True)
    ]
    places = sorted(range(len(keys)), key=relevances.__getitem__, reverse=True)
    scores = list(map(mul, relevances, boosts))
    held = guarded([scores[place] for place in places], [relevances[place] for place in places])
    for place, score in zip(places, held, strict=True):
        scores[place] = score
    columns = (keys, scores, bases, deboosts, importances, temporals, together, boosts)
    scored = list(map(Scored._make, zip(*columns, strict=True)))
    places.sort(key=scores.__getitem__, reverse=True)  # keeps the order of equals
    return [scored[place] for place in places]


def fused_relevance(found: Matches, unrelated: float = 0.0, alpha: float = ALPHA) -> list[float]:
    """The fused relevance of each candidate by keywords and meaning, from 0 to 1.

    When no candidate has a cosine (no model), or none was found by words, the other kind counts whole.
    An identifier in the query counts as much as everything else, if any candidate contains it: by keywords
    and meaning alone, similar invoices are hard to tell apart.
    """
    fused = _fused(found, unrelated, alpha)
    if not any(found.identifiers):
        return fused
    return [(base + share) / 2 for base, share in zip(fused, found.identifiers, strict=True)]


def importance(standings: Sequence[EntityStanding], weights: LimbicWeights) -> list[float]:
    """Salience from accesses, relations and active days, relative to the most used candidate: 0 to 1.38."""
    most_accesses = max([standing.access_count for standing in standings], default=0)
    most_days = max([standing.active_days for standing in standings], default=0)
    if most_accesses <= 0:
        return [0.0] * len(standings)
    cap, accesses = weights.degree_cap, math.log2(1 + most_accesses)
    consolidation = _consolidation(most_days, weights)
    return [
        math.log2(1 + standing.access_count)
        / accesses
        * (1 + weights.beta_deg * min(standing.degree, cap) / cap)
        * consolidation(standing.active_days)
        if standing.access_count
        else 0.0
        for standing in standings
    ]


def temporal_factor(since: datetime, now: datetime, weights: LimbicWeights) -> float:
    """Exponential decay by the hour, from 1 down to the floor; the future counts as now."""
    hours = (now - since) / HOUR
    return max(weights.floor, math.exp(-weights.lambda_hourly * hours)) if hours > 0 else 1.0


def cached_decay(now: datetime, weights: LimbicWeights) -> Callable[[datetime], float]:
    """The temporal factor now. Computed once for each time: what was written or shown together shares it."""
    return cache(lambda since: temporal_factor(since, now, weights))


def togetherness(
    keys: Iterable[int],
    co_occurrences: Iterable[CoOccurrence],
    decay: Callable[[datetime], float],
) -> dict[int, float]:
    """How often, and how recently, each was returned together with the others."""
    sums = dict.fromkeys(keys, 0.0)
    for a, b, times, last_at in co_occurrences:
        if a == b or a not in sums or b not in sums:
            continue
        strength = math.log2(1 + times) * decay(last_at)
        sums[a] += strength
        sums[b] += strength
    return sums


def deboost(standing: EntityStanding) -> float:
    """The penalty of an entity's status and bookkeeping type."""
    mostly_metadata = standing.metadata_share > METADATA_SHARE
    return _status_factor(standing.status) * (METADATA_FACTOR if mostly_metadata else 1.0)


@lru_cache(maxsize=100)
def _status_factor(status: str) -> float:
    return STATUS_FACTORS.get(status.casefold(), 1.0)


def guarded(scores: Sequence[float], relevances: Sequence[float]) -> list[float]:
    """The scores, none above one that is clearly more relevant. Both come in the order of relevance."""
    result: list[float] = []
    ceiling = math.inf
    above = 0
    for relevance, score in zip(relevances, scores, strict=True):
        enough = CLEARLY_MORE_RELEVANT * relevance
        while relevance < relevances[above] >= enough:
            ceiling = min(ceiling, scores[above])
            above += 1
        result.append(score if score < ceiling else ceiling)
    return result


def _consolidation(most_days: int, weights: LimbicWeights) -> Callable[[int], float]:
    """The factor of an entity's active days: many accesses on one day count less than on many."""
    if most_days <= 1:  # while everything was used on a single day, they carry no information
        return lambda days: 1.0
    most = math.log2(1 + most_days)
    return cache(lambda days: 1 + weights.alpha_cons * (math.log2(1 + days) / most))


def _fused(found: Matches, unrelated: float, alpha: float) -> list[float]:
    if all(cosine is None for cosine in found.cosines):
        return list(found.words)
    meanings = [calibrated(cosine or 0.0, unrelated) for cosine in found.cosines]
    if not any(found.words):
        return meanings
    return [
        alpha * score + (1 - alpha) * meaning for score, meaning in zip(found.words, meanings, strict=True)
    ]
