"""The behaviour of Anthropic's memory server, to the letter, over the same memories."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from mcp_memory.engine.context import Topic, storable
from mcp_memory.engine.graph_writer import EntityDraft, GraphWriter
from mcp_memory.engine.memory_file import MemoryFile
from mcp_memory.errors import NotFound
from mcp_memory.model import UNKNOWN_TYPE, Entity
from mcp_memory.storage import Transaction
from mcp_memory.storage.graph_projection import GraphProjection
from mcp_memory.text import graph_lines
from mcp_memory.text.graph_lines import EntityLine, GraphDifference, GraphLines, RelationLine

AGREED = "memory_file"
"""Setting key: the file's content when it and the store last agreed."""

BEHIND = "memory_file_behind"
"""Setting key: the store has changes that are not in the file yet."""


@dataclass(frozen=True, slots=True)
class Created:
    entities: tuple[EntityLine, ...]
    skipped: tuple[str, ...]
    """Names that already existed; nothing was stored for them."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The number of deleted ones, and the names that were not found."""

    wanted: int
    found: int
    missing: tuple[str, ...] = ()

    @property
    def all_found(self) -> bool:
        return self.found >= self.wanted and not self.missing


class AnthropicCompat(Topic):
    """The nine tools of Anthropic's server.

    With a memory file, changes that others made to the file are applied to the store before each call. The
    file is written after each change, or a moment later where the context can write behind: the store is the
    truth, and that the file lacks something is noted in the transaction of the change, so that the next
    process writes it if this one cannot. A missing file is written again; it does not delete anything.
    """

    def create_entities(self, wanted: Sequence[EntityLine]) -> Created:
        """Create entities with new names; one whose name exists is skipped entirely."""
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
                created.append(line)
            work.add_all(created)
            return Created(tuple(created), tuple(skipped))

    def create_relations(self, wanted: Sequence[RelationLine]) -> tuple[RelationLine, ...]:
        """Create the relations that are new. Every end must exist, or nothing is stored."""
        for line in wanted:
            _check(line.source, line.target, line.type)
        with self._writing() as work:
            for line in wanted:
                for name in (line.source, line.target):
                    _named(work.tx, name)
            return tuple(line for line in wanted if work.relate(line))

    def add_observations(self, wanted: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, list[str]]]:
        """Add observations; the new texts by entity. Every entity must exist, or nothing is stored."""
        for name, texts in wanted:
            _check(name, *texts)
        with self._writing() as work:
            for name, _ in wanted:
                _named(work.tx, name)
            return [(name, work.observe(_named(work.tx, name), texts)) for name, texts in wanted]

    def delete_entities(self, names: Sequence[str]) -> Removed:
        """Delete entities with every relation that touches them, also a dangling one."""
        with self._writing() as work:
            found = work.tx.entities.named(names)
            for entity in (entity for entities in found.values() for entity in entities):
                work.writer.remove_entity(entity)
            work.dangling = [line for line in work.dangling if not {line.source, line.target} & set(names)]
            missing = tuple(name for name in names if name not in found)
            return Removed(len(names), len(names) - len(missing), missing)

    def delete_observations(self, wanted: Sequence[tuple[str, Sequence[str]]]) -> Removed:
        missing, removed = [], 0
        with self._writing() as work:
            for name, texts in wanted:
                entity = work.tx.entities.find_named(name)
                if entity is None:
                    missing.append(name)
                else:
                    removed += work.writer.unobserve(entity, texts)
        return Removed(sum(len(texts) for _, texts in wanted), removed, tuple(missing))

    def delete_relations(self, wanted: Sequence[RelationLine]) -> Removed:
        with self._writing() as work:
            removed = sum(work.unrelate(line) for line in dict.fromkeys(wanted))
            kept = [line for line in work.dangling if line not in wanted]
            removed += len(work.dangling) - len(kept)
            work.dangling = kept
        return Removed(len(wanted), removed)

    def read(self) -> GraphLines:
        """Everything, in stored order."""
        with self._reading() as work:
            return work.whole()

    def search(self, query: str) -> GraphLines:
        """Entities that contain the query as one substring, whatever its case; all if it is empty."""
        with self._reading() as work:
            return work.around(work.tx.entities.holding(query) if "\0" not in query else [])

    def open(self, names: Sequence[str]) -> GraphLines:
        """Entities by their exact names, in stored order; unknown names are skipped."""
        with self._reading() as work:
            found = work.tx.entities.named(names).values()
            return work.around(entity for entities in found for entity in entities)

    def write_file(self) -> None:
        """Write the file if it is out of date."""
        file = self._context.memory_file
        if file is None:
            return
        with file.turn():
            if file.has_changed():
                self._take_in(file)
            with self._context.reading() as tx:
                behind = _behind(tx, file)
                if behind is None:
                    return  # another process has written it
                work = self._work(tx, file)
                lines = replace(work.whole(), unreadable=file.lines.unreadable)
            text = graph_lines.render(lines)
            with file.replacement() as write:
                write(text)
            # Only now, as in `_writing_at_once`, and synced before the next change: after a power cut the
            # file must not look as if somebody had added back what was deleted.
            file.lines = lines
            with self._context.writing() as tx:
                _agree(tx, file, text)
                if (now := _behind(tx, file)) and now.by == behind.by:
                    _catch_up(tx, file)

    def resume(self) -> None:
        """Schedule the write that an earlier process did not finish."""
        file, later = self._context.memory_file, self._context.write_behind
        if file is not None and later is not None:
            with self._context.reading() as tx:
                is_behind = _behind(tx, file) is not None
            if is_behind:
                self._write_soon()

    @contextmanager
    def _reading(self) -> Iterator["_Work"]:
        file = self._context.memory_file
        if file is not None and file.has_changed():
            with file.turn(needed=False):
                self._take_in(file)
        with self._context.reading() as tx:
            yield self._work(tx, file)
            is_behind = file is not None and _behind(tx, file) is not None
        if is_behind and self._context.write_behind is not None:
            self._write_soon()

    @contextmanager
    def _writing(self) -> Iterator["_Work"]:
        file = self._context.memory_file
        if file is None:
            with self._context.writing() as tx:
                yield self._work(tx, None)
        elif self._context.write_behind is None:
            with self._writing_at_once(file) as work:
                yield work
        else:
            file.check_writable()
            if file.has_changed():
                with file.turn():
                    self._take_in(file)
            with self._context.writing() as tx:
                work = self._work(tx, file)
                yield work
                work.settle()
                _fall_behind(tx, file, _Behind(self._context.new_id(), tuple(work.dropped)))
            self._write_soon()

    @contextmanager
    def _writing_at_once(self, file: MemoryFile) -> Iterator["_Work"]:
        with file.turn():
            if file.has_changed():
                self._take_in(file)
            with file.replacement() as write, self._context.writing() as tx:
                work = self._work(tx, file)
                yield work
                work.settle()
                lines = replace(work.whole(), unreadable=file.lines.unreadable)
                text = graph_lines.render(lines)
                write(text)
            # Only now: a file older than this note would later look as if somebody had
            # removed the newest changes from it.
            file.lines = lines
            with self._context.noting() as tx:
                _agree(tx, file, text)

    def _write_soon(self) -> None:
        later, space = self._context.write_behind, self._context.caller.space
        assert later is not None
        apart = AnthropicCompat(replace(self._context, claim=None, call=None))
        later.soon(f"the memory file of {space}", apart.write_file)

    def _take_in(self, file: MemoryFile) -> None:
        """Apply changes that others made to the file since it and the store last agreed."""
        text = file.read()
        with self._context.reading() as tx:
            agreed = _agreed(tx, file)
        file.lines = graph_lines.parse(agreed if text is None else text)
        if text is not None and text != agreed:
            with self._context.writing() as tx:
                changes = graph_lines.difference(graph_lines.parse(agreed), file.lines)
                self._work(tx, file).apply(changes)
                _agree(tx, file, text)

    def _work(self, tx: Transaction, file: MemoryFile | None) -> "_Work":
        writer = GraphWriter(tx, self._context.new_id, self._context.tuning.secrets)
        if file is None:
            return _Work(tx, writer, GraphLines())
        behind = _behind(tx, file)
        return _Work(tx, writer, file.lines, behind.dropped if behind else ())


class _Work:
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
        made = self.writer.add_entities([EntityDraft(name=line.name, type=line.type) for line in lines])
        self._observe_each(zip(made, lines, strict=True))

    def observe(self, entity: Entity, texts: Sequence[str]) -> list[str]:
        """The texts that the entity did not have."""
        [added] = self.writer.observe([(entity, texts)], repeats=True)
        return [memory.content for memory in added]

    def relate(self, line: RelationLine) -> bool:
        """Whether the relation is new."""
        return self.writer.relate_once(_named(self.tx, line.source), _named(self.tx, line.target), line.type)

    def unrelate(self, line: RelationLine) -> bool:
        """Returns whether the relation existed. Its inverse stays: Anthropic's server knows no inverses."""
        if not _has_ends(self.tx, line):
            return False
        source, target = _named(self.tx, line.source), _named(self.tx, line.target)
        relation = self.tx.relations.active(source, target, line.type)
        if relation is not None:
            self.writer.remove_relation(relation)
        return relation is not None

    def settle(self) -> None:
        """Create the dangling relations whose ends exist by now."""
        for line in self.dangling:
            if _has_ends(self.tx, line):
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
            if _has_ends(self.tx, relation):
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
        waiting = [line for line in dangling if not _has_ends(self.tx, line)]
        return replace(found, relations=(*found.relations, *waiting))


def _check(*texts: str) -> None:
    for text in texts:
        storable(text, repr(text))


def _named(tx: Transaction, name: str) -> Entity:
    entity = tx.entities.find_named(name)
    if entity is None:
        raise NotFound(f"Entity with name {name} not found")
    return entity


def _has_ends(tx: Transaction, line: RelationLine) -> bool:
    return tx.entities.named([line.source, line.target]).keys() >= {line.source, line.target}


def _agreed(tx: Transaction, file: MemoryFile) -> str:
    text: str = json.loads(tx.settings.get(_key(file), {"text": '""'})["text"])
    return text


def _agree(tx: Transaction, file: MemoryFile, text: str) -> None:
    # JSON within JSON: bytes that are not text fit into neither database otherwise.
    tx.settings.put(_key(file), {"text": json.dumps(text)})


@dataclass(frozen=True, slots=True)
class _Behind:
    """Marks that the file lacks changes of the store."""

    by: str
    """A new value with each change."""
    dropped: tuple[RelationLine, ...]
    """Relations with a missing end: only the file has them, and they are to be removed from it."""


def _behind(tx: Transaction, file: MemoryFile) -> _Behind | None:
    found = tx.settings.get(_key(file, BEHIND))
    return _Behind(found["by"], tuple(RelationLine(*ends) for ends in found["dropped"])) if found else None


def _fall_behind(tx: Transaction, file: MemoryFile, behind: _Behind) -> None:
    dropped = [[line.source, line.target, line.type] for line in behind.dropped]
    tx.settings.put(_key(file, BEHIND), {"by": behind.by, "dropped": dropped})


def _catch_up(tx: Transaction, file: MemoryFile) -> None:
    tx.settings.put(_key(file, BEHIND), None)


def _key(file: MemoryFile, kind: str = AGREED) -> str:
    return f"{kind}:{file.path.resolve()}"
