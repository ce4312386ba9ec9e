"""The behaviour of Anthropic's memory server, to the letter, over the same memories."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from mcp_memory.engine.context import Topic, storable
from mcp_memory.engine.graph_writer import GraphWriter
from mcp_memory.engine.line_graph import LineGraph, named
from mcp_memory.engine.memory_file import MemoryFile
from mcp_memory.engine.memory_file_state import (
    Behind,
    agree,
    agreed_text,
    catch_up,
    fall_behind,
    noted_behind,
)
from mcp_memory.storage import Transaction
from mcp_memory.text import graph_lines
from mcp_memory.text.graph_lines import EntityLine, GraphLines, RelationLine


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
    truth, and the transaction of a change also marks the file as outdated, so that the next process writes
    it if this one cannot. A missing file is written again; it does not delete anything.
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
                    named(work.tx, name)
            return tuple(line for line in wanted if work.relate(line))

    def add_observations(self, wanted: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, list[str]]]:
        """Add observations; the new texts by entity. Every entity must exist, or nothing is stored."""
        for name, texts in wanted:
            _check(name, *texts)
        with self._writing() as work:
            for name, _ in wanted:
                named(work.tx, name)
            return [(name, work.observe(named(work.tx, name), texts)) for name, texts in wanted]

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
                behind = noted_behind(tx, file)
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
                agree(tx, file, text)
                if (now := noted_behind(tx, file)) and now.by == behind.by:
                    catch_up(tx, file)

    def resume(self) -> None:
        """Schedule the write that an earlier process did not finish."""
        file, later = self._context.memory_file, self._context.write_behind
        if file is not None and later is not None:
            with self._context.reading() as tx:
                is_behind = noted_behind(tx, file) is not None
            if is_behind:
                self._write_soon()

    @contextmanager
    def _reading(self) -> Iterator[LineGraph]:
        file = self._context.memory_file
        if file is not None and file.has_changed():
            with file.turn(needed=False):
                self._take_in(file)
        with self._context.reading() as tx:
            yield self._work(tx, file)
            is_behind = file is not None and noted_behind(tx, file) is not None
        if is_behind and self._context.write_behind is not None:
            self._write_soon()

    @contextmanager
    def _writing(self) -> Iterator[LineGraph]:
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
                fall_behind(tx, file, Behind(self._context.new_id(), tuple(work.dropped)))
            self._write_soon()

    @contextmanager
    def _writing_at_once(self, file: MemoryFile) -> Iterator[LineGraph]:
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
                agree(tx, file, text)

    def _write_soon(self) -> None:
        later, space = self._context.write_behind, self._context.caller.space
        assert later is not None
        apart = AnthropicCompat(replace(self._context, claim=None, call=None))
        later.soon(f"the memory file of {space}", apart.write_file)

    def _take_in(self, file: MemoryFile) -> None:
        """Apply changes that others made to the file since it and the store last agreed."""
        text = file.read()
        with self._context.reading() as tx:
            agreed = agreed_text(tx, file)
        file.lines = graph_lines.parse(agreed if text is None else text)
        if text is not None and text != agreed:
            with self._context.writing() as tx:
                changes = graph_lines.difference(graph_lines.parse(agreed), file.lines)
                self._work(tx, file).apply(changes)
                agree(tx, file, text)

    def _work(self, tx: Transaction, file: MemoryFile | None) -> LineGraph:
        writer = GraphWriter(tx, self._context.new_id, self._context.tuning.secrets)
        if file is None:
            return LineGraph(tx, writer, GraphLines())
        behind = noted_behind(tx, file)
        return LineGraph(tx, writer, file.lines, behind.dropped if behind else ())


def _check(*texts: str) -> None:
    for text in texts:
        storable(text, repr(text))
