"""The one writer of the graph: each act changes rows and records its event."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_memory.engine import feedback
from mcp_memory.engine.memory_changes import remove_memory
from mcp_memory.engine.observing import NewId, Observer, release, unobserve
from mcp_memory.engine.relating import INVERSES, RelationOutcome, inverse_of
from mcp_memory.engine.screening import screened_text
from mcp_memory.errors import Conflict
from mcp_memory.events import (
    EntityCreated,
    EntityDeleted,
    EntityUpdated,
    ObservationsRemoved,
    RelationCreated,
    RelationDeleted,
    RelationEnded,
    RelationUpdated,
)
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import ACTIVE, GENERIC_KIND, GENERIC_TYPE, UNKNOWN_TYPE, Entity, Memory, Relation
from mcp_memory.storage import Transaction
from mcp_memory.tuning import SecretPolicy

STRENGTH = 0.5
CONFIDENCE = 1.0


class GraphWriter:
    """Writes entities, observations and relations in one transaction."""

    def __init__(self, tx: Transaction, new_id: NewId, secrets: SecretPolicy = "allow") -> None:
        self._tx = tx
        self._new_id = new_id
        self._secrets = secrets

    def add_entities(self, wanted: Sequence[NewEntity]) -> list[Entity]:
        """Create entities, without their observations. An empty type stays empty: one tool set has those."""
        made = self._tx.entities.add_all(
            {
                "id": [self._new_id() for _ in wanted],
                "name": [one.name for one in wanted],
                "type": [GENERIC_TYPE if one.type is None else one.type for one in wanted],
                "description": [one.description for one in wanted],
                "metadata": [dict(one.metadata) for one in wanted],
                "status": [one.status or ACTIVE for one in wanted],
            }
        )
        self._tx.journal.record_rows(EntityCreated, made)
        return made

    def add_entity(self, name: str, type: str) -> Entity:
        [entity] = self.add_entities([NewEntity(name=name, type=type)])
        return entity

    def mention(self, name: str) -> Entity:
        """The entity of that name; a missing one is created as a placeholder of type `unknown`."""
        return self._tx.entities.find_named(name) or self.add_entity(name, UNKNOWN_TYPE)

    def change_entity(self, entity: Entity, changes: Mapping[str, Any]) -> Entity:
        """Apply changes to an entity; equal values are no change."""
        real = {name: value for name, value in changes.items() if value != getattr(entity, name)}
        if not real:
            return entity
        self._refuse_twin(entity, real)
        changed = self._tx.entities.change(entity, **real)
        self._tx.journal.record(EntityUpdated(entity.id, changed.name, real))
        return changed

    def touch(self, entity: Entity) -> None:
        """Record that an entity's observations changed."""
        if entity.updated_at != self._tx.at:
            self._tx.entities.change(entity)
            self._tx.journal.record(EntityUpdated(entity.id, entity.name, {}))

    def remove_entity(self, entity: Entity, *, cascade_memories: bool = False) -> None:
        """Delete an entity with its relations, reflections and observations.

        Memories that were stored in their own right stay, unless `cascade_memories`.
        """
        [node] = self._tx.entities.nodes([entity], superseded=True)
        self._tx.entities.remove(entity)
        self._tx.journal.record(EntityDeleted(entity.id, entity.name))
        memories = list({memory.seq: memory for memory in node.observations}.values())
        released = release(self._tx, memories)
        for memory in memories if cascade_memories else ():
            if memory not in released:
                remove_memory(self._tx, memory)

    def observe(
        self,
        wanted: Sequence[tuple[Entity, Sequence[str]]],
        *,
        kind: str = GENERIC_KIND,
        repeats: bool = False,
        credit: bool = True,
    ) -> list[list[Memory]]:
        """Add observations to entities; by entity, those that were added.

        A text that an entity has is skipped; with `repeats`, one given twice is linked twice. With `credit`,
        searches that led here count as successful.
        """
        if self._secrets != "allow":
            wanted = [(entity, self._screened(texts)) for entity, texts in wanted]
        texts = (text for _, some in wanted for text in some)
        observer = Observer(self._tx, texts, self._new_id, kind=kind, repeats=repeats)
        each = [observer.add(entity, some) for entity, some in wanted]
        observer.flush()
        extended = [
            (entity, [memory.content for memory in added])
            for (entity, _), added in zip(wanted, each, strict=True)
            if added
        ]
        if credit:
            feedback.extended(self._tx, extended)
        for entity in {entity.seq: entity for entity, _ in extended}.values():
            self.touch(entity)
        return each

    def _screened(self, texts: Sequence[str]) -> list[str]:
        return [screened_text(text, self._secrets)[0] for text in texts]

    def unobserve(self, entity: Entity, texts: Sequence[str]) -> int:
        """Remove observations from an entity. How many were removed."""
        removed = unobserve(self._tx, entity, texts)
        if removed:
            self.touch(entity)
        return removed

    def unlink(self, entity: Entity, memory: Memory) -> None:
        """Stop a memory from being an observation of an entity; the memory stays."""
        count = self._tx.entities.unlink(entity, memory)
        self._tx.journal.record(ObservationsRemoved(entity.id, entity.name, count))

    def relate(self, source: Entity, target: Entity, wanted: NewRelation) -> RelationOutcome:
        """The relation, created or, if there is one, updated with what is wanted."""
        feedback.related(self._tx, [source, target])
        existing = self._tx.relations.active(source, target, wanted.type)
        if existing is not None:
            return RelationOutcome(wanted, self._change_relation(existing, wanted), existed=True)
        relation = self._begin(source, target, wanted.type, wanted)
        inverse = INVERSES.get(wanted.type)
        if inverse and wanted.with_inverse and self._tx.relations.active(target, source, inverse) is None:
            self._begin(target, source, inverse, wanted)
        return RelationOutcome(wanted, relation)

    def relate_once(self, source: Entity, target: Entity, type: str) -> bool:
        """Create a plain relation unless it exists. Whether it is new."""
        if self._tx.relations.active(source, target, type) is not None:
            return False
        self._begin(source, target, type, NewRelation(source=source.name, target=target.name, type=type))
        return True

    def relate_named(self, wanted: NewRelation) -> RelationOutcome:
        """`relate` with both ends given by name; missing ends are created if `make_ends` is set."""
        names = (wanted.source, wanted.target)
        ends = [self._end(name, create=wanted.make_ends) for name in names]
        source, target = ends
        if source is None or target is None:
            return RelationOutcome(wanted, missing=wanted.source if source is None else wanted.target)
        return self.relate(source, target, wanted)

    def revise_relation(self, relation: Relation, wanted: NewRelation) -> Relation:
        """Update a relation; another type replaces it with a new one."""
        if wanted.type == relation.type:
            return self._change_relation(relation, wanted)
        ends = self._tx.entities.get(relation.source), self._tx.entities.get(relation.target)
        self.unrelate(relation)
        revised = self.relate(*ends, wanted).relation
        assert revised is not None
        return revised

    def unrelate(self, relation: Relation) -> None:
        """Delete a relation, with its inverse while both are active."""
        inverse = None if relation.ended_at else inverse_of(self._tx, relation)
        for one in filter(None, (relation, inverse)):
            self.remove_relation(one)

    def remove_relation(self, relation: Relation) -> None:
        """Delete exactly this relation."""
        self._tx.relations.remove(relation)
        self._tx.journal.record(RelationDeleted(relation.id, relation.source, relation.target, relation.type))

    def end_relation(self, relation: Relation) -> tuple[Relation, Relation | None]:
        """The relation and its inverse, both ended now."""
        ended = self._tx.relations.change(relation, ended_at=self._tx.at)
        inverse = inverse_of(self._tx, relation)
        if inverse is not None:
            inverse = self._tx.relations.change(inverse, ended_at=self._tx.at)
        self._tx.journal.record(RelationEnded(ended.id, ended.source, ended.target, ended.type))
        return ended, inverse

    def _end(self, name: str, *, create: bool) -> Entity | None:
        found = self._tx.entities.find_one(name)
        return self.mention(name) if found is None and create else found

    def _begin(self, source: Entity, target: Entity, type: str, wanted: NewRelation) -> Relation:
        relation = self._tx.relations.add(
            id=self._new_id(),
            source=source,
            target=target,
            type=type,
            strength=STRENGTH if wanted.strength is None else wanted.strength,
            confidence=CONFIDENCE if wanted.confidence is None else wanted.confidence,
            context=wanted.context,
            metadata=wanted.metadata,
        )
        self._tx.journal.record(RelationCreated(relation.id, source.name, target.name, type))
        return relation

    def _change_relation(self, relation: Relation, wanted: NewRelation) -> Relation:
        given = {
            "strength": wanted.strength,
            "confidence": wanted.confidence,
            "context": wanted.context,
            "metadata": {**relation.metadata, **wanted.metadata},
        }
        changes = {
            name: value
            for name, value in given.items()
            if value is not None and value != getattr(relation, name)
        }
        if not changes:
            return relation
        changed = self._tx.relations.change(relation, **changes)
        self._tx.journal.record(
            RelationUpdated(relation.id, relation.source, relation.target, relation.type, changes)
        )
        return changed

    def _refuse_twin(self, entity: Entity, changes: Mapping[str, Any]) -> None:
        if not changes.keys() & {"name", "type"}:
            return
        name, type = changes.get("name", entity.name), changes.get("type", entity.type)
        for other in self._tx.entities.named([name]).get(name, []):
            if other.type == type and other.seq != entity.seq:
                raise Conflict(f"there is an entity {name!r} of type {type!r} already: choose another name")
