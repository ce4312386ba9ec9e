"""Learns from clients' use of search results how much usage should count in ranking."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mcp_memory.engine.context import Topic
from mcp_memory.errors import Conflict, Invalid
from mcp_memory.events import RankingTuned
from mcp_memory.ranking.limbic import LimbicWeights, Scored, weighed
from mcp_memory.ranking.metrics import lift_at, ndcg_at, reciprocal_rank
from mcp_memory.ranking.routing import Strategy, routed
from mcp_memory.storage import Transaction
from mcp_memory.storage.search_log import LogExtent, LoggedResult, LoggedSearch, NewSearch
from mcp_memory.text.words import folded
from mcp_memory.tuning import Tuning

GAMMAS = (0.001, 0.005, 0.01, 0.05, 0.1)
BETAS = (0.1, 0.25, 0.5, 0.75, 1.0)
"""The graph tool set's grid."""

MOST_GAMMA = 1.0
MOST_BETA = 10.0

MIN_EVENTS = 50
BLEND = 0.1
"""Step size: the share of the way to the better weights that one tuning moves."""

NDCG_K = 5
"""Tuning judges this many top results."""

METRIC_KS = (1, 3, 5, 10)

GRADES: Mapping[str, float] = {"opened": 1.0, "cited": 2.0, "related": 2.0, "extended": 2.0}
"""Gain of each signal: opening a result says less than working with it."""

HELD_OUT_TENTHS = 3
"""Tenths of all queries that are held out for validation."""

MOST_SEARCHES = 5000
"""Searches with feedback that tuning and metrics read, newest first: more would take minutes."""

FORGET_EVERY = 100
"""Searches between two checks of the log's age and size."""

_KEY = "ranking_weights"


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """The tunable weights; `changed_at` is None for the defaults."""

    gamma: float
    beta_sal: float
    changed_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TuningResult:
    """Mean NDCG of past searches under some weights."""

    weights: Weights
    training_ndcg: float
    held_out_ndcg: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Tuned:
    """The result of tuning, and whether the weights were moved."""

    k: int
    training_searches: int
    held_out_searches: int
    before: TuningResult
    target: TuningResult
    """The best weights of the grid on the training searches."""
    after: TuningResult
    applied: bool
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TuningData:
    """The recorded searches and feedback."""

    weights: Weights
    log: LogExtent
    needed: int
    missing: int
    """Searches with feedback that are still lacking before tuning makes sense."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Quality:
    """How good one ranking was, on average."""

    ndcg: Mapping[int, float]
    lift: Mapping[int, float]
    """How much denser wanted results are among the first k than among all logged results."""
    mrr: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """The ranking that clients got beside the one by cosine alone, judged by what they did next."""

    searches: int
    limbic: Quality
    cosine: Quality


class Learning(Topic):
    def weights(self) -> Weights:
        """The weights in use in this space."""
        with self._context.reading() as tx:
            return _stored(tx)

    def analyze(self, min_events: int = MIN_EVENTS) -> TuningData:
        """How much has been logged, and how much more tuning would need."""
        with self._context.reading() as tx:
            log = tx.search_log.extent()
            return TuningData(
                weights=_stored(tx), log=log, needed=min_events, missing=max(0, min_events - log.judged)
            )

    def tune(
        self,
        min_events: int = MIN_EVENTS,
        blend: float = BLEND,
        *,
        gammas: Sequence[float] = GAMMAS,
        betas: Sequence[float] = BETAS,
        k: int = NDCG_K,
    ) -> Tuned:
        """Move the weights towards those that would have ordered past searches best.

        They move only if they also do better on held-out searches. Raises
        `Invalid` when there is too little to learn from.
        """
        _check_grid(min_events, blend, gammas, betas)
        with self._context.reading() as tx:
            current = _stored(tx)
            searches = tx.search_log.judged(MOST_SEARCHES)
        training, held_out = _split(searches, min_events)
        judge = _Judge(training, held_out, k)
        before = judge.trial(current)
        target = max(
            (judge.trial(Weights(gamma=gamma, beta_sal=beta)) for gamma in gammas for beta in betas),
            key=lambda trial: (trial.training_ndcg, -_distance(trial.weights, current)),
        )
        after = judge.trial(_blended(current, target.weights, blend))
        reason = _reason_to_stay(before, target)
        if not reason:
            self._move(current, after.weights)
        return Tuned(
            k=k,
            training_searches=len(training),
            held_out_searches=len(held_out),
            before=before,
            target=target,
            after=before if reason else after,
            applied=not reason,
            reason=reason or "the target also does better on the searches that were held out",
        )

    def set_weights(self, *, gamma: float | None = None, beta_sal: float | None = None) -> Weights:
        """Set what is given, and leave the other as it is."""
        if gamma is not None:
            _check_weight(gamma, "gamma", MOST_GAMMA)
        if beta_sal is not None:
            _check_weight(beta_sal, "beta", MOST_BETA)

        def changed(found: Weights) -> Weights:
            return Weights(
                gamma=found.gamma if gamma is None else gamma,
                beta_sal=found.beta_sal if beta_sal is None else beta_sal,
            )

        return self._change(changed)

    def metrics(self) -> Comparison:
        """The limbic ranking against cosine alone, over the searches with feedback that had both."""
        with self._context.reading() as tx:
            searches = tx.search_log.judged(MOST_SEARCHES)
        both = [search for search in searches if any(r.baseline_rank for r in search.results)]
        return Comparison(
            searches=len(both),
            limbic=_quality(both, lambda result: (result.rank,)),
            cosine=_quality(both, lambda result: (result.baseline_rank or MOST_SEARCHES, result.rank)),
        )

    def forget_old(self) -> None:
        """Enforce the log's bounds, even in a space where nobody searches any more."""
        with self._context.noting() as tx:
            tuning = self._context.tuning
            tx.search_log.forget(before=tx.at - tuning.search_log_age, most=tuning.search_log_size)

    def _move(self, seen: Weights, wanted: Weights) -> None:
        def moved(found: Weights) -> Weights:
            if found != seen:
                raise Conflict("the weights were changed while they were being tuned: tune again")
            return wanted

        self._change(moved)

    def _change(self, change: Callable[[Weights], Weights]) -> Weights:
        with self._context.writing() as tx:
            wanted = change(_stored(tx))
            values = {"gamma": wanted.gamma, "beta_sal": wanted.beta_sal}
            tx.settings.put(_KEY, {**values, "changed_at": tx.at.isoformat()})
            tx.journal.record(RankingTuned(**values))
            return _stored(tx)


def weights_in(tx: Transaction) -> LimbicWeights:
    """The weights of this space, as last stored by any process."""
    stored = _stored(tx)
    return _limbic(stored)


def record_search(tx: Transaction, tuning: Tuning, search: NewSearch) -> None:
    """Log a search if logging is on, and enforce the log's bounds now and then."""
    if not tuning.search_log_size:
        return
    seq = tx.search_log.add(search)
    if seq % FORGET_EVERY == 0:
        # By number only: what is too old goes with the next maintenance, whose clock does not leap.
        tx.search_log.forget(most=tuning.search_log_size)


class _Judge:
    """Replays searches under other weights."""

    def __init__(self, training: Sequence[LoggedSearch], held_out: Sequence[LoggedSearch], k: int) -> None:
        self._training = [_Replay(search) for search in training]
        self._held_out = [_Replay(search) for search in held_out]
        self._k = k

    def trial(self, weights: Weights) -> TuningResult:
        return TuningResult(
            weights=weights,
            training_ndcg=self._mean_ndcg(self._training, weights),
            held_out_ndcg=self._mean_ndcg(self._held_out, weights),
        )

    def _mean_ndcg(self, replays: Sequence["_Replay"], weights: Weights) -> float:
        limbic = _limbic(weights)
        return sum(replay.ndcg(limbic, self._k) for replay in replays) / len(replays)


class _Replay:
    """One search with the factors of its candidates, as they were at the time."""

    def __init__(self, search: LoggedSearch) -> None:
        self._strategy = Strategy(search.strategy)
        self._grades = _grades(search)
        self._factors = [
            Scored(
                key=result.entity_seq,
                score=result.limbic_score,
                base=result.relevance,
                deboost=1.0,  # taken off the relevance when it was logged
                importance=result.importance,
                temporal_factor=result.temporal,
                cooc_boost=result.cooc,
            )
            for result in search.results
        ]

    def ndcg(self, weights: LimbicWeights, k: int) -> float:
        ranking = list(routed(weighed(self._factors, weights), self._strategy))
        return ndcg_at(k, ranking, self._grades)


def _stored(tx: Transaction) -> Weights:
    stored: dict[str, Any] | None = tx.settings.get(_KEY)
    if stored is None:
        defaults = LimbicWeights()
        return Weights(gamma=defaults.gamma, beta_sal=defaults.beta_sal)
    return Weights(
        gamma=stored["gamma"],
        beta_sal=stored["beta_sal"],
        changed_at=datetime.fromisoformat(stored["changed_at"]),
    )


def _limbic(weights: Weights) -> LimbicWeights:
    return LimbicWeights(gamma=weights.gamma, beta_sal=weights.beta_sal)


def _grades(search: LoggedSearch) -> dict[int, float]:
    return {seq: max(GRADES.get(sign, 0.0) for sign in signs) for seq, signs in search.signs.items()}


def _split(
    searches: Sequence[LoggedSearch], min_events: int
) -> tuple[list[LoggedSearch], list[LoggedSearch]]:
    """Searches to learn from and searches to be judged by; one query is never in both."""
    if len(searches) < min_events:
        raise Invalid(
            f"{len(searches)} searches have feedback so far and {min_events} are needed: "
            f"{min_events - len(searches)} more must have a result opened, extended, related or cited "
            "soon after. Tune again later, or lower the number with --min-events."
        )
    held_out = [search for search in searches if _is_held_out(search.query)]
    training = [search for search in searches if not _is_held_out(search.query)]
    if not held_out or not training:
        raise Invalid(
            f"the {len(searches)} searches with feedback repeat too few queries to judge by others than "
            "those learnt from: tune again when more different things have been searched for"
        )
    return training, held_out


def _is_held_out(query: str) -> bool:
    normal = " ".join(folded(query).split())
    return hashlib.blake2b(normal.encode(), digest_size=4).digest()[0] % 10 < HELD_OUT_TENTHS


def _reason_to_stay(before: TuningResult, target: TuningResult) -> str:
    if target.training_ndcg <= before.training_ndcg:
        return "no weights of the grid order past searches better than those in use"
    if target.held_out_ndcg <= before.held_out_ndcg:
        return "what did better on the searches learnt from did not on those held out"
    return ""


def _blended(current: Weights, target: Weights, blend: float) -> Weights:
    return Weights(
        gamma=current.gamma * (1 - blend) + target.gamma * blend,
        beta_sal=current.beta_sal * (1 - blend) + target.beta_sal * blend,
    )


def _distance(some: Weights, others: Weights) -> float:
    """Distance in steps of the grid; of equally good weights, the nearest to the current ones win."""
    return abs(some.gamma - others.gamma) / max(GAMMAS) + abs(some.beta_sal - others.beta_sal) / max(BETAS)


def _check_grid(min_events: int, blend: float, gammas: Sequence[float], betas: Sequence[float]) -> None:
    if min_events < 1:
        raise Invalid(f"at least one search is needed to learn from, not {min_events}")
    if not 0 < blend <= 1:
        raise Invalid(f"blend must be above 0 and at most 1, not {blend}")
    if not gammas or not betas:
        raise Invalid("the grid is empty: give at least one gamma and one beta")
    for gamma in gammas:
        _check_weight(gamma, "gamma", MOST_GAMMA)
    for beta in betas:
        _check_weight(beta, "beta", MOST_BETA)


def _check_weight(value: float, what: str, most: float) -> None:
    if not 0 <= value <= most:
        raise Invalid(f"{what} must be between 0 and {most:g}, not {value}")


def _quality(searches: Sequence[LoggedSearch], place: Callable[[LoggedResult], tuple[int, ...]]) -> Quality:
    judged = [
        ([result.entity_seq for result in sorted(search.results, key=place)], _grades(search))
        for search in searches
    ]
    return Quality(
        ndcg={k: _mean(ndcg_at(k, ranking, grades) for ranking, grades in judged) for k in METRIC_KS},
        lift={k: _mean(lift_at(k, ranking, grades) for ranking, grades in judged) for k in METRIC_KS},
        mrr=_mean(reciprocal_rank(ranking, grades) for ranking, grades in judged),
    )


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given) if given else 0.0
