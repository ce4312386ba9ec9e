"""The knowledge graph: entities, what is observed about them, and how they relate."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mcp_memory.engine.context import Topic, at_most, checked_note, checked_query, checked_share, checked_text
from mcp_memory.engine.drafts import checked_metadata
from mcp_memory.engine.observing import observe, observe_each, release
from mcp_memory.engine.relating import (
    NewRelation,
    RelationOutcome,
    Triple,
    find_relation,
    get_relation,
    inverse_of,
    relate,
    unrelate,
)
from mcp_memory.errors import Conflict, Invalid, NotFound, Stale
from mcp_memory.model import (
    ACTIVE,
    GENERIC_KIND,
    GENERIC_TYPE,
    UNKNOWN_TYPE,
    Entity,
    Graph,
    Memory,
    Node,
    Relation,
)
from mcp_memory.storage import Transaction

MOST_UNWANTED = 10_000
"""Observations that one call may take off an entity: it may have been given them in many calls."""

CHANGEABLE = frozenset({"name", "type", "description", "metadata", "status"})
"""What of an entity can be set."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewEntity:
    """An entity somebody wants there.

    `same_type`: an entity of that name but another type is another entity. Otherwise the name alone
    says which one is meant, and a type that is given becomes its type.
    """

    name: str
    type: str | None = None
    observations: tuple[str, ...] = ()
    description: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    status: str | None = None
    same_type: bool = False


@dataclass(frozen=True, slots=True)
class MadeEntity:
    node: Node
    new: bool
    """False: it was there, and has been filled in."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """What was there and is gone, and what was not found."""

    deleted: tuple[Any, ...]
    missing: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class EndedRelation:
    relation: Relation
    inverse: Relation | None
    already: bool


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the graph; `cursor` gets the next part, and is None at the end."""

    graph: Graph
    cursor: int | None
    total: int


class KnowledgeGraph(Topic):
    def create_entities(self, wanted: Sequence[NewEntity]) -> list[Node]:
        """Have these entities there, merged with what was known of them. All of them, or none."""
        limits = self._context.limits
        at_most(len(wanted), limits.entities, "entities")
        for entity in wanted:
            self._check_entity(entity)
        with self._context.writing() as tx:
            entities = self._put_entities(tx, wanted)
            now = tx.entities.fetch(entity.seq for entity in entities)
            return tx.entities.nodes(now[entity.seq] for entity in entities)

    def create_entity(self, wanted: NewEntity) -> MadeEntity:
        """Have one entity there, merged with what was known of it."""
        self._check_entity(wanted)
        with self._context.writing() as tx:
            known = _match(tx.entities.named([wanted.name]).get(wanted.name, []), wanted)
            [entity] = self._put_entities(tx, [wanted])
            [node] = tx.entities.nodes([tx.entities.get_seq(entity.seq)])
            return MadeEntity(node, new=known is None)

    def create_relations(self, wanted: Sequence[NewRelation]) -> list[RelationOutcome]:
        """Connect entities. Each relation stands for itself: a good one is kept though another is not."""
        at_most(len(wanted), self._context.limits.entities * 4, "relations")
        for relation in wanted:
            self._check_relation(relation)
        with self._context.writing() as tx:
            return [relate(tx, relation, self._context.new_id) for relation in wanted]

    def add_observations(
        self, name: str, texts: Sequence[str], *, kind: str = GENERIC_KIND, supersedes: str | None = None
    ) -> Node:
        """Add to what is observed about an entity; with `supersedes`, in place of an earlier observation.

        `supersedes` is the id of a memory, or the text of an observation of this entity.
        """
        self._check_observations(name, texts)
        checked_text(kind, "the kind", most=100)
        with self._context.writing() as tx:
            entity = tx.entities.get(name)
            added = observe(tx, entity, texts, self._context.new_id, kind=kind)
            if supersedes is not None:
                self._supersede(tx, entity, supersedes, added[-1].id if added else None)
            self._touch(tx, entity, bool(added))
            return tx.entities.nodes([entity])[0]

    def add_to_each(self, wanted: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, list[str]]]:
        """Add observations to several entities; by entity, those it did not have. All of them, or none."""
        at_most(len(wanted), self._context.limits.entities, "entities")
        for name, texts in wanted:
            self._check_observations(name, texts)
        with self._context.writing() as tx:
            named = tx.entities.named(name for name, _ in wanted)
            entities = [named[name][0] if name in named else tx.entities.get(name) for name, _ in wanted]
            each = self._observe_each(tx, list(zip(entities, (texts for _, texts in wanted), strict=True)))
        return [
            (name, [memory.content for memory in added])
            for (name, _), added in zip(wanted, each, strict=True)
        ]

    def delete_from_each(self, unwanted: Sequence[tuple[str, Sequence[str]]]) -> Deleted:
        """Take observations off several entities: how many from each, and which entities were not found."""
        at_most(len(unwanted), self._context.limits.entities, "entities")
        for _, texts in unwanted:
            at_most(len(texts), MOST_UNWANTED, "observations")
        deleted: list[tuple[str, int]] = []
        missing: list[str] = []
        with self._context.writing() as tx:
            for name, texts in unwanted:
                entity = tx.entities.find_one(name)
                if entity is None:
                    missing.append(name)
                    continue
                removed = unobserve(tx, entity, texts)
                self._touch(tx, entity, removed > 0)
                deleted.append((name, removed))
        return Deleted(tuple(deleted), tuple(missing))

    def delete_entities(self, names: Sequence[str], *, cascade_memories: bool = False) -> Deleted:
        """Take entities away with their relations and observations.

        Memories that were stored in their own right stay, unless `cascade_memories`.
        """
        at_most(len(names), self._context.limits.entities, "entities")
        deleted, missing = [], []
        with self._context.writing() as tx:
            for name in dict.fromkeys(names):
                entity = tx.entities.find_one(name)
                if entity is None:
                    missing.append(name)
                    continue
                remove_entity(tx, entity, cascade_memories=cascade_memories)
                deleted.append(name)
        return Deleted(tuple(deleted), tuple(missing))

    def delete_observations(self, name: str, texts: Sequence[str]) -> Node:
        """Take observations off an entity; a text it does not have is passed over."""
        at_most(len(texts), MOST_UNWANTED, "observations")
        with self._context.writing() as tx:
            entity = tx.entities.get(name)
            removed = unobserve(tx, entity, texts)
            self._touch(tx, entity, removed > 0)
            return tx.entities.nodes([entity])[0]

    def delete_relations(self, triples: Sequence[Triple]) -> Deleted:
        """Take relations away; those that are not there are reported."""
        at_most(len(triples), self._context.limits.entities * 4, "relations")
        deleted: list[Triple] = []
        missing: list[str] = []
        with self._context.writing() as tx:
            for triple in triples:
                relation = find_relation(tx, triple)
                if isinstance(relation, str):
                    missing.append(relation)
                else:
                    unrelate(tx, relation)
                    deleted.append(triple)
        return Deleted(tuple(deleted), tuple(missing))

    def delete_relation(self, id: str) -> Relation:
        """Take one relation away, ended or not, with the one that says the same from the other end."""
        with self._context.writing() as tx:
            relation = tx.relations.get_id(id)
            unrelate(tx, relation)
            return relation

    def get_relation(self, id: str) -> Relation:
        with self._context.reading() as tx:
            return tx.relations.get_id(id)

    def end_relation(self, which: int | str | Triple) -> EndedRelation:
        """Let a relation end: it stays readable as history, and may begin again later.

        A relation is named by its number, its id, or its two ends and type.
        """
        with self._context.writing() as tx:
            relation = get_relation(tx, which)
            if relation.ended_at is not None:
                return EndedRelation(relation, None, already=True)
            ended = tx.relations.change(relation, ended_at=tx.at)
            inverse = inverse_of(tx, relation)
            if inverse is not None:
                inverse = tx.relations.change(inverse, ended_at=tx.at)
            tx.journal.record(
                "relation_ended",
                ended.id,
                id=ended.id,
                source=ended.source,
                target=ended.target,
                type=ended.type,
            )
            return EndedRelation(ended, inverse, already=False)

    def open_nodes(
        self,
        names: Sequence[str],
        *,
        kinds: Sequence[str] = (),
        superseded: bool = False,
        record: bool = True,
    ) -> Graph:
        """Entities by exact name, or id, each once in the order asked for, with all relations they have."""
        at_most(len(names), max(self._context.limits.entities, 1), "names")
        with self._context.reading() as tx:
            entities = tx.entities.find_each(names)
            nodes = [_only(node, kinds) for node in tx.entities.nodes(entities, superseded=superseded)]
            relations = tx.relations.touching([entity.seq for entity in entities], ended=superseded)
        if record:
            self._context.record_use([entity.seq for entity in entities])
        return Graph(tuple(nodes), tuple(relations))

    def get(self, which: str, *, ended: bool = False, record: bool = True) -> Graph:
        """One entity by name or id, with every relation that touches it."""
        with self._context.reading() as tx:
            entity = tx.entities.get(which)
            found = Graph(
                tuple(tx.entities.nodes([entity])), tuple(tx.relations.touching([entity.seq], ended=ended))
            )
        if record:
            self._context.record_use([entity.seq])
        return found

    def update(
        self, which: str, changes: Mapping[str, Any], *, expected_update: datetime | None = None
    ) -> Entity:
        """Change what is given of an entity, by name or id, and leave the rest.

        With `expected_update`, only if nobody has changed the entity since that time.
        """
        unknown = changes.keys() - CHANGEABLE
        if unknown:
            raise Invalid(f"an entity's {', '.join(sorted(unknown))} cannot be set: leave it out")
        with self._context.writing() as tx:
            entity = tx.entities.get(which)
            if expected_update not in (None, entity.updated_at):
                raise Stale(f"entity {entity.name!r} was changed at {entity.updated_at}: read it again first")
            real = {name: value for name, value in changes.items() if value != getattr(entity, name)}
            self._check_entity(NewEntity(**{"name": entity.name, "type": entity.type, **real}))
            if not real:
                return entity
            _refuse_twin(tx, entity, real)
            changed = tx.entities.change(entity, **real)
            tx.journal.record("entity_updated", entity.id, id=entity.id, name=changed.name, changes=real)
            return changed

    def search_nodes(self, query: str, *, limit: int, after: int = 0) -> Page:
        """Entities that hold the query as a piece of their name, type or an observation, in stored order."""
        checked_query(query, self._context.limits)
        with self._context.reading() as tx:
            found = tx.entities.seqs_holding(query) if query.strip() else []
            entities = tx.entities.fetch([seq for seq in found if seq > after][: limit + 1])
            return _page(tx, [entities[seq] for seq in sorted(entities)], limit, len(found))

    def names_beginning(self, beginning: str, *, limit: int) -> list[str]:
        """Names of entities that begin so, whatever their case, in order."""
        checked_note(beginning, "the name", most=self._context.limits.name_length)
        with self._context.reading() as tx:
            return tx.entities.names_beginning(beginning, limit)

    def read(self, *, limit: int, after: int = 0) -> Page:
        """The graph in stored order, a page at a time; a relation comes with the later of its two ends."""
        with self._context.reading() as tx:
            total = tx.entities.count()
            entities = tx.entities.page(after, limit + 1)
            page = _page(tx, entities, limit, total)
            seen = {node.entity.seq for node in page.graph.nodes}
            relations = [r for r in page.graph.relations if max(r.source_seq, r.target_seq) in seen]
            return Page(Graph(page.graph.nodes, tuple(relations)), page.cursor, total)

    def _check_entity(self, wanted: NewEntity) -> None:
        limits = self._context.limits
        checked_text(wanted.name, "an entity's name", most=limits.name_length)
        if wanted.type is not None:
            checked_text(wanted.type, f"the type of {wanted.name!r}", most=limits.name_length)
        if wanted.description is not None:
            checked_note(wanted.description, f"the description of {wanted.name!r}", most=limits.content_bytes)
        if wanted.status is not None:
            checked_text(wanted.status, f"the status of {wanted.name!r}", most=limits.name_length)
        checked_metadata(wanted.metadata, limits)
        self._check_observations(wanted.name, wanted.observations)

    def _check_observations(self, name: str, texts: Sequence[str]) -> None:
        limits = self._context.limits
        at_most(len(texts), limits.observations, f"observations for {name!r}")
        for text in texts:
            checked_text(text, f"an observation of {name!r}", most=limits.observation_length)

    def _check_relation(self, wanted: NewRelation) -> None:
        most = self._context.limits.name_length
        for text, what in ((wanted.source, "source"), (wanted.target, "target"), (wanted.type, "type")):
            checked_text(text, f"a relation's {what}", most=most)
        for value, what in ((wanted.strength, "strength"), (wanted.confidence, "confidence")):
            if value is not None:
                checked_share(value, f"the {what} of a relation")
        if wanted.context is not None:
            checked_note(wanted.context, "a relation's context", most=self._context.limits.content_bytes)

    def _put_entities(self, tx: Transaction, wanted: Sequence[NewEntity]) -> list[Entity]:
        known = tx.entities.named(entity.name for entity in wanted)
        new: dict[str, int] = {}
        for place, entity in enumerate(wanted):
            if entity.name not in known:
                new.setdefault(entity.name, place)
        for made in self._add_entities(tx, [wanted[place] for place in new.values()]):
            known[made.name] = [made]
        entities = [
            known[entity.name][0]
            if new.get(entity.name) == place
            else self._put_known(tx, entity, known[entity.name])
            for place, entity in enumerate(wanted)
        ]
        self._observe_each(
            tx, [(entity, asked.observations) for entity, asked in zip(entities, wanted, strict=True)]
        )
        return entities

    def _put_known(self, tx: Transaction, wanted: NewEntity, same_name: list[Entity]) -> Entity:
        """What is wanted under a name that is taken. `same_name` is kept up to date."""
        meant = _match(same_name, wanted)
        if meant is None:
            [entity] = self._add_entities(tx, [wanted])
            same_name.append(entity)
        else:
            entity = self._fill_in(tx, meant, wanted)
            same_name[same_name.index(meant)] = entity
        return entity

    def _add_entities(self, tx: Transaction, wanted: Sequence[NewEntity]) -> list[Entity]:
        made = tx.entities.add_all(
            {
                "id": self._context.new_id(), "name": entity.name, "type": entity.type or GENERIC_TYPE,
                "description": entity.description, "metadata": dict(entity.metadata),
                "status": entity.status or ACTIVE,
            }
            for entity in wanted
        )  # fmt: skip
        tx.journal.record_rows(
            "entity_created",
            {entity.id: {"id": entity.id, "name": entity.name, "type": entity.type} for entity in made},
        )
        return made

    def _observe_each(
        self, tx: Transaction, wanted: Sequence[tuple[Entity, Sequence[str]]]
    ) -> list[list[Memory]]:
        each = observe_each(tx, wanted, self._context.new_id)
        more = {entity.seq: entity for (entity, _), added in zip(wanted, each, strict=True) if added}
        for entity in more.values():
            self._touch(tx, entity, changed=True)
        return each

    def _fill_in(self, tx: Transaction, entity: Entity, wanted: NewEntity) -> Entity:
        """What is given is taken over; what is not stays as it was."""
        changes: dict[str, Any] = {"metadata": {**entity.metadata, **wanted.metadata}}
        for name, value in (
            ("type", wanted.type),
            ("description", wanted.description),
            ("status", wanted.status),
        ):
            changes[name] = getattr(entity, name) if value is None else value
        changes = {name: value for name, value in changes.items() if value != getattr(entity, name)}
        if not changes:
            return entity
        changed = tx.entities.change(entity, **changes)
        tx.journal.record("entity_updated", entity.id, id=entity.id, name=entity.name, changes=changes)
        return changed

    def _touch(self, tx: Transaction, entity: Entity, changed: bool) -> None:
        if changed and entity.updated_at != tx.at:
            tx.entities.change(entity)
            tx.journal.record("entity_updated", entity.id, id=entity.id, name=entity.name, changes={})

    def _supersede(self, tx: Transaction, entity: Entity, which: str, by: str | None) -> None:
        [node] = tx.entities.nodes([entity])
        old = next((memory for memory in node.observations if which in (memory.id, memory.content)), None)
        if old is None:
            raise NotFound(
                f"{entity.name!r} has no current observation {which!r} to supersede: open it to see them"
            )
        if by is None:
            raise Invalid(
                "nothing new was added, so nothing was superseded: give the observation that replaces it"
            )
        if by == old.id:
            raise Invalid("an observation cannot supersede itself: give the new text")
        if len(tx.entities.linked_to(old)) > 1:
            # It is still true of the others. There it stays; here it is the journal that remembers it.
            tx.entities.unlink(entity, old)
            tx.journal.record("observations_removed", entity.id, id=entity.id, name=entity.name, count=1)
            return
        tx.memories.change(old, superseded_at=tx.at, superseded_by=by)
        tx.journal.record("memory_updated", old.id, id=old.id, changes={"superseded_by": by})


def _refuse_twin(tx: Transaction, entity: Entity, changes: Mapping[str, Any]) -> None:
    name, type = changes.get("name", entity.name), changes.get("type", entity.type)
    for other in tx.entities.named([name]).get(name, []):
        if other.type == type and other.seq != entity.seq:
            raise Conflict(f"there is an entity {name!r} of type {type!r} already: choose another name")


def remove_entity(tx: Transaction, entity: Entity, *, cascade_memories: bool = False) -> None:
    [node] = tx.entities.nodes([entity], superseded=True)
    tx.entities.remove(entity)
    tx.journal.record("entity_deleted", entity.id, id=entity.id, name=entity.name)
    unique = list({memory.seq: memory for memory in node.observations}.values())
    released = release(tx, unique)
    if cascade_memories:
        for memory in unique:
            if memory not in released:
                tx.memories.remove(memory)
                tx.journal.record("memory_deleted", memory.id, id=memory.id)


def unobserve(tx: Transaction, entity: Entity, texts: Iterable[str]) -> int:
    """Take texts off an entity, superseded ones too. How many observations that were."""
    unwanted = set(texts)
    [node] = tx.entities.nodes([entity], superseded=True)
    found = {memory.seq: memory for memory in node.observations if memory.content in unwanted}
    removed = sum(tx.entities.unlink(entity, memory) for memory in found.values())
    release(tx, list(found.values()))
    if removed:
        tx.journal.record("observations_removed", entity.id, id=entity.id, name=entity.name, count=removed)
    return removed


def _match(found: Sequence[Entity], wanted: NewEntity) -> Entity | None:
    """Which of the entities with the name is meant, if one is."""
    exact = next((entity for entity in found if entity.type == wanted.type), None)
    placeholder = next((entity for entity in found if entity.type == UNKNOWN_TYPE), None)
    if wanted.same_type and wanted.type is not None:
        return exact or placeholder
    return exact or (found[0] if found else None)


def _only(node: Node, kinds: Sequence[str]) -> Node:
    if not kinds:
        return node
    return Node(node.entity, tuple(memory for memory in node.observations if memory.kind in kinds))


def _page(tx: Transaction, entities: Sequence[Entity], limit: int, total: int) -> Page:
    shown = entities[:limit]
    nodes = tx.entities.nodes(shown)
    relations = tx.relations.touching([entity.seq for entity in shown])
    cursor = shown[-1].seq if len(entities) > limit and shown else None
    return Page(Graph(tuple(nodes), tuple(relations)), cursor, total)
