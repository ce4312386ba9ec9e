"""Splits an entity with too many observations into several, one for each topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mcp_memory.engine.context import Topic, at_most, checked_text
from mcp_memory.engine.graph_writer import GraphWriter
from mcp_memory.engine.indexing import Indexing, stored_vectors
from mcp_memory.engine.relating import INVERSES
from mcp_memory.errors import Invalid
from mcp_memory.events import EntitySplit
from mcp_memory.model import Entity, Memory, Node
from mcp_memory.storage import Transaction
from mcp_memory.text.topics import needs_split, split_score, threshold_for, topics

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONTAINS, PART_OF = INVERSES["parte_de"], INVERSES["contiene"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """The size of an entity relative to its threshold, and the topics of its observations."""

    entity: Entity
    observation_count: int
    threshold: int
    needs_split: bool
    topics: dict[str, list[str]]
    split_score: float


@dataclass(frozen=True, slots=True)
class Split:
    """A new entity, and the observations that move to it."""

    name: str
    type: str
    observations: tuple[str, ...]


class Overgrown(NamedTuple):
    entity: Entity
    observation_count: int
    """Including superseded ones."""


class PlannedRelation(NamedTuple):
    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class Proposal:
    analysis: Analysis
    splits: tuple[Split, ...]

    @property
    def relations(self) -> list[PlannedRelation]:
        """Every relation that the split would make."""
        parent = self.analysis.entity.name
        down = [PlannedRelation(parent, split.name, CONTAINS) for split in self.splits]
        up = [PlannedRelation(split.name, parent, PART_OF) for split in self.splits]
        return [relation for both in zip(down, up, strict=True) for relation in both]


@dataclass(frozen=True, slots=True)
class Outcome:
    new_entities: tuple[str, ...]
    moved_observations: int
    relations_created: int
    original_observations_remaining: int


class Splitting(Topic):
    def analyse(self, name: str) -> Analysis:
        Indexing(self._context).catch_up("memory")
        with self._context.reading() as tx:
            [node] = tx.entities.nodes([tx.entities.get(name)])
            vectors = stored_vectors(tx, node)
        if vectors is None:
            vectors = Indexing(self._context).embedded(node.texts)
        return self._analysis(node, vectors)

    def propose(self, name: str) -> Proposal | None:
        """None if the entity does not need it."""
        analysis = self.analyse(name)
        if not analysis.needs_split:
            return None
        entity = analysis.entity
        splits = (
            Split(f"{entity.name} - {topic}", entity.type, tuple(texts))
            for topic, texts in analysis.topics.items()
        )
        return Proposal(analysis, tuple(splits))

    def candidates(self) -> list[Analysis]:
        """Every entity that needs splitting, the highest score first."""
        with self._context.reading() as tx:
            return self.analysed(tx, self.too_full(tx))

    def too_full(self, tx: Transaction) -> list[Entity]:
        """Entities with more current observations than their type allows, the highest score first."""
        entities = {entity.seq: entity for entity, _ in self.overgrown(tx)}
        scores = {
            seq: split_score(count, self._threshold(entities[seq]))
            for seq, count in tx.entities.observation_counts(entities).items()
            if needs_split(count, self._threshold(entities[seq]))
        }
        return [entities[seq] for seq in sorted(scores, key=lambda seq: (-scores[seq], seq))]

    def analysed(self, tx: Transaction, entities: Sequence[Entity]) -> list[Analysis]:
        return [self._analysis(node, stored_vectors(tx, node)) for node in tx.entities.nodes(entities)]

    def overgrown(self, tx: Transaction) -> list[Overgrown]:
        """Entities with more observations than their type allows."""
        tuning = self._context.tuning
        counts = tx.curation.above(min([*tuning.split_thresholds.values(), tuning.split_threshold]))
        entities = tx.entities.fetch(counts)
        return [
            Overgrown(entities[seq], count)
            for seq, count in counts.items()
            if seq in entities and needs_split(count, self._threshold(entities[seq]))
        ]

    def execute(self, name: str, splits: Sequence[Split], parent: str | None = None) -> Outcome:
        """Move observations to new entities, related to the original, or to another parent. All, or nothing.

        A moved observation keeps everything it had: it is the same memory, only about another entity.
        """
        self._check(name, splits)
        with self._context.writing() as tx:
            original = tx.entities.get(name)
            holder = original if parent is None else tx.entities.get(parent)
            [node] = tx.entities.nodes([original])
            moved = relations = 0
            writer = GraphWriter(tx, self._context.new_id)
            for split, memories in _assigned(node, splits):
                child = tx.entities.find_named(split.name, split.type) or writer.add_entity(
                    split.name, split.type
                )
                moved += tx.curation.move(original, child, [memory.seq for memory in memories])
                relations += writer.relate_once(holder, child, CONTAINS)
                relations += writer.relate_once(child, holder, PART_OF)
            tx.entities.change(original)
            tx.journal.record(EntitySplit(original.id, original.name, [split.name for split in splits]))
            remaining = len(tx.entities.nodes([original])[0].observations)
        return Outcome(tuple(split.name for split in splits), moved, relations, remaining)

    def _analysis(self, node: Node, vectors: NDArray[np.float32] | None) -> Analysis:
        count, threshold = len(node.observations), self._threshold(node.entity)
        full = needs_split(count, threshold)
        groups = topics(node.texts, vectors) if full else {}
        named = {topic: [node.texts[place] for place in places] for topic, places in groups.items()}
        return Analysis(node.entity, count, threshold, full, named, split_score(count, threshold))

    def _threshold(self, entity: Entity) -> int:
        tuning = self._context.tuning
        return threshold_for(entity.type, tuning.split_thresholds, tuning.split_threshold)

    def _check(self, name: str, splits: Sequence[Split]) -> None:
        if not splits:
            raise Invalid("give at least one split: propose_entity_split suggests some")
        at_most(len(splits), self._context.limits.entities, "splits")
        for split in splits:
            checked_text(split.name, "the name of a split", most=self._context.limits.name_length)
            checked_text(split.type, f"the type of {split.name!r}", most=self._context.limits.name_length)
            if split.name == name:
                raise Invalid(f"a split cannot have the name of the entity itself: {name!r}")
            if not split.observations:
                raise Invalid(f"the split {split.name!r} has no observations: leave it out")


def _assigned(node: Node, splits: Sequence[Split]) -> list[tuple[Split, list[Memory]]]:
    """Each split with its memories; every text must be an observation of the entity, and go to one place."""
    here = {memory.content: memory for memory in node.observations}
    taken: set[str] = set()
    assigned = []
    for split in splits:
        for text in split.observations:
            if text not in here:
                raise Invalid(f"{node.entity.name!r} has no observation {text!r}, so it cannot be moved")
            if text in taken:
                raise Invalid(f"the observation {text!r} is in more than one split: give it one place")
            taken.add(text)
        assigned.append((split, [here[text] for text in dict.fromkeys(split.observations)]))
    return assigned
