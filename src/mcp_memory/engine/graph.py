"""The knowledge graph: entities, their observations and their relations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mcp_memory.engine.context import Topic, at_most, checked_note, checked_query, checked_text
from mcp_memory.engine.entity_creation import matching_entity, put_entities
from mcp_memory.engine.graph_drafts import check_entity, check_observations, check_relation
from mcp_memory.engine.graph_writer import GraphWriter
from mcp_memory.engine.memory_changes import supersede
from mcp_memory.engine.relating import RelationOutcome, Triple, find_relation, get_relation
from mcp_memory.errors import Invalid, NotFound, Stale
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.model import GENERIC_KIND, Entity, Graph, Node, Relation
from mcp_memory.storage import Transaction

MOST_UNWANTED = 10_000
"""Most observations that one call may delete; they may have been added in many calls."""

CHANGEABLE = frozenset({"name", "type", "description", "metadata", "status"})
"""Fields of an entity that can be changed."""


@dataclass(frozen=True, slots=True)
class MadeEntity:
    node: Node
    new: bool
    """False: it existed and was updated."""


@dataclass(frozen=True, slots=True)
class DeletedNodes:
    """Names or triples that were deleted, and those not found."""

    deleted: tuple[Any, ...]
    missing: tuple[Any, ...] = ()
    remaining: tuple[Entity, ...] = ()
    """Entities with a deleted name and another type."""


@dataclass(frozen=True, slots=True)
class EndedRelation:
    relation: Relation
    inverse: Relation | None
    already: bool


@dataclass(frozen=True, slots=True)
class GraphPage:
    """A part of the graph; `cursor` gets the next part, and is None at the end."""

    graph: Graph
    cursor: int | None
    total: int


MOST_RELATIONS = 500
"""Most relations that `open_nodes` reads: a hub can have thousands."""


class KnowledgeGraph(Topic):
    def create_entities(self, wanted: Sequence[NewEntity]) -> list[Node]:
        """Create or update entities, all or none; observations are merged."""
        limits = self._context.limits
        at_most(len(wanted), limits.entities, "entities")
        for entity in wanted:
            check_entity(entity, self._context.limits)
        with self._context.writing() as tx:
            return put_entities(tx, self._writer(tx), wanted)

    def create_entity(self, wanted: NewEntity) -> MadeEntity:
        """Create or update one entity; observations are merged."""
        check_entity(wanted, self._context.limits)
        with self._context.writing() as tx:
            known = matching_entity(tx.entities.named([wanted.name]).get(wanted.name, []), wanted)
            [node] = put_entities(tx, self._writer(tx), [wanted])
            return MadeEntity(node, new=known is None)

    def create_relations(self, wanted: Sequence[NewRelation]) -> list[RelationOutcome]:
        """Create relations, each on its own: one that fails does not affect the others."""
        at_most(len(wanted), self._context.limits.names, "relations")
        for relation in wanted:
            check_relation(relation, self._context.limits)
        with self._context.writing() as tx:
            writer = self._writer(tx)
            return [writer.relate_named(relation) for relation in wanted]

    def add_observations(
        self, name: str, texts: Sequence[str], *, kind: str = GENERIC_KIND, supersedes: str | None = None
    ) -> Node:
        """Add observations to an entity; with `supersedes`, in place of an earlier one.

        `supersedes` is the id of a memory, or the text of an observation of this entity.
        """
        check_observations(name, texts, self._context.limits)
        checked_text(kind, "the kind", most=100)
        with self._context.writing() as tx:
            entity = tx.entities.get(name)
            [added] = self._writer(tx).observe([(entity, texts)], kind=kind)
            if supersedes is not None:
                self._supersede(tx, entity, supersedes, added[-1].id if added else None)
            return tx.entities.nodes([entity])[0]

    def add_to_each(self, wanted: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, list[str]]]:
        """Add observations to several entities, all or none. By entity, the texts that are new."""
        at_most(len(wanted), self._context.limits.names, "entities")
        for name, texts in wanted:
            check_observations(name, texts, self._context.limits)
        with self._context.writing() as tx:
            named = tx.entities.named(name for name, _ in wanted)
            entities = [named[name][0] if name in named else tx.entities.get(name) for name, _ in wanted]
            texts_by_entity = list(zip(entities, (texts for _, texts in wanted), strict=True))
            each = self._writer(tx).observe(texts_by_entity)
        return [
            (name, [memory.content for memory in added])
            for (name, _), added in zip(wanted, each, strict=True)
        ]

    def delete_from_each(self, unwanted: Sequence[tuple[str, Sequence[str]]]) -> DeletedNodes:
        """Delete observations from several entities: how many of each, and unknown entities."""
        at_most(len(unwanted), self._context.limits.names, "entities")
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
                deleted.append((name, self._writer(tx).unobserve(entity, texts)))
        return DeletedNodes(tuple(deleted), tuple(missing))

    def delete_entities(self, names: Sequence[str], *, cascade_memories: bool = False) -> DeletedNodes:
        """Delete entities with their relations and observations.

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
                self._writer(tx).remove_entity(entity, cascade_memories=cascade_memories)
                deleted.append(name)
            remaining = [one for same_name in tx.entities.named(deleted).values() for one in same_name]
        return DeletedNodes(tuple(deleted), tuple(missing), tuple(remaining))

    def delete_entity(self, which: str, *, cascade_memories: bool = False) -> Entity:
        """Delete one entity by name or id, as `delete_entities` does. The entity as it was."""
        with self._context.writing() as tx:
            entity = tx.entities.get(which)
            self._writer(tx).remove_entity(entity, cascade_memories=cascade_memories)
            return entity

    def delete_observations(self, name: str, texts: Sequence[str]) -> Node:
        """Delete observations of an entity; a text it does not have is skipped."""
        at_most(len(texts), MOST_UNWANTED, "observations")
        with self._context.writing() as tx:
            entity = tx.entities.get(name)
            self._writer(tx).unobserve(entity, texts)
            return tx.entities.nodes([entity])[0]

    def delete_relations(self, triples: Sequence[Triple]) -> DeletedNodes:
        """Delete relations; missing ones are reported."""
        at_most(len(triples), self._context.limits.names, "relations")
        deleted: list[Triple] = []
        missing: list[str] = []
        with self._context.writing() as tx:
            for triple in triples:
                relation = find_relation(tx, triple)
                if isinstance(relation, str):
                    missing.append(relation)
                else:
                    self._writer(tx).unrelate(relation)
                    deleted.append(triple)
        return DeletedNodes(tuple(deleted), tuple(missing))

    def delete_relation(self, id: str) -> Relation:
        """Delete one relation, ended or not, with its inverse."""
        with self._context.writing() as tx:
            relation = tx.relations.get_id(id)
            self._writer(tx).unrelate(relation)
            return relation

    def get_relation(self, id: str) -> Relation:
        with self._context.reading() as tx:
            return tx.relations.get_id(id)

    def update_relation(
        self,
        id: str,
        *,
        type: str | None = None,
        strength: float | None = None,
        confidence: float | None = None,
        context: str | None = None,
    ) -> Relation:
        """Change what is given. Another type replaces the relation; ended ones stay as they were."""
        with self._context.writing() as tx:
            relation = tx.relations.get_id(id)
            if relation.ended_at is not None:
                raise Invalid("this relation has ended: create it again, and change that one")
            wanted = NewRelation(
                source=relation.source,
                target=relation.target,
                type=type or relation.type,
                strength=relation.strength if strength is None else strength,
                confidence=relation.confidence if confidence is None else confidence,
                context=relation.context if context is None else context,
                metadata=relation.metadata,
            )
            check_relation(wanted, self._context.limits)
            return self._writer(tx).revise_relation(relation, wanted)

    def end_relation(self, which: int | str | Triple) -> EndedRelation:
        """End a relation: it stays readable as history, and may begin again later.

        A relation is named by its number, its id, or its two ends and type.
        """
        with self._context.writing() as tx:
            relation = get_relation(tx, which)
            if relation.ended_at is not None:
                return EndedRelation(relation, None, already=True)
            ended, inverse = self._writer(tx).end_relation(relation)
            return EndedRelation(ended, inverse, already=False)

    def open_nodes(
        self,
        names: Sequence[str],
        *,
        kinds: Sequence[str] = (),
        superseded: bool = False,
        record: bool = True,
        as_of: datetime | None = None,
        relations: bool = True,
    ) -> Graph:
        """Entities by exact name, or id, each once in the order asked for, with their oldest relations.

        Without `relations`, these are only counted.
        """
        at_most(len(names), self._context.limits.names, "names")
        with self._context.reading(as_of=as_of) as tx:
            entities = tx.entities.find_each(names)
            nodes = [_only(node, kinds) for node in tx.entities.nodes(entities, superseded=superseded)]
            seqs, limit = [entity.seq for entity in entities], MOST_RELATIONS if relations else 0
            if as_of is None:
                found, count = tx.relations.first_touching(seqs, ended=superseded, limit=limit)
            else:
                known = tx.relations.touching(seqs, ended=superseded)
                found, count = known[:limit], len(known)
        if record and as_of is None:
            self._context.record_use(seqs)
        return Graph(tuple(nodes), tuple(found), count)

    def get(
        self, which: str, *, ended: bool = False, record: bool = True, as_of: datetime | None = None
    ) -> Graph:
        """One entity by name or id, with every relation that touches it."""
        with self._context.reading(as_of=as_of) as tx:
            entity = tx.entities.get(which)
            relations = tx.relations.touching([entity.seq], ended=ended)
            found = Graph(tuple(tx.entities.nodes([entity])), self._context.faded(relations, tx.at))
        if record and as_of is None:
            self._context.record_use([entity.seq])
        return found

    def update(
        self, which: str, changes: Mapping[str, Any], *, expected_update: datetime | None = None
    ) -> Entity:
        """Update the given fields of an entity, by name or id.

        With `expected_update`, only if the entity has not changed since that time.
        """
        unknown = changes.keys() - CHANGEABLE
        if unknown:
            raise Invalid(f"an entity's {', '.join(sorted(unknown))} cannot be set: leave it out")
        with self._context.writing() as tx:
            entity = tx.entities.get(which)
            if expected_update not in (None, entity.updated_at):
                raise Stale(f"entity {entity.name!r} was changed at {entity.updated_at}: read it again first")
            real = {name: value for name, value in changes.items() if value != getattr(entity, name)}
            check_entity(
                NewEntity(**{"name": entity.name, "type": entity.type, **real}), self._context.limits
            )
            return self._writer(tx).change_entity(entity, real)

    def search_nodes(self, query: str, *, limit: int, after: int = 0) -> GraphPage:
        """Entities with the query as a substring of name, type or an observation, in stored order."""
        checked_query(query, self._context.limits.query_length)
        with self._context.reading() as tx:
            found = tx.entities.seqs_holding(query) if query.strip() else []
            entities = tx.entities.fetch([seq for seq in found if seq > after][: limit + 1])
            return _page(tx, [entities[seq] for seq in sorted(entities)], limit, len(found))

    def missing(self, names: Iterable[str]) -> NotFound:
        """The error for names that no entity has, with the nearest ones that exist."""
        with self._context.reading() as tx:
            hints = {name: tx.entities.names_like(name) for name in names}
        sentence = f"there is no entity {', '.join(map(repr, hints))}"
        close = list(dict.fromkeys(found[0] for found in hints.values() if found))
        return NotFound(sentence + (f". Did you mean {', '.join(map(repr, close))}?" if close else ""))

    def names_beginning(self, beginning: str, *, limit: int) -> list[str]:
        """Names of entities with this prefix, in any case, sorted."""
        checked_note(beginning, "the name", most=self._context.limits.name_length)
        with self._context.reading() as tx:
            return tx.entities.names_beginning(beginning, limit)

    def read(self, *, limit: int, after: int = 0, as_of: datetime | None = None) -> GraphPage:
        """The graph in stored order, a page at a time; a relation comes with the later of its two ends."""
        with self._context.reading(as_of=as_of) as tx:
            total = tx.entities.count()
            entities = tx.entities.page(after, limit + 1)
            page = _page(tx, entities, limit, total)
            seen = {node.entity.seq for node in page.graph.nodes}
            relations = [r for r in page.graph.relations if max(r.source_seq, r.target_seq) in seen]
            return GraphPage(Graph(page.graph.nodes, tuple(relations)), page.cursor, total)

    def _writer(self, tx: Transaction) -> GraphWriter:
        return GraphWriter(tx, self._context.new_id, self._context.tuning.secrets)

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
            # It is still true of the other entities, so it stays current there.
            self._writer(tx).unlink(entity, old)
        else:
            supersede(tx, old, by)


def _only(node: Node, kinds: Sequence[str]) -> Node:
    if not kinds:
        return node
    return Node(node.entity, tuple(memory for memory in node.observations if memory.kind in kinds))


def _page(tx: Transaction, entities: Sequence[Entity], limit: int, total: int) -> GraphPage:
    shown = entities[:limit]
    nodes = tx.entities.nodes(shown)
    relations = tx.relations.touching([entity.seq for entity in shown])
    cursor = shown[-1].seq if len(entities) > limit and shown else None
    return GraphPage(Graph(tuple(nodes), tuple(relations)), cursor, total)
