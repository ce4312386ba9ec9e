"""The knowledge graph as the lines of Anthropic's memory file, read and changed in one transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from mcp_memory.engine.graph_writer import GraphWriter
from mcp_memory.errors import NotFound
from mcp_memory.inputs import NewEntity
from mcp_memory.model import UNKNOWN_TYPE, Entity
from mcp_memory.storage import Transaction
from mcp_memory.storage.graph_projection import GraphProjection
from mcp_memory.text.graph_lines import EntityLine, GraphDifference, GraphLines, RelationLine


class LineGraph:
    """A transaction, with the file's relations that wait for a missing end."""

    def __init__(
        self, tx: Transaction, writer: GraphWriter, file: GraphLines, dropped: Sequence[RelationLine] = ()
    ) -> None:
        """`dropped`: relations that only the file still has."""
        self.tx = tx
        self.writer = writer
        self.dangling = [line for line in file.dangling if line not in dropped]
        self._dropped = dropped
        self._file = file
        self._projection = GraphProjection(tx.scope)

    @property
    def dropped(self) -> list[RelationLine]:
        """The waiting relations that the file should no longer have."""
        known = [*self._dropped, *self._file.dangling]
        return [line for line in dict.fromkeys(known) if line not in self.dangling]

    def whole(self) -> GraphLines:
        return self._with_dangling(self._projection.whole(), self.dangling)

    def around(self, entities: Iterable[Entity]) -> GraphLines:
        """These entities in stored order, and every relation with at least one end among them."""
        found = self._projection.of([entity.seq for entity in entities])
        return self._with_dangling(
            found, [line for line in self.dangling if {line.source, line.target} & found.names]
        )

    def add_all(self, lines: Sequence[EntityLine]) -> None:
        """Create entities of new names."""
        made = self.writer.add_entities([NewEntity(name=line.name, type=line.type) for line in lines])
        self._observe_each(zip(made, lines, strict=True))

    def observe(self, entity: Entity, texts: Sequence[str]) -> list[str]:
        """The texts that the entity did not have."""
        [added] = self.writer.observe([(entity, texts)], repeats=True)
        return [memory.content for memory in added]

    def relate(self, line: RelationLine) -> bool:
        """Whether the relation is new."""
        return self.writer.relate_once(named(self.tx, line.source), named(self.tx, line.target), line.type)

    def unrelate(self, line: RelationLine) -> bool:
        """Returns whether the relation existed. Its inverse stays: Anthropic's server knows no inverses."""
        if not has_ends(self.tx, line):
            return False
        source, target = named(self.tx, line.source), named(self.tx, line.target)
        relation = self.tx.relations.active(source, target, line.type)
        if relation is not None:
            self.writer.remove_relation(relation)
        return relation is not None

    def settle(self) -> None:
        """Create the dangling relations whose ends exist by now."""
        for line in self.dangling:
            if has_ends(self.tx, line):
                self.relate(line)

    def apply(self, changes: GraphDifference) -> None:
        """Apply the file's changes to the store."""
        for was, type in changes.retyped:
            for entity in self._meant(was):
                self.writer.change_entity(entity, {"type": type})
        for line in changes.removed:
            for entity in self._meant(line):
                self.writer.remove_entity(entity)
        for line in changes.unobserved:
            for entity in self._meant(line):
                self.writer.unobserve(entity, line.observations)
        self._add_or_observe(changes.added)
        self._apply_relations(changes)

    def _apply_relations(self, changes: GraphDifference) -> None:
        for relation in changes.unrelated:
            self.unrelate(relation)
        for relation in changes.related:
            if has_ends(self.tx, relation):
                self.relate(relation)

    def _add_or_observe(self, lines: Sequence[EntityLine]) -> None:
        named = self.tx.entities.named(line.name for line in lines)
        extended = []
        for line in lines:
            same_name = named.setdefault(line.name, [])
            entity = next(iter(self._meant_among(same_name, line)), None)
            if entity is None:
                entity = self.writer.add_entity(line.name, line.type)
                same_name.append(entity)
            elif entity.type == UNKNOWN_TYPE:
                changed = self.writer.change_entity(entity, {"type": line.type})
                same_name[same_name.index(entity)] = entity = changed
            extended.append((entity, line))
        self._observe_each(extended)

    def _observe_each(self, extended: Iterable[tuple[Entity, EntityLine]]) -> None:
        # All at once: for a text that a thousand of them share, its links are read once.
        self.writer.observe([(entity, line.observations) for entity, line in extended], repeats=True)

    def _meant(self, line: EntityLine) -> list[Entity]:
        return self._meant_among(self.tx.entities.named([line.name]).get(line.name, []), line)

    def _meant_among(self, found: Sequence[Entity], line: EntityLine) -> list[Entity]:
        """The entity of that name and type, else one of that name that the file does not describe."""
        exact = [entity for entity in found if entity.type == line.type]
        other = [entity for entity in found if (entity.name, entity.type) not in self._described]
        return (exact or other)[:1]

    @cached_property
    def _described(self) -> set[tuple[str, str]]:
        """Name and type of every entity in the file."""
        return {(one.name, one.type) for one in self._file.entities}

    def _with_dangling(self, found: GraphLines, dangling: Iterable[RelationLine]) -> GraphLines:
        waiting = [line for line in dangling if not has_ends(self.tx, line)]
        return replace(found, relations=(*found.relations, *waiting))


def named(tx: Transaction, name: str) -> Entity:
    entity = tx.entities.find_named(name)
    if entity is None:
        raise NotFound(f"Entity with name {name} not found")
    return entity


def has_ends(tx: Transaction, line: RelationLine) -> bool:
    return tx.entities.named([line.source, line.target]).keys() >= {line.source, line.target}
