"""Rate limits: token buckets per caller, and for unknown secrets."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from mcp_memory.server.refusals import Refusal

MOST_CALLERS = 10_000
"""Callers whose rate is tracked; the least recently active is dropped first."""

WRONG_TOKENS = 20
"""Burst of wrong tokens per address; after that, one each `60 / WRONG_TOKENS` seconds."""

MOST_KNOWN = 1_000
"""Recently valid secrets, which are checked without delay."""


@dataclass
class Rates:
    """One token bucket per caller; it holds ten seconds' worth, and at least ten."""

    a_minute: int
    clock: Callable[[], float]
    _levels: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def spend(self, caller: str) -> None:
        """Take one; raise `Refusal` (429) when the caller has none left."""
        if not self.a_minute:
            return
        level, wait = self._level(caller)
        if wait:
            raise Refusal(429, f"Too many requests: try again in {wait} s.", **{"retry-after": str(wait)})
        self._levels[caller] = (level - 1, self.clock())
        self._levels.move_to_end(caller)
        if len(self._levels) > MOST_CALLERS:
            self._levels.popitem(last=False)

    def _level(self, caller: str) -> tuple[float, int]:
        """The remaining requests, and the seconds until the next one is allowed."""
        now, a_second = self.clock(), self.a_minute / 60
        most = max(10.0, a_second * 10)
        level, since = self._levels.get(caller, (most, now))
        level = min(most, level + (now - since) * a_second)
        return level, 0 if level >= 1 else max(1, round((1 - level) / a_second))

    def check(self, caller: str) -> None:
        """Raise `Refusal` if the caller has none left; takes none."""
        if self.a_minute and (wait := self._level(caller)[1]):
            raise Refusal(429, f"Too many wrong tokens: try again in {wait} s.", **{"retry-after": str(wait)})


class SecretChecks:
    """Slows down guessing of secrets, but not callers whose secret was valid before."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._wrong = Rates(WRONG_TOKENS, clock)
        self._known: OrderedDict[str, None] = OrderedDict()

    def before(self, address: str, digest: str) -> None:
        """Raise `Refusal` while the address has shown too many wrong secrets, unless this one is known."""
        if digest not in self._known:
            self._wrong.check(address)

    def right(self, digest: str) -> None:
        self._known[digest] = None
        self._known.move_to_end(digest)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def wrong(self, address: str, digest: str) -> None:
        self._known.pop(digest, None)
        self._wrong.spend(address)
