"""Scores a sentence by its features: whether to keep it, and as what type."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_memory.capture.features import seen_in

KEEP: Mapping[str, int] = {
    "request": 0,
    "correction": 0,
    "todo": 5,
    "decision": 5,
    "preference": 6,
    "fact": 9,
}
"""Points per kind from which a sentence is kept even if no rule matches it."""

BEAR = -15
"""Points below which a sentence is not kept even if a rule matches it."""

BEAR_IF_ASKED = -30
"""The same for what somebody asks to be remembered."""

_START = -13

POINTS: Mapping[str, int] = {
    "asks to remember": 11,
    "from now on": 15,
    "standing": 4,
    "norm": 5,
    "forbids": 3,
    "taste": 7,
    "changed": 2,
    "lasting verb": 3,
    "states what something is": 4,
    "it is": 15,
    "we are in or on": 7,
    "of the speaker": 1,
    "of a group": 11,
    "of a person": 4,
    "of body or life": 3,
    "names somebody or something": 7,
    "holds a value": 4,
    "names a day": 9,
    "contrasts": 10,
    "denies": 5,
    "decided": 0,
    "gives a reason": 1,
    "draws a consequence": 7,
    "still open": 7,
    "has a duty": -2,
    "asks": -25,
    "asks of you": -7,
    "orders": -7,
    "supposes": -5,
    "hedges": -11,
    "points at hand": -10,
    "begins by pointing": -4,
    "trouble": -12,
    "comments": -12,
    "of the moment": -3,
    "reports others": -9,
    "others say": -6,
    "parts of code": -6,
    "needs something now": -6,
    "is short": -16,
    "has a list or a colon": 5,
}
"""By feature: tenths of the weights of a logistic regression on the labelled turns of `tests/data`."""

POINTS_TOGETHER: Mapping[tuple[str, str], int] = {
    ("standing", "trouble"): -6,
    ("standing", "of the speaker"): 6,
    ("taste", "points at hand"): -3,
    ("taste", "of the speaker"): 7,
    ("still open", "has a duty"): 9,
    ("of a person", "names somebody or something"): 4,
    ("states what something is", "holds a value"): 2,
    ("states what something is", "names somebody or something"): 5,
    ("denies", "contrasts"): 4,
    ("denies", "holds a value"): 6,
    ("of a group", "lasting verb"): 2,
    ("names somebody or something", "lasting verb"): 8,
    ("it is", "contrasts"): -3,
    ("decided", "gives a reason"): 6,
    ("decided", "of a group"): 3,
    ("of the speaker", "of body or life"): 4,
    ("asks", "standing"): -5,
    ("orders", "from now on"): 3,
    ("norm", "parts of code"): -2,
    ("parts of code", "standing"): 3,
    ("parts of code", "states what something is"): -4,
}
"""Extra points for two features in one sentence."""

NEVER_ALONE = frozenset({"asks", "hedges", "is short", "suggests", "reports others", "needs something now"})
"""With one of these features, points are not enough: a rule has to match."""


def points(seen: set[str]) -> int:
    """The sum for the features of a sentence.

    >>> points(seen_in("Yusuf owns the backups, not Tom.")) >= KEEP["fact"]
    True
    >>> points(seen_in("Can you look at the flaky test?")) >= BEAR
    False
    """
    return _START + sum(told_by(seen).values())


def told_by(seen: set[str]) -> dict[str, int]:
    """What each feature adds, for people to read."""
    alone = {name: worth for name, worth in POINTS.items() if name in seen}
    together = {f"{a}, {b}": worth for (a, b), worth in POINTS_TOGETHER.items() if a in seen and b in seen}
    return alone | together


def kind(seen: set[str]) -> str:
    """The name of the rule that such a sentence would belong to.

    >>> kind(seen_in("we're going with Tauri because it is small"))
    'decision'
    """
    for name, marks in _MARKS:
        if any(mark <= seen for mark in marks):
            return name
    return "fact"


def weighed(text: str) -> tuple[str | None, int]:
    """The kind that a sentence would be kept as by its points alone, if any, and the points.

    >>> weighed("I think we should use Postgres.")[0]
    """
    seen = seen_in(text)
    worth, name = points(seen), kind(seen)
    return (name if worth >= KEEP[name] and not seen & NEVER_ALONE else None), worth


_MARKS: tuple[tuple[str, tuple[set[str], ...]], ...] = (
    ("request", ({"asks to remember"},)),
    ("correction", ({"denies", "contrasts"}, {"denies", "states what something is"}, {"denies", "it is"})),
    ("todo", ({"still open", "has a duty"},)),
    ("decision", ({"decided"},)),
    ("preference", ({"from now on"}, {"forbids"}, {"taste"}, {"standing", "norm"}, {"standing", "orders"})),
)
"""The first kind that one of its sets of features fits."""
