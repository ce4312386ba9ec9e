"""Automatic maintenance: pruning, consolidation, and aging the journal."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from mcp_memory.embedding import NoModel
from mcp_memory.engine.consolidation import (
    BEGINNING,
    TILE,
    Cluster,
    Grouping,
    KeptApart,
    Likeness,
    Member,
    Rules,
    grouped,
    merge,
    near_by_index,
    near_by_product,
    ranked,
    still_holds,
)
from mcp_memory.engine.context import Topic, checked_share
from mcp_memory.engine.history import History
from mcp_memory.engine.indexing import BATCH, Indexing
from mcp_memory.engine.learning import Learning
from mcp_memory.engine.memory_changes import archive_memory, living, remove_memory
from mcp_memory.engine.pacing import Pace
from mcp_memory.engine.schedule import expiry_time, is_due
from mcp_memory.errors import Invalid, Unavailable, Unequipped
from mcp_memory.events import ConsolidationComplete
from mcp_memory.model import EmbeddingModel, Memory, Progress, unreported
from mcp_memory.storage import Transaction
from mcp_memory.storage.consolidation import Faded
from mcp_memory.text.sameness import Calibration

Job = Literal["consolidate", "prune", "age journal"]
JOBS: tuple[Job, ...] = ("prune", "consolidate", "age journal")

AGE_EVERY = timedelta(days=1)
"""At most; where changes are kept for less than a day, they go as soon as that time is over."""

NEXT_LOOK = timedelta(minutes=1)
"""Jobs are not due more often than they are asked for."""

FEW = 200
"""Up to this many new memories are looked up one by one."""

_LAST_RUNS = "upkeep"  # a key in existing databases
_EXPIRED_UP_TO = "expired up to"
_SEEN = "seen by consolidation"
_CONSOLIDATED = "consolidated"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pruned:
    faded: tuple[Faded, ...]
    """Pruned memories, or those that would be in a dry run; the weakest first."""
    left: int
    """How many more are below the threshold, and wait for the next run."""
    act: str | None
    """The change to undo; None if nothing was pruned."""
    dry_run: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """How thoroughly memories were compared."""

    threshold: float
    observations: bool
    by_cosine: bool
    force: bool

    def includes(self, other: "Coverage") -> bool:
        """Whether nothing is left to compare for a run like the other."""
        return (
            self.threshold <= other.threshold
            and self.observations >= other.observations
            and self.by_cosine >= other.by_cosine
            and self.force >= other.force
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Consolidated:
    """The result of a consolidation, or of its dry run."""

    clusters: tuple[Cluster, ...]
    apart: tuple[KeptApart, ...]
    """Close pairs that were not merged, with the reason."""
    compared: int
    """How many new or changed memories were compared."""
    threshold: float
    act: str | None
    """The change to undo for the whole run; restoring an absorbed memory undoes a single merge."""
    dry_run: bool

    @property
    def clusters_found(self) -> int:
        return len(self.clusters)

    @property
    def merged(self) -> int:
        """How many memories took part in a merge."""
        return self.deleted + len(self.clusters)

    @property
    def deleted(self) -> int:
        """How many memories became part of another one."""
        return sum(len(cluster.absorbed) for cluster in self.clusters)


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """One memory made of two."""

    memory: Memory
    absorbed_id: str
    act: str
    """Undo takes it."""


class Maintenance(Topic):
    def prune(self, *, dry_run: bool = False) -> Pruned:
        """Archive memories that have faded below the threshold, the weakest first, up to the limit of a run.

        Pinned, confirmed and important memories and identities stay. An archived memory is out of sight
        and can be restored at any time. With the setting `delete` it is deleted instead. The run is one
        change, and can be undone.
        """
        tuning = self._context.tuning
        with self._context.reading() if dry_run else self._context.writing() as tx:
            below, half_life = tuning.prune_threshold, tuning.half_life
            fading = tx.consolidation.fading(below, tuning.prune_limit, half_life, tuning.important)
            left = tx.consolidation.count_fading(below, half_life, tuning.important) - len(fading)
            for memory, confidence in [] if dry_run else fading:
                if tuning.prune_mode == "archive":
                    archive_memory(tx, memory, confidence)
                else:
                    remove_memory(tx, memory, pruned_at_confidence=confidence)
            return Pruned(
                faded=tuple(fading),
                left=left,
                act=tx.act if fading and not dry_run else None,
                dry_run=dry_run,
            )

    def consolidate(
        self,
        threshold: float | None = None,
        *,
        dry_run: bool = False,
        full: bool = False,
        observations: bool = True,
        force: bool = False,
        progress: Progress = unreported,
    ) -> Consolidated:
        """Merge memories that say the same: those new or changed since the last run, with all the others.

        Without a `threshold`, only memories that say the same are merged. With one, all that are at least
        that similar, except pairs that differ in a number, name, date, unit or negation, which `force` adds.
        `full` looks at every memory again, as does a request that earlier runs did not cover.

        Without `observations` those of the knowledge graph are left alone. The run is one change and can be
        undone; so can each merge, by restoring what it absorbed.
        """
        least = checked_share(
            self._context.tuning.consolidation_threshold if threshold is None else threshold,
            "the similarity threshold",
        )
        scope = Coverage(
            threshold=least, observations=observations, by_cosine=threshold is not None, force=force
        )
        model, calibration = self._model(progress)
        started_at = self._context.clock()
        with self._context.reading() as tx:
            since = BEGINNING if full else _since(tx, scope)
            total = tx.consolidation.count_to_compare(since, observations=observations)
        likeness = self._likeness(model, since, least, total, observations, progress)
        grouping = self._grouping(likeness, calibration, scope)
        act = None if dry_run else self._context.new_id()
        done = grouping.clusters if act is None else self._merge(act, grouping, progress)
        if act is not None:
            self._conclude(act, done, started_at, scope)
        return Consolidated(
            clusters=done,
            apart=grouping.apart,
            compared=total,
            threshold=least,
            act=act if done else None,
            dry_run=dry_run,
        )

    def merge(self, primary_id: str, absorbed_id: str) -> Merged:
        """Merge two memories because the caller says that they are one. Every wording is kept."""
        if primary_id == absorbed_id:
            raise Invalid("a memory cannot be merged with itself: name two")
        with self._context.writing() as tx:
            primary, absorbed = living(tx, primary_id), living(tx, absorbed_id)
            merge(tx, Cluster(primary, (Member(absorbed, 1.0),)))
            [merged] = tx.memories.fetch([primary.seq]).values()
            return Merged(memory=merged, absorbed_id=absorbed.id, act=tx.act)

    def due(self, now: datetime | None = None) -> tuple[Job, ...]:
        """The jobs whose time has come in this space: each once a day, merging also after many insertions."""
        with self._context.reading() as tx:
            return self._due(tx, now or self._context.clock())

    def run_due(self, progress: Progress = unreported) -> dict[Job, str]:
        """Run the due jobs, unless another process took them. Returns each result in words."""
        with self._context.noting() as tx:
            jobs = self._due(tx, tx.at)
            _mark_run(tx, jobs)
            expiring_at = _expiring_at(tx) if jobs else tx.at
        careful = Maintenance(replace(self._context, clock=lambda: expiring_at))
        return {job: (self if job == "consolidate" else careful)._run(job, progress) for job in jobs}

    def _run(self, job: Job, progress: Progress) -> str:
        if job == "prune":
            pruned = self.prune()
            return f"pruned {len(pruned.faded)} memories, {pruned.left} wait for the next run"
        if job == "age journal":
            Learning(self._context).forget_old()
            return f"dropped {History(self._context).age_journal()} changes that were too old to undo"
        try:
            # Observations are never rewritten without being asked.
            found = self.consolidate(observations=False, progress=progress)
        except Unavailable as error:
            return f"nothing was consolidated: {error}"
        return f"merged {found.merged} memories into {len(found.clusters)}"

    def _due(self, tx: Transaction, now: datetime) -> tuple[Job, ...]:
        tuning = self._context.tuning
        runs: dict[str, str] = tx.settings.get(_LAST_RUNS, {})
        schedule: dict[Job, timedelta] = {
            "prune": tuning.prune_every if tuning.prune_limit else timedelta(0),
            "consolidate": tuning.consolidation_every,
            "age journal": min(AGE_EVERY, max(tuning.trash, NEXT_LOOK)),
        }
        last = {job: datetime.fromisoformat(run) for job, run in runs.items()}
        due = {job for job, every in schedule.items() if every and is_due(last.get(job), now, every)}
        interval = tuning.consolidation_interval
        if interval and tx.consolidation.count_added(_seen_up_to(tx)) >= interval:
            due.add("consolidate")
        return tuple(job for job in JOBS if job in due)

    def _model(self, tell: Progress) -> tuple[EmbeddingModel, Calibration]:
        """The model whose vectors are compared, after pending ones are made, and its calibration."""
        indexing, embedder = Indexing(self._context), self._context.embedder
        model = indexing.model()
        if model is None or isinstance(embedder, NoModel):
            raise Unequipped(f"memories cannot be compared by meaning: {indexing.why_no_vectors()}")
        with self._context.reading() as tx:
            waiting = tx.indexes.count_pending()
        made = 0
        while step := indexing.catch_up("memory", BATCH):
            made += step
            tell("making vectors", made, max(waiting, made))
        return model, Calibration(embedder.card.unrelated_cosine)

    def _likeness(
        self,
        model: EmbeddingModel,
        since: datetime,
        least: float,
        total: int,
        observations: bool,
        tell: Progress,
    ) -> Likeness:
        found: Likeness = {}
        last, done = 0, 0
        while True:
            with self._context.reading() as tx:
                few = total <= FEW
                seqs = tx.consolidation.to_compare(
                    since, last, FEW if few else TILE, observations=observations
                )
                if not seqs:
                    return found
                if few:
                    found |= near_by_index(tx, model, seqs, least)
                else:
                    found |= near_by_product(tx, model, seqs, since, least, observations)
            last, done = seqs[-1], done + len(seqs)
            tell("comparing", done, max(total, done))

    def _grouping(self, likeness: Likeness, calibration: Calibration, scope: Coverage) -> Grouping:
        seqs = {seq for pair in likeness for seq in pair}
        with self._context.reading() as tx:
            rules = Rules(
                calibration=calibration,
                parted=tx.consolidation.parted(),
                contradictions=tx.consolidation.contradictions(seqs),
                observations=scope.observations,
                by_cosine=scope.by_cosine or scope.force,
                force=scope.force,
            )
            memories = list(tx.memories.fetch(seqs).values())
            half_life = self._context.tuning.half_life
            return grouped(ranked(memories, likeness, rules, tx.at, half_life), likeness, rules)

    def _merge(self, act: str, grouping: Grouping, tell: Progress) -> tuple[Cluster, ...]:
        done: list[Cluster] = []
        for some in Pace().pieces(grouping.clusters, lambda cluster: 1 + len(cluster.absorbed)):
            with self._context.writing(act) as tx:
                for found in some:
                    cluster = still_holds(tx, found)
                    if cluster is not None:
                        merge(tx, cluster)
                        done.append(cluster)
            tell("merging", len(done), len(grouping.clusters))
        return tuple(done)

    def _conclude(self, act: str, done: tuple[Cluster, ...], started_at: datetime, scope: Coverage) -> None:
        deleted = sum(len(cluster.absorbed) for cluster in done)
        with self._context.writing(act) as tx:
            _mark_covered(tx, scope, started_at)
            _mark_seen(tx)
            tx.journal.record(ConsolidationComplete(deleted + len(done), deleted))


def _expiring_at(tx: Transaction) -> datetime:
    """The clock for expiry in this run."""
    last = tx.settings.get(_EXPIRED_UP_TO)
    moment = expiry_time(last and datetime.fromisoformat(last), tx.at)
    tx.settings.put(_EXPIRED_UP_TO, moment.isoformat())
    return moment


def _mark_run(tx: Transaction, jobs: tuple[Job, ...]) -> None:
    runs: dict[str, Any] = tx.settings.get(_LAST_RUNS, {})
    if jobs:
        tx.settings.put(_LAST_RUNS, {**runs, **{job: tx.at.isoformat() for job in jobs}})
    if "consolidate" in jobs:
        _mark_seen(tx)


def _seen_up_to(tx: Transaction) -> int:
    """The newest memory at the time of the last consolidation."""
    return int(tx.settings.get(_SEEN, {"seq": 0})["seq"])


def _mark_seen(tx: Transaction) -> None:
    tx.settings.put(_SEEN, {"seq": tx.consolidation.newest()})


def _since(tx: Transaction, scope: Coverage) -> datetime:
    """The time since which memories need to be compared again."""
    runs = [(Coverage(**run["scope"]), datetime.fromisoformat(run["at"])) for run in _runs(tx)]
    # A run in the future means that the clock was wrong: it tells nothing about what is new since.
    return max((at for covered, at in runs if covered.includes(scope) and at <= tx.at), default=BEGINNING)


def _mark_covered(tx: Transaction, scope: Coverage, at: datetime) -> None:
    """Record the coverage of this run; a later run that asks for more compares the rest."""
    others = [run for run in _runs(tx) if not scope.includes(Coverage(**run["scope"]))]
    tx.settings.put(_CONSOLIDATED, {"runs": [*others, {"scope": asdict(scope), "at": at.isoformat()}]})


def _runs(tx: Transaction) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = tx.settings.get(_CONSOLIDATED, {}).get("runs", [])
    return runs
