"""Finds memories that say the same, and merges them.

Candidates are found by their vectors: through the index when few memories are new, by products of whole
tiles of vectors when many are; never by comparing texts with each other. A group is a star: each of its
members is close to its primary and says the same as it, so that no chain of small steps leads from one
fact to another. Where a member is worded differently, its wording is kept beside the primary's.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from mcp_memory.engine.drafts import NOTES
from mcp_memory.events import MemoriesMerged, MemoryDeleted, MemoryUpdated
from mcp_memory.model import EmbeddingModel, Memory
from mcp_memory.ranking.closeness import close_to_each
from mcp_memory.ranking.decay import effective_confidence
from mcp_memory.ranking.fusion import calibrated
from mcp_memory.storage import Transaction
from mcp_memory.storage.consolidation import Pair
from mcp_memory.text.preview import shortened
from mcp_memory.text.sameness import Calibration, Kind, Verdict, reworded, verdict_on
from mcp_memory.text.wordings import has_wording, with_wordings

if TYPE_CHECKING:
    from mcp_memory.ranking.closeness import Matrix

NEIGHBOURS = 20
"""How many of the nearest each memory is compared with. A larger group is merged in several runs."""

TILE = 4096
"""Vectors in one tile of a product: 64 MB of cosines."""

BEGINNING = datetime(1, 1, 2, tzinfo=UTC)
"""Earlier than any memory."""

LONGEST_COMPARED = 2000
"""In characters; longer texts are not compared word by word."""

REWORDED = 0.8125
"""Similarity of two wordings of one thought, from 0 (unrelated) to 1: a cosine of 0.85 with MiniLM."""

OF_FACT: frozenset[Kind] = frozenset({"number", "date", "unit", "name", "negation", "antonym"})
"""Differences that make two texts two facts, however close they are."""

Likeness = dict[tuple[int, int], float]
"""The cosine of two memories by their numbers, the smaller first."""


@dataclass(frozen=True, slots=True)
class Member:
    memory: Memory
    cosine: float
    """To the primary."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Memories that say the same: the primary, which stays, and those it absorbs."""

    primary: Memory
    absorbed: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class KeptApart:
    """Two close memories, and why they were not merged."""

    a: Memory
    b: Memory
    cosine: float
    reason: str

    @property
    def memories(self) -> tuple[Memory, Memory]:
        return self.a, self.b

    @property
    def ids(self) -> tuple[str, str]:
        return self.a.id, self.b.id


@dataclass(frozen=True, slots=True)
class Grouping:
    clusters: tuple[Cluster, ...]
    apart: tuple[KeptApart, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """Reasons that keep two memories from being merged."""

    calibration: Calibration
    parted: set[Pair]
    contradictions: set[frozenset[int]]
    observations: bool
    """Whether an observation of the knowledge graph may be absorbed."""
    by_cosine: bool = False
    """Whether the caller named the threshold: closeness decides, except for differences of fact."""
    force: bool = False
    """Whether differences of fact do not count either."""

    def may_be_absorbed(self, memory: Memory) -> bool:
        return self.observations or memory.origin != "observation"

    def against(self, primary: Memory, other: Memory, cosine: float) -> str | None:
        """Why the other must not be absorbed; None if it may be."""
        if primary.type != other.type:
            return f"one is of type {primary.type}, the other of type {other.type}"
        if frozenset({primary.id, other.id}) in self.parted:
            return "they were merged before, and the merge was undone"
        if frozenset({primary.seq, other.seq}) in self.contradictions:
            return "one contradicts the other"
        if not self.may_be_absorbed(other):
            return "an observation of the knowledge graph is merged only on demand"
        if not self.observations and primary.origin == "observation" and _reworded(primary, other):
            return "an observation of the knowledge graph keeps its own words"
        if max(len(primary.content), len(other.content)) > LONGEST_COMPARED:
            return "they are too long to be compared word by word"
        said = verdict_on(primary.content, other.content, cosine, self.calibration)
        if said.same or self._reworded(primary, other, cosine, said) or self._asked_for(primary, other, said):
            return None
        return said.reason

    def _asked_for(self, primary: Memory, other: Memory, said: Verdict) -> bool:
        """Close enough for a caller who named the threshold; an observation's words are its own."""
        if not self.by_cosine or "observation" in (primary.origin, other.origin):
            return False
        return self.force or not any(difference.kind in OF_FACT for difference in said.differences)

    def _reworded(self, primary: Memory, other: Memory, cosine: float, said: Verdict) -> bool:
        """The same thought in other words, which can be kept beside the first; an observation's words are its
        own.
        """
        return (
            calibrated(cosine, self.calibration.unrelated) >= REWORDED
            and reworded(said.differences)
            and "observation" not in (primary.origin, other.origin)
        )


def _reworded(primary: Memory, other: Memory) -> bool:
    return not has_wording(primary.content, other.content)


def near_by_index(tx: Transaction, model: EmbeddingModel, seqs: Sequence[int], least: float) -> Likeness:
    """Neighbours of these memories above a cosine, each looked up in the vector index."""
    found: Likeness = {}
    for seq, vector in tx.indexes.vectors("memory", model, seqs).items():
        for other, cosine in tx.indexes.nearest("memory", model, vector, tx.memories.current, NEIGHBOURS + 1):
            if other != seq and cosine >= least:
                found[min(seq, other), max(seq, other)] = min(1.0, cosine)
    return found


def near_by_product(
    tx: Transaction,
    model: EmbeddingModel,
    seqs: Sequence[int],
    since: datetime,
    least: float,
    observations: bool,
) -> Likeness:
    """The same for thousands at once: their vectors against all others, a tile of the product at a time.

    For so many this is exact, and ten times as fast as looking up each; docs/consolidation.md has the
    measurements.
    """
    rows = tx.indexes.vectors("memory", model, seqs)
    here = _matrix(rows)
    found: Likeness = {}
    # Earlier rows have been compared with these already, if they were to be compared at all.
    after = 0 if since > BEGINNING else min(seqs, default=1) - 1
    while page := tx.consolidation.to_compare(BEGINNING, after, TILE, observations=observations):
        after = page[-1]
        others = tx.indexes.vectors("memory", model, page)
        if not rows or not others:
            continue
        names, other_names = list(rows), list(others)
        for a, b, cosine in zip(*close_to_each(here, _matrix(others), least, NEIGHBOURS + 1), strict=True):
            one, other = names[a], other_names[b]
            if one != other:
                found[min(one, other), max(one, other)] = min(1.0, float(cosine))
    return found


def _matrix(vectors: Mapping[int, bytes]) -> "Matrix":
    import numpy as np

    if not vectors:
        return np.zeros((0, 0), np.float32)
    return np.frombuffer(b"".join(vectors.values()), "<f4").reshape(len(vectors), -1)


def ranked(
    memories: Sequence[Memory], likeness: Likeness, rules: Rules, now: datetime, half_life: timedelta
) -> list[Memory]:
    """The order of absorbing: memories that must stay first, then by confidence.

    Of equals, the one that says the same as the most others, then the oldest.
    """
    partners = _partner_counts(memories, likeness, rules)

    def rank(memory: Memory) -> tuple[bool, float, int, int]:
        confidence = effective_confidence(
            memory.confidence,
            memory.last_used_at,
            now,
            half_life,
            pinned=memory.pinned_at is not None,
            captured=memory.captured_at is not None,
        )
        # To the percent: seconds between two writings say nothing about which is better known.
        return rules.may_be_absorbed(memory), -round(confidence, 2), -partners[memory.seq], memory.seq

    return sorted(memories, key=rank)


def _partner_counts(memories: Sequence[Memory], likeness: Likeness, rules: Rules) -> Counter[int]:
    known = {memory.seq: memory for memory in memories}
    counts: Counter[int] = Counter()
    for (a, b), cosine in likeness.items():
        if a in known and b in known and rules.against(known[a], known[b], cosine) is None:
            counts.update((a, b))
    return counts


def grouped(memories: Sequence[Memory], likeness: Likeness, rules: Rules) -> Grouping:
    """Assign each memory to the first one, in the given order, that it says the same as."""
    near = _adjacent(likeness)
    places = {memory.seq: place for place, memory in enumerate(memories)}
    taken: set[int] = set()
    clusters, apart = [], []
    for place, primary in enumerate(memories):
        if primary.seq in taken:
            continue
        members = []
        for seq, cosine in near.get(primary.seq, ()):
            if seq in taken or places.get(seq, -1) <= place:
                continue
            other = memories[places[seq]]
            reason = rules.against(primary, other, cosine)
            if reason is None:
                members.append(Member(other, cosine))
            else:
                apart.append(KeptApart(primary, other, cosine, reason))
        if members:
            taken |= {primary.seq, *(member.memory.seq for member in members)}
            clusters.append(Cluster(primary, tuple(members)))
    gone = {member.memory.seq for cluster in clusters for member in cluster.absorbed}
    lasting = (pair for pair in apart if not {pair.a.seq, pair.b.seq} & gone)
    return Grouping(tuple(clusters), tuple(lasting))


def still_holds(tx: Transaction, cluster: Cluster) -> Cluster | None:
    """The cluster without members that changed since it was found; None if nothing is left to merge."""
    everyone = [cluster.primary, *(member.memory for member in cluster.absorbed)]
    now = tx.memories.fetch(memory.seq for memory in everyone)
    same = {memory.seq for memory in everyone if _unchanged(memory, now.get(memory.seq))}
    members = tuple(
        Member(now[member.memory.seq], member.cosine)
        for member in cluster.absorbed
        if member.memory.seq in same
    )
    if not members or cluster.primary.seq not in same:
        return None
    return Cluster(now[cluster.primary.seq], members)


def merge(tx: Transaction, cluster: Cluster) -> None:
    """Merge the others into the primary: links, additional fields, and texts as versions."""
    primary, absorbed = cluster.primary, [member.memory for member in cluster.absorbed]
    for memory in absorbed:
        tx.consolidation.take_in(primary, memory)
    tx.memories.revise(primary, "consolidated", **_additions(primary, absorbed))
    ids = [memory.id for memory in absorbed]
    tx.journal.record(MemoriesMerged(primary.id, ids, shortened(primary.content)))
    tx.journal.record(MemoryUpdated(primary.id, {"absorbed_ids": ids}))
    for id in ids:
        tx.journal.record(MemoryDeleted(id, absorbed_by=primary.id))


def _adjacent(likeness: Likeness) -> dict[int, list[tuple[int, float]]]:
    """The neighbours of each memory, closest first."""
    near: dict[int, list[tuple[int, float]]] = {}
    for (a, b), cosine in sorted(likeness.items(), key=lambda item: (-item[1], item[0])):
        near.setdefault(a, []).append((b, cosine))
        near.setdefault(b, []).append((a, cosine))
    return near


def _unchanged(memory: Memory, now: Memory | None) -> bool:
    return (
        now is not None
        and (now.content, now.type, now.version) == (memory.content, memory.type, memory.version)
        and now.forgotten_at is None
        and now.superseded_at is None
    )


def _additions(primary: Memory, absorbed: Sequence[Memory]) -> dict[str, Any]:
    """Fields that the others add to the primary; where both have a value, the primary's stays."""
    everyone = [primary, *absorbed]
    metadata: dict[str, Any] = {}
    for memory in reversed(everyone):
        metadata |= memory.metadata
    pins = [memory.pinned_at for memory in everyone if memory.pinned_at is not None]
    added: dict[str, Any] = {
        "content": with_wordings(primary.content, (memory.content for memory in absorbed)),
        "tags": tuple(dict.fromkeys(tag for memory in everyone for tag in memory.tags)),
        "metadata": metadata,
        "importance": max(memory.importance for memory in everyone),
        "pinned_at": primary.pinned_at or (min(pins) if pins else None),
        # What was stored in its own right stays when an entity lets go of it.
        "origin": "memory" if any(memory.origin == "memory" for memory in everyone) else "observation",
    }
    for name in NOTES:
        added[name] = next((getattr(memory, name) for memory in everyone if getattr(memory, name)), None)
    return {name: value for name, value in added.items() if value != getattr(primary, name)}
