"""Finds duplicates, overgrown and stale entities in the graph."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from mcp_memory.engine.context import Topic, checked_share
from mcp_memory.engine.indexing import Indexing, stored_vectors
from mcp_memory.engine.splitting import Analysis, Overgrown, Splitting
from mcp_memory.errors import Invalid
from mcp_memory.model import Entity, Node
from mcp_memory.storage.curation import Flagged, StaleRow
from mcp_memory.text.containment import DuplicatePair, Match, clusters, duplicate_pairs

SELDOM = 2
"""An entity that was used more often than this does not count as stale."""

MOST_FLAGGED = 500
"""Flagged observations that one report shows; it counts them all."""


MOST_COMPARED = 1_000
"""Most observations of an entity that are compared with each other: the cost is quadratic."""

MOST_STALE = 500
"""The same for stale entities: those unused for the longest time."""

MOST_LARGE = 500
"""The same for large entities: the largest."""

MOST_ANALYSED = 20
"""The same for entities to split: the fullest. Finding the topics of one reads all that is known about it."""


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Pairs of similar observations, and the clusters they form."""

    mode: str
    entity: Entity
    texts: tuple[str, ...]
    pairs: tuple[DuplicatePair, ...]
    clusters: tuple[tuple[int, ...], ...]

    @property
    def matches(self) -> list[TextMatch]:
        """The pairs with their texts."""
        return [TextMatch(self.texts[pair.a], self.texts[pair.b], pair.match) for pair in self.pairs]

    @property
    def groups(self) -> list[list[str]]:
        """The clusters with their texts."""
        return [[self.texts[place] for place in cluster] for cluster in self.clusters]


class TextMatch(NamedTuple):
    a: str
    b: str
    match: Match


class UnusedEntity(NamedTuple):
    entity: StaleRow
    days_since: int
    observation_count: int


@dataclass(frozen=True, slots=True)
class Report:
    entity_count: int
    observation_count: int
    split_candidates: tuple[Analysis, ...]
    split_candidate_count: int
    flagged: tuple[Flagged, ...]
    flagged_count: int
    stale: tuple[UnusedEntity, ...]
    stale_count: int
    large: tuple[Overgrown, ...]
    large_count: int


class Curation(Topic):
    def duplicates(self, name: str, *, threshold: float, containment_threshold: float) -> Duplicates:
        """Duplicates among the newest observations of one entity. Changes nothing."""
        checked_share(threshold, "threshold")
        checked_share(containment_threshold, "containment_threshold")
        with self._context.reading() as tx:
            [node] = tx.entities.nodes([tx.entities.get(name)])
            node = Node(node.entity, node.observations[-MOST_COMPARED:])
            vectors = stored_vectors(tx, node)
        indexing = Indexing(self._context)
        if vectors is None:
            vectors = indexing.embedded(node.texts)
        pairs = duplicate_pairs(node.texts, vectors, threshold, containment_threshold)
        return Duplicates(
            "cosine and containment"
            if vectors is not None
            else f"containment only: {indexing.why_no_vectors()}",
            node.entity,
            tuple(node.texts),
            tuple(pairs),
            tuple(tuple(cluster) for cluster in clusters(pairs)),
        )

    def report(self, stale_days: float) -> Report:
        """Split candidates, flagged observations, stale and large entities. Changes nothing."""
        if not 0 <= stale_days <= 36_500:
            raise Invalid(f"stale_days must be between 0 and 36500, not {stale_days}")
        splitting = Splitting(self._context)
        with self._context.reading() as tx:
            too_full = splitting.too_full(tx)
            large = splitting.overgrown(tx)
            unseen = tx.curation.stale(tx.at - timedelta(days=stale_days), SELDOM)
            shown = unseen[:MOST_STALE]
            counts = tx.entities.observation_counts(item.seq for item in shown)
            return Report(
                entity_count=tx.entities.count(),
                observation_count=tx.entities.count_observations(),
                split_candidates=tuple(splitting.analysed(tx, too_full[:MOST_ANALYSED])),
                split_candidate_count=len(too_full),
                flagged=tuple(tx.curation.flagged(MOST_FLAGGED)),
                flagged_count=tx.curation.count_flagged(),
                stale=tuple(
                    UnusedEntity(item, (tx.at - item.last_at).days, counts.get(item.seq, 0)) for item in shown
                ),
                stale_count=len(unseen),
                large=tuple(sorted(large, key=lambda one: -one.observation_count)[:MOST_LARGE]),
                large_count=len(large),
            )
