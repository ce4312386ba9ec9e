"""Decay and reinforcement of confidence, and its weight in search results."""

from datetime import datetime, timedelta
from math import exp2

from mcp_memory.tuning import Fading

HALF_LIFE = timedelta(days=30)  # the memory tool set's CONFIDENCE_HALF_LIFE_DAYS
STRICT_FLOOR = 0.1  # recall_memories hides what has faded below it, unless fading is gentle
GENTLE = 0.1  # the share of a score that gentle fading can take
REINFORCEMENT = 0.1  # what being returned adds
CAPTURED_FADES_FASTER = 10  # a captured memory's half-life is three days where others' is thirty


def effective_confidence(
    confidence: float,
    last_used_at: datetime,
    now: datetime,
    half_life: timedelta = HALF_LIFE,
    pinned: bool = False,
    captured: bool = False,
) -> float:
    """Confidence × 0.5^(age / half-life), where age counts from the last use, or from creation.

    Computed at read time, never stored. A pinned memory does not decay.
    """
    if pinned:
        return confidence
    age = max(timedelta(0), now - last_used_at)  # clocks of two machines may disagree
    return confidence * exp2(-(age / half_life) * (CAPTURED_FADES_FASTER if captured else 1))


def fading_factor(effective: float, fading: Fading) -> float:
    """The factor on a match: confidence is not relevance."""
    return effective if fading == "strict" else 1 - GENTLE + GENTLE * effective
