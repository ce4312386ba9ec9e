"""Import and export of memories as files."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any, Literal, TypeVar

from mcp_memory.engine import archive_records, archiving
from mcp_memory.engine.archiving import Arrival
from mcp_memory.engine.context import Topic
from mcp_memory.engine.graph_import import PROBLEMS_TOLD, Imported, Part, Tally, parts
from mcp_memory.engine.graph_writer import GraphWriter
from mcp_memory.engine.import_preview import Preview, previewed, records_of_lines
from mcp_memory.engine.import_source import OpenedImport, Source, allowed, lines_of, open_import
from mcp_memory.engine.pacing import Pace
from mcp_memory.engine.spooling import spool, temporary_file
from mcp_memory.engine.whole_import import take_back_unfinished, whole_import
from mcp_memory.errors import Invalid, Unavailable
from mcp_memory.events import ArchiveImported
from mcp_memory.inputs import NewEntity
from mcp_memory.model import UNKNOWN_TYPE, Entity, Progress, unreported
from mcp_memory.storage import Transaction
from mcp_memory.text.graph_lines import EntityLine, RelationLine, rendered

BATCH = 500
"""Rows that an export reads at once."""

BYTES_AS_A_ROW = 2000
"""So many bytes of text take about as long to write as one more row."""

PREVIEW_PATIENCE = 10.0
"""Seconds to wait for other previews."""

_previews = threading.BoundedSemaphore(2)  # each may hold a whole document in memory

Format = Literal["anthropic", "full"]
"""Export formats."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """What an export leaves out."""

    memories: int
    """Memories that are about no entity, or superseded."""
    reflections: int


class Transfer(Topic):
    def import_from(
        self,
        source: Source,
        format: str | None = None,
        *,
        uploaded: bool = False,
        progress: Progress = unreported,
    ) -> Imported:
        """Add what a file or folder holds. Its format is detected unless it is given.

        `uploaded`: the path is that of a file that the caller sent, not a path that the caller chose.
        """
        opened = self._opened(source, format, uploaded)
        if opened.is_archive:
            done = self.import_full(opened.lines, progress=progress)
            return replace(done, format=opened.format)
        return self.import_anthropic(opened.lines, repeats=True, progress=progress)

    def preview(self, source: Source, format: str | None = None, *, uploaded: bool = False) -> Preview:
        """Preview of `import_from`. Changes nothing."""
        if not _previews.acquire(timeout=PREVIEW_PATIENCE):
            raise Unavailable("other files are being previewed; try again")
        try:
            return self._preview(source, format, uploaded)
        finally:
            _previews.release()

    def _preview(self, source: Source, format: str | None, uploaded: bool) -> Preview:
        opened = self._opened(source, format, uploaded)
        tally = Tally()
        if opened.is_archive:
            records = archiving.parsed_records(opened.lines)
        else:
            read = (part.line for part in parts(opened.lines, self._context.limits, tally))
            records = records_of_lines(line for line in read if line is not None)
        with self._context.reading() as tx:
            return previewed(tx, opened, records, tuple(tally.problems))

    def import_anthropic(
        self, source: Source, *, repeats: bool = False, progress: Progress = unreported
    ) -> Imported:
        """Import a file of Anthropic's memory server. Existing data does not change.

        Relations come after all entities, so that the order of lines does not matter. The import is one act
        and can be undone. With `repeats`, an observation that occurs twice is stored twice.
        """
        tally, done = Tally(), 0
        relations: list[tuple[int, RelationLine]] = []
        with whole_import(self._context) as under_way:
            lines = lines_of(self._allowed(source))
            for some in Pace().pieces(parts(lines, self._context.limits, tally), _rows):
                with under_way.writing() as tx:
                    self._put_entities(tx, some, repeats, tally)
                relations += [
                    (part.number, part.line) for part in some if isinstance(part.line, RelationLine)
                ]
                done += sum(part.size for part in some)
                progress("bytes read", done, None)
            # At a pace of its own: above, a relation is only read, which takes no time.
            for batch in Pace().pieces(relations, lambda _: 1):
                with under_way.writing() as tx:
                    self._put_relations(tx, batch, tally)
            under_way.finish()
        return tally.imported()

    def export_anthropic(self) -> Iterator[str]:
        """The lines that Anthropic's memory server would write for this graph, at one moment."""
        with self._context.reading() as tx:
            count = 0
            for entities in _pages(tx.entities.page):
                for node in tx.entities.nodes(entities):
                    yield rendered(EntityLine(node.entity.name, node.entity.type, tuple(node.texts)))
                    count += 1
            for relations in _pages(tx.relations.page):
                for relation in relations:
                    yield rendered(RelationLine(relation.source, relation.target, relation.type))
            if not count:
                yield ""

    def left_out_by_anthropic(self) -> LeftOut:
        """Memories that `export_anthropic` cannot represent."""
        with self._context.reading() as tx:
            return LeftOut(
                memories=tx.memories.count_outside_graph(),
                reflections=tx.reflections.count_found(tx.reflections.allowed()),
            )

    def export_full(self) -> Iterator[str]:
        """The whole space as lines, with versions, history and usage, at one moment."""
        with self._context.reading(whole=True) as tx:
            yield from archiving.lines(tx, self._context.caller.space)

    def import_full(self, source: Source, *, progress: Progress = unreported) -> Imported:
        """Import a full export; existing records stay unchanged.

        Every record is checked first, as a create would be; one that fails stops the import before it begins.
        History is imported too, but imported changes cannot be undone; the import itself is one act and can
        be. Records whose ids exist in another space of this database get new ones.
        """
        with temporary_file() as file:
            spool(lines_of(self._allowed(source)), file)
            self._check_records(file)
            arrival, done = self._arrival(), 0
            with whole_import(self._context) as under_way:
                for batch in Pace().pieces(enumerate(file, 1), _bytes_as_rows):
                    records = arrival.read(batch)
                    with under_way.writing() as tx:
                        arrival.take(tx, records)
                        _record_import(tx)
                    done += sum(len(line) for _, line in batch)
                    progress("bytes read", done, None)
                with under_way.writing(last=True) as tx:
                    arrival.finish(tx)
                    _record_import(tx)
        return Imported(
            entities_imported=arrival.counts["entity"],
            relations_imported=arrival.counts["relation"],
            errors=0,
            skipped=arrival.skipped,
            records=dict(arrival.counts),
            known={
                kind: count for kind, count in (arrival.totals - arrival.counts).items() if kind != "space"
            },
            format="full",
        )

    def take_back_unfinished(self) -> None:
        """Undo an import that was killed or ran out of disk, unless it is still running."""
        take_back_unfinished(self._context)

    def _opened(self, source: Source, format: str | None, uploaded: bool) -> OpenedImport:
        return open_import(source if uploaded else self._allowed(source), format, self._context.clock())

    def _allowed(self, source: Source) -> Source:
        return allowed(source, self._context.caller, self._context.import_dir)

    def _check_records(self, file: IO[bytes]) -> None:
        """Raises `Invalid` unless every record is valid: a file is imported as a whole or not at all."""
        found = archive_records.problems(enumerate(file, 1), self._context.limits, PROBLEMS_TOLD)
        file.seek(0)
        if found:
            count = f"at least {len(found)}" if len(found) == PROBLEMS_TOLD else str(len(found))
            raise Invalid(f"nothing was imported, because of {count} bad lines: {'; '.join(found)}")

    def _arrival(self) -> Arrival:
        context = self._context
        return Arrival(
            context.caller.space,
            context.limits,
            context.caller.provenance,
            quarantined="import" in context.tuning.quarantine,
        )

    def _put_entities(self, tx: Transaction, some: Sequence[Part], repeats: bool, tally: Tally) -> None:
        lines = [part.line for part in some if isinstance(part.line, EntityLine)]
        writer = GraphWriter(tx, self._context.new_id, self._context.tuning.secrets)
        known = tx.entities.named(line.name for line in lines)
        new: dict[str, str] = {}
        for line in lines:
            if line.name not in known:
                new.setdefault(line.name, line.type)
        drafts = [NewEntity(name=name, type=type) for name, type in new.items()]
        known |= {entity.name: [entity] for entity in writer.add_entities(drafts)}
        tally.new["entity"] += len(new)
        wanted = []
        for line in lines:
            entity = _meant(known[line.name], line.type)
            if entity.type == UNKNOWN_TYPE != line.type:
                entity = writer.change_entity(entity, {"type": line.type})
                known[line.name] = [entity if one.seq == entity.seq else one for one in known[line.name]]
            wanted.append((entity, line.observations))
        added = writer.observe(wanted, repeats=repeats, credit=False)
        tally.new["memory"] += sum(map(len, added))

    def _put_relations(
        self, tx: Transaction, lines: Sequence[tuple[int, RelationLine]], tally: Tally
    ) -> None:
        writer = GraphWriter(tx, self._context.new_id, self._context.tuning.secrets)
        known = tx.entities.named(name for _, line in lines for name in (line.source, line.target))
        for number, line in lines:
            missing = [name for name in (line.source, line.target) if name not in known]
            if missing:
                tally.skip(number, f"there is no entity {missing[0]!r} for this relation")
                continue
            source, target = known[line.source][0], known[line.target][0]
            tally.total["relation"] += 1
            tally.new["relation"] += writer.relate_once(source, target, line.type)


def _record_import(tx: Transaction) -> None:
    if tx.archive.has_changes:
        tx.journal.record(ArchiveImported(tx.archive.history))


def _rows(part: Part) -> float:
    """About how many rows it takes to keep a part."""
    observations = part.line.observations if isinstance(part.line, EntityLine) else ()
    return 1 + len(observations) + part.size / BYTES_AS_A_ROW


def _bytes_as_rows(numbered: tuple[int, bytes]) -> float:
    return 1 + len(numbered[1]) / BYTES_AS_A_ROW


def _meant(same_name: Sequence[Entity], type: str) -> Entity:
    return next((entity for entity in same_name if entity.type == type), same_name[0])


_Stored = TypeVar("_Stored", bound="Any")


def _pages(page: Callable[[int, int], list[_Stored]]) -> Iterator[list[_Stored]]:
    """Everything, in stored order."""
    after = 0
    while found := page(after, BATCH):
        yield found
        after = found[-1].seq
