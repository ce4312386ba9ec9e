"""Routing: whether a query asks for meaning alone or for frequently used entities."""

import re
import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from operator import itemgetter

from mcp_memory.ranking.fusion import best_first, min_max
from mcp_memory.ranking.limbic import Scored, guarded

LONGEST_QUERY = 2_000
"""Characters that are looked at: normalising takes time that is quadratic in a run of combining marks."""


class Strategy(StrEnum):
    """The routing decision of a search."""

    COSINE_HEAVY = "COSINE_HEAVY"
    LIMBIC_HEAVY = "LIMBIC_HEAVY"
    HYBRID_BALANCED = "HYBRID_BALANCED"


# (relevance, limbic score moved to 0..1). A balanced search goes by the limbic score alone, which
# has the relevance in it.
_BLENDS = {Strategy.COSINE_HEAVY: (0.7, 0.3), Strategy.LIMBIC_HEAVY: (0.3, 0.7)}

# Each pattern that occurs counts once. The Spanish half is the graph tool set's; all without accents.
_SIGNS = [
    (points, re.compile(rf"\b(?:{pattern})\b"))
    for points, patterns in (
        (2, ("que es", "definicion", "como funciona", "es un", "es una")),
        (2, ("what is|what s|what are", "definition|define", "how (?:does|do)\\b.*\\bwork", "is an?")),
        (1, ("relacion", "diferencia", "ejemplos", "comparar")),
        (1, ("relation|relationship", "differences?", "examples?", "compare")),
        (-2, ("explicame", "relacion entre", "dime todo", "cuentame", "que piensas")),
        (-2, ("explain", "relation(?:ship)? between", "tell me (?:all|everything)", "tell me about")),
        (-2, ("what do you think",)),
    )
    for pattern in patterns
]
_DECIDED = 2  # points to either side
_SHORT_QUERY, _LONG_QUERY = 3, 10  # words
_FEW_RESULTS, _MANY_RESULTS = 3, 10


def strategy_for(query: str, limit: int) -> Strategy:
    """Definitions, short queries and few results favour meaning; stories, long queries and many results
    usage.
    """
    plain = _plain(query)
    points = sum(points for points, sign in _SIGNS if sign.search(plain))
    points += _leaning(len(query.split()), _SHORT_QUERY, _LONG_QUERY)
    points += _leaning(limit, _FEW_RESULTS, _MANY_RESULTS)
    if points >= _DECIDED:
        return Strategy.COSINE_HEAVY
    return Strategy.LIMBIC_HEAVY if points <= -_DECIDED else Strategy.HYBRID_BALANCED


def routed(scored: Sequence[Scored], strategy: Strategy) -> dict[int, float]:
    """The final score of each candidate, best first, before any cut to a limit."""
    if strategy not in _BLENDS:
        return best_first({item.key: item.score for item in scored})
    relevance_weight, limbic_weight = _BLENDS[strategy]
    normalised = min_max({item.key: item.score for item in scored})
    rows = [(item.relevance, normalised[item.key], item.key) for item in scored]
    rows.sort(key=itemgetter(0), reverse=True)  # keeps the order of equals
    blended = [relevance_weight * relevance + limbic_weight * limbic for relevance, limbic, _ in rows]
    held = guarded(blended, [relevance for relevance, _, _ in rows])
    return best_first({key: score for (_, _, key), score in zip(rows, held, strict=True)})


def _leaning(size: int, small: int, large: int) -> int:
    return int(size <= small) - int(size >= large)


def _plain(query: str) -> str:
    """Lower case, without accents; what is not a letter or digit becomes one space."""
    letters = (
        c for c in unicodedata.normalize("NFKD", query[:LONGEST_QUERY]) if not unicodedata.combining(c)
    )
    return re.sub(r"\W+", " ", "".join(letters).casefold())
