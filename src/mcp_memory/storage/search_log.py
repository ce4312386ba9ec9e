"""The search log: queries, both rankings of their results, and implicit feedback."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal, NamedTuple

from mcp_memory.storage.database import Row
from mcp_memory.storage.scope import Scope

Sign = Literal["opened", "extended", "related", "cited"]
"""Implicit feedback: what a client did with a result soon after."""

FEEDBACK_WINDOW = timedelta(minutes=30)
"""How long after a search an act counts as feedback."""

SEARCHES_LOOKED_BACK_ON = 50
"""Latest searches of a client that feedback may belong to."""


class LoggedResult(NamedTuple):
    """One candidate of a search: its place in both rankings, and the factors behind it."""

    entity_seq: int
    rank: int
    """From 1; beyond the search's `shown` it was only in the other ranking."""
    baseline_rank: int | None
    """Its place by cosine alone; none when it has no vector."""
    relevance: float
    limbic_score: float
    cosine: float | None
    importance: float
    temporal: float
    cooc: float


@dataclass(frozen=True, kw_only=True, slots=True)
class NewSearch:
    """A search to be logged."""

    query: str
    strategy: str
    mode: str
    limit: int
    shown: int
    duration_ms: float
    results: Sequence[LoggedResult]


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedSearch:
    seq: int
    query: str
    strategy: str
    mode: str
    shown: int
    at: datetime
    results: tuple[LoggedResult, ...]
    """Best first, as the client saw them."""
    signs: Mapping[int, frozenset[str]]
    """By entity: what the client did with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogExtent:
    """How much was logged in this space."""

    searches: int
    judged: int
    """Searches of which at least one result was wanted."""
    first_at: datetime | None
    last_at: datetime | None
    mean_ms: float | None
    by_strategy: Mapping[str, int]
    by_sign: Mapping[str, int]


class SearchLog:
    """Not journaled: usage is not a change of knowledge."""

    def __init__(self, scope: Scope, client: str) -> None:
        self._scope = scope
        self._client = client

    def add(self, search: NewSearch) -> int:
        """Log a search. Returns its number."""
        [row] = self._scope.run(
            "add_search", query=search.query, client=self._client, strategy=search.strategy,
            mode=search.mode, k_limit=search.limit, result_count=search.shown,
            duration_ms=search.duration_ms, at=self._scope.at,
        )  # fmt: skip
        seq = int(row["seq"])
        rows = ({"event_seq": seq, **result._asdict()} for result in search.results)
        self._scope.change_many("add_search_result", rows)
        return seq

    def credit(self, seqs: Iterable[int], sign: Sign) -> int:
        """Store feedback on results of this client's recent searches. Returns how many there were."""
        wanted = dict.fromkeys(seqs)
        shown = [(seq, self._lately_shown[seq]) for seq in wanted if seq in self._lately_shown]
        self._scope.change_many(
            "add_feedback",
            (
                {"event_seq": search, "entity_seq": seq, "sign": sign, "at": self._scope.at}
                for seq, search in shown
            ),
        )
        return len(shown)

    def names_lately_shown(self) -> dict[int, str]:
        """Names of the entities that recent searches showed this client."""
        return dict(self._scope.fetch_tuples("names_of_entities", self._lately_shown))

    def judged(self, limit: int) -> list[LoggedSearch]:
        """Searches with feedback, the newest first."""
        found = self._scope.run("judged_searches", limit=limit)
        seqs = [row["seq"] for row in found]
        results = _grouped(self._scope.fetch("results_of_searches", seqs))
        signs = _grouped(self._scope.fetch("feedback_of_searches", seqs))
        return [_search_of(row, results.get(row["seq"], []), signs.get(row["seq"], [])) for row in found]

    def extent(self) -> LogExtent:
        [row] = self._scope.run("search_log_extent")
        return LogExtent(
            searches=row["count"],
            judged=self._scope.count("count_judged_searches"),
            first_at=_time(row["first_at"]),
            last_at=_time(row["last_at"]),
            mean_ms=row["mean_ms"],
            by_strategy=self._counts("searches_by_strategy"),
            by_sign=self._counts("feedback_by_sign"),
        )

    def forget(self, *, before: datetime | None = None, most: int) -> None:
        """Drop searches older than `before`, and all but the newest `most`."""
        if before is not None:
            self._scope.change("forget_old_searches", before=before)
        self._scope.change("forget_excess_searches", most=most)

    @cached_property
    def _lately_shown(self) -> dict[int, int]:
        """By entity, the latest search that showed it to this client."""
        found = self._scope.tuples(
            "lately_shown",
            client=self._client,
            since=self._scope.at - FEEDBACK_WINDOW,
            searches=SEARCHES_LOOKED_BACK_ON,
        )
        return dict(found)

    def _counts(self, query: str) -> dict[str, int]:
        return {row["name"]: row["count"] for row in self._scope.run(query)}


def _search_of(row: Row, results: Sequence[Row], feedback: Sequence[Row]) -> LoggedSearch:
    signs: dict[int, frozenset[str]] = {}
    for given in feedback:
        signs[given["entity_seq"]] = signs.get(given["entity_seq"], frozenset()) | {given["sign"]}
    return LoggedSearch(
        seq=row["seq"],
        query=row["query"],
        strategy=row["strategy"],
        mode=row["mode"],
        shown=row["result_count"],
        at=row["at"],
        results=tuple(_result_of(result) for result in results),
        signs=signs,
    )


def _result_of(row: Row) -> LoggedResult:
    return LoggedResult(**{name: row[name] for name in LoggedResult._fields})


def _grouped(rows: Iterable[Row]) -> dict[int, list[Row]]:
    groups: dict[int, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["event_seq"], []).append(row)
    return groups


def _time(value: datetime | str | None) -> datetime | None:
    """SQLite returns a time from an expression as text."""
    return datetime.fromisoformat(value) if isinstance(value, str) else value
