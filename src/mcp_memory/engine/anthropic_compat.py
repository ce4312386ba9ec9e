"""What Anthropic's memory server does, to the letter, over the same memories as everything else."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from mcp_memory.engine.context import Topic, storable
from mcp_memory.engine.graph import remove_entity, unobserve
from mcp_memory.engine.memory_file import MemoryFile
from mcp_memory.engine.observing import observe
from mcp_memory.errors import NotFound
from mcp_memory.model import UNKNOWN_TYPE, Entity
from mcp_memory.storage import Transaction
from mcp_memory.storage.graph_projection import GraphProjection
from mcp_memory.text import graph_lines
from mcp_memory.text.graph_lines import Difference, EntityLine, GraphLines, RelationLine

AGREED = "memory_file"
"""The setting that holds what the file said when it and the store last agreed."""


@dataclass(frozen=True, slots=True)
class Created:
    entities: tuple[EntityLine, ...]
    skipped: tuple[str, ...]
    """Names that were taken: nothing of these was kept."""


@dataclass(frozen=True, slots=True)
class Removed:
    """How many of the wanted ones were found and are gone, and which names were not found."""

    wanted: int
    found: int
    missing: tuple[str, ...] = ()

    @property
    def all_found(self) -> bool:
        return self.found >= self.wanted and not self.missing


class AnthropicCompat(Topic):
    """The nine tools of Anthropic's server.

    With a memory file, what others did to the file is done to the store before each call, and the
    file is written after each change. A file that has gone is written again, not taken as a wish to
    forget everything.
    """

    def create_entities(self, wanted: Sequence[EntityLine]) -> Created:
        """New names only; an entity whose name is taken is skipped whole."""
        for line in wanted:
            _check(line.name, line.type, *line.observations)
        with self._writing() as work:
            taken = set(work.tx.entities.named([line.name for line in wanted]))
            created, skipped = [], []
            for line in wanted:
                if line.name in taken:
                    skipped.append(line.name)
                    continue
                taken.add(line.name)
                self._add(work.tx, line)
                created.append(line)
            return Created(tuple(created), tuple(skipped))

    def create_relations(self, wanted: Sequence[RelationLine]) -> tuple[RelationLine, ...]:
        """Those that were not there yet. Every end must exist, or nothing is kept."""
        for line in wanted:
            _check(line.source, line.target, line.type)
        with self._writing() as work:
            for line in wanted:
                for name in (line.source, line.target):
                    _named(work.tx, name)
            return tuple(line for line in wanted if self._relate(work.tx, line))

    def add_observations(self, wanted: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, list[str]]]:
        """By entity, the texts it did not have. Every entity must exist, or nothing is kept."""
        for name, texts in wanted:
            _check(name, *texts)
        with self._writing() as work:
            for name, _ in wanted:
                _named(work.tx, name)
            return [(name, self._observe(work.tx, _named(work.tx, name), texts)) for name, texts in wanted]

    def delete_entities(self, names: Sequence[str]) -> Removed:
        """With every relation that touches them, even where only the relation knew the name."""
        with self._writing() as work:
            found = work.tx.entities.named(names)
            for entity in (entity for entities in found.values() for entity in entities):
                remove_entity(work.tx, entity)
            work.loose = [line for line in work.loose if not {line.source, line.target} & set(names)]
            missing = tuple(name for name in names if name not in found)
            return Removed(len(names), len(names) - len(missing), missing)

    def delete_observations(self, wanted: Sequence[tuple[str, Sequence[str]]]) -> Removed:
        missing, removed = [], 0
        with self._writing() as work:
            for name, texts in wanted:
                entity = work.tx.entities.find_named(name)
                if entity is None:
                    missing.append(name)
                elif count := unobserve(work.tx, entity, texts):
                    removed += count
                    _touch(work.tx, entity)
        return Removed(sum(len(texts) for _, texts in wanted), removed, tuple(missing))

    def delete_relations(self, wanted: Sequence[RelationLine]) -> Removed:
        with self._writing() as work:
            removed = sum(_unrelate(work.tx, line) for line in dict.fromkeys(wanted))
            kept = [line for line in work.loose if line not in wanted]
            removed += len(work.loose) - len(kept)
            work.loose = kept
        return Removed(len(wanted), removed)

    def read(self) -> GraphLines:
        """Everything, in stored order."""
        with self._reading() as work:
            return work.whole()

    def search(self, query: str) -> GraphLines:
        """Entities that hold the query as one piece of text, whatever its case; all if it is empty."""
        with self._reading() as work:
            return work.around(work.tx.entities.holding(query) if "\0" not in query else [])

    def open(self, names: Sequence[str]) -> GraphLines:
        """Entities by their exact names, in stored order; unknown names are passed over."""
        with self._reading() as work:
            found = work.tx.entities.named(names).values()
            return work.around(entity for entities in found for entity in entities)

    @contextmanager
    def _reading(self) -> Iterator["_Work"]:
        file = self._context.memory_file
        if file is not None and file.has_changed():
            with file.turn(needed=False):
                self._take_in(file)
        with self._context.reading() as tx:
            yield _Work(tx, file.lines if file else GraphLines())

    @contextmanager
    def _writing(self) -> Iterator["_Work"]:
        file = self._context.memory_file
        if file is None:
            with self._context.writing() as tx:
                yield _Work(tx, GraphLines())
            return
        with file.turn():
            if file.has_changed():
                self._take_in(file)
            with file.replacement() as write, self._context.writing() as tx:
                work = _Work(tx, file.lines)
                yield work
                self._settle(work)
                lines = replace(work.whole(), unreadable=file.lines.unreadable)
                text = graph_lines.render(lines)
                write(text)
            # Only now: were the file older than what is noted here, its lack of the newest changes
            # would later be taken for a wish to undo them.
            file.lines = lines
            with self._context.noting() as tx:
                _agree(tx, file, text)

    def _take_in(self, file: MemoryFile) -> None:
        """Do to the store what others did to the file since both last agreed."""
        text = file.read()
        with self._context.reading() as tx:
            agreed = _agreed(tx, file)
        file.lines = graph_lines.parse(agreed if text is None else text)
        if text is not None and text != agreed:
            with self._context.writing() as tx:
                self._apply(tx, graph_lines.difference(graph_lines.parse(agreed), file.lines), file.lines)
                _agree(tx, file, text)

    def _apply(self, tx: Transaction, changes: Difference, file: GraphLines) -> None:
        for was, type in changes.retyped:
            if entity := _meant(tx, was, file):
                _retype(tx, entity, type)
        for line in changes.removed:
            if entity := _meant(tx, line, file):
                remove_entity(tx, entity)
        for line in changes.unobserved:
            if (entity := _meant(tx, line, file)) and unobserve(tx, entity, line.observations):
                _touch(tx, entity)
        for line in changes.added:
            self._add_or_observe(tx, line, _meant(tx, line, file))
        self._apply_relations(tx, changes)

    def _apply_relations(self, tx: Transaction, changes: Difference) -> None:
        for relation in changes.unrelated:
            _unrelate(tx, relation)
        for relation in changes.related:
            if _has_ends(tx, relation):
                self._relate(tx, relation)

    def _add_or_observe(self, tx: Transaction, line: EntityLine, known: Entity | None) -> None:
        if known is None:
            self._add(tx, line)
            return
        if known.type == UNKNOWN_TYPE:
            _retype(tx, known, line.type)
        self._observe(tx, known, line.observations)

    def _settle(self, work: "_Work") -> None:
        """Relations that waited for an end that is there now become real ones."""
        for line in work.loose:
            if _has_ends(work.tx, line):
                self._relate(work.tx, line)

    def _add(self, tx: Transaction, line: EntityLine) -> None:
        entity = tx.entities.add(id=self._context.new_id(), name=line.name, type=line.type)
        tx.journal.record("entity_created", entity.id, id=entity.id, name=entity.name, type=entity.type)
        observe(tx, entity, line.observations, self._context.new_id, repeats=True)

    def _observe(self, tx: Transaction, entity: Entity, texts: Sequence[str]) -> list[str]:
        added = observe(tx, entity, texts, self._context.new_id, repeats=True)
        if added:
            _touch(tx, entity)
        return [memory.content for memory in added]

    def _relate(self, tx: Transaction, line: RelationLine) -> bool:
        """Whether the relation is new."""
        source, target = _named(tx, line.source), _named(tx, line.target)
        if tx.relations.active(source, target, line.type):
            return False
        new = tx.relations.add(id=self._context.new_id(), source=source, target=target, type=line.type)
        tx.journal.record(
            "relation_created", new.id, id=new.id, source=line.source, target=line.target, type=line.type
        )
        return True


class _Work:
    """A transaction, and the relations of the file that may have to wait for an end that is missing."""

    def __init__(self, tx: Transaction, file: GraphLines) -> None:
        self.tx = tx
        self.loose = list(file.dangling)
        self._outline = GraphProjection(tx.scope)

    def whole(self) -> GraphLines:
        return self._with_loose(self._outline.whole(), self.loose)

    def around(self, entities: Iterable[Entity]) -> GraphLines:
        """These entities in stored order, and every relation with at least one end among them."""
        found = self._outline.of([entity.seq for entity in entities])
        return self._with_loose(
            found, [line for line in self.loose if {line.source, line.target} & found.names]
        )

    def _with_loose(self, found: GraphLines, loose: Iterable[RelationLine]) -> GraphLines:
        waiting = [line for line in loose if not _has_ends(self.tx, line)]
        return replace(found, relations=(*found.relations, *waiting))


def _check(*texts: str) -> None:
    for text in texts:
        storable(text, repr(text))


def _named(tx: Transaction, name: str) -> Entity:
    entity = tx.entities.find_named(name)
    if entity is None:
        raise NotFound(f"Entity with name {name} not found")
    return entity


def _meant(tx: Transaction, line: EntityLine, file: GraphLines) -> Entity | None:
    """By name and type; or by name alone, if the file does not describe the one found as another entity."""
    found = tx.entities.named([line.name]).get(line.name, [])
    described = {(entity.name, entity.type) for entity in file.entities if entity.name == line.name}
    exact = (entity for entity in found if entity.type == line.type)
    other = (entity for entity in found if (entity.name, entity.type) not in described)
    return next(exact, None) or next(other, None)


def _has_ends(tx: Transaction, line: RelationLine) -> bool:
    return tx.entities.named([line.source, line.target]).keys() >= {line.source, line.target}


def _unrelate(tx: Transaction, line: RelationLine) -> int:
    """How many relations that was: one or none."""
    if not _has_ends(tx, line):
        return 0
    relation = tx.relations.active(_named(tx, line.source), _named(tx, line.target), line.type)
    if relation is None:
        return 0
    tx.relations.remove(relation)
    tx.journal.record(
        "relation_deleted",
        relation.id,
        id=relation.id,
        source=line.source,
        target=line.target,
        type=line.type,
    )
    return 1


def _retype(tx: Transaction, entity: Entity, type: str) -> None:
    tx.entities.change(entity, type=type)
    tx.journal.record("entity_updated", entity.id, id=entity.id, name=entity.name, changes={"type": type})


def _touch(tx: Transaction, entity: Entity) -> None:
    tx.entities.change(entity)
    tx.journal.record("entity_updated", entity.id, id=entity.id, name=entity.name, changes={})


def _agreed(tx: Transaction, file: MemoryFile) -> str:
    text: str = json.loads(tx.settings.get(_key(file), {"text": '""'})["text"])
    return text


def _agree(tx: Transaction, file: MemoryFile, text: str) -> None:
    # As JSON in JSON: bytes that are no text would otherwise fit in no database.
    tx.settings.put(_key(file), {"text": json.dumps(text)})


def _key(file: MemoryFile) -> str:
    return f"{AGREED}:{file.path.resolve()}"
