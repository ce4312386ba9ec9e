"""Brings memories in from files, and takes them out again."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, Any, Literal, TypeVar

from mcp_memory.engine import archive_records, archiving
from mcp_memory.engine.archiving import Arrival
from mcp_memory.engine.context import Topic, storable
from mcp_memory.engine.graph_writer import GraphWriter
from mcp_memory.engine.import_preview import Preview, previewed, records_of_lines
from mcp_memory.engine.import_source import Source, allowed, lines_of, open_import
from mcp_memory.engine.spooling import spooled
from mcp_memory.errors import Invalid
from mcp_memory.events import ArchiveImported
from mcp_memory.model import GENERIC_TYPE, UNKNOWN_TYPE, Entity, Progress, unreported
from mcp_memory.storage import Transaction
from mcp_memory.text.graph_lines import EntityLine, RelationLine, rendered

BATCH = 500
"""Lines between two commits: what was committed stays, and a second run goes over it without harm."""

PROBLEMS_TOLD = 20

Format = Literal["anthropic", "full"]
"""What we write."""

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    entities_imported: int
    """Entities that were read, new or known before."""
    relations_imported: int
    """Only the new ones."""
    errors: int
    """Lines that cannot be read."""
    skipped: int
    """Lines that can be read, but say nothing that could be kept."""
    problems: tuple[str, ...] = ()
    """What was wrong with the first of them."""
    records: Mapping[str, int] = field(default_factory=dict)
    """How many of each kind are new."""
    known: Mapping[str, int] = field(default_factory=dict)
    """How many of each kind were here already."""
    format: str = "anthropic"

    @property
    def is_empty(self) -> bool:
        """Nothing in the file could be used, not even as known."""
        return not self.records and not self.known


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """How much an export does not hold."""

    memories: int
    """Memories that are about no entity, or superseded."""
    reflections: int


@dataclass(slots=True)
class _Tally:
    new: Counter[str] = field(default_factory=Counter)
    total: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    skipped: int = 0
    problems: list[str] = field(default_factory=list)

    def error(self, number: int, why: str) -> None:
        """A line that could not be read; it is skipped, too."""
        self.errors += 1
        self.skip(number, why)

    def skip(self, number: int, why: str) -> None:
        self.skipped += 1
        self._tell(number, why)

    def _tell(self, number: int, why: str) -> None:
        if len(self.problems) < PROBLEMS_TOLD:
            self.problems.append(f"line {number}: {why}")

    def imported(self) -> Imported:
        return Imported(
            entities_imported=self.total["entity"],
            relations_imported=self.new["relation"],
            errors=self.errors,
            skipped=self.skipped,
            problems=tuple(self.problems),
            records=dict(+self.new),
            known=dict(self.total - self.new),
        )


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

        `uploaded`: the path is that of a file which the caller sent, not one that the caller named.
        """
        opened = open_import(source if uploaded else self._allowed(source), format, self._context.clock())
        if opened.is_archive:
            done = self.import_full(opened.lines, progress=progress)
            return replace(done, format=opened.format)
        return self.import_anthropic(opened.lines, repeats=True, progress=progress)

    def preview(self, source: Source, format: str | None = None, *, uploaded: bool = False) -> Preview:
        """Preview of `import_from`. Changes nothing."""
        opened = open_import(source if uploaded else self._allowed(source), format, self._context.clock())
        tally = _Tally()
        if opened.is_archive:
            records = archiving.parsed_records(opened.lines)
        else:
            lines = (_read(number, line, tally) for number, line in enumerate(opened.lines, 1))
            records = records_of_lines(filter(None, lines))
        with self._context.reading() as tx:
            return previewed(tx, opened, records, tuple(tally.problems))

    def import_anthropic(
        self, source: Source, *, repeats: bool = False, progress: Progress = unreported
    ) -> Imported:
        """Add what a file of Anthropic's memory server says to what is known. Nothing known is changed.

        Relations come after all entities, so that the order of lines does not matter. All of it is one
        act, that can be undone at once. With `repeats`, an observation that stands twice is kept twice.
        """
        act, tally, done = self._context.new_id(), _Tally(), 0
        relations: list[tuple[int, RelationLine]] = []
        for batch in _batches(enumerate(lines_of(self._allowed(source)), 1)):
            read = [(number, _read(number, line, tally)) for number, line in batch]
            entities = [line for _, line in read if isinstance(line, EntityLine)]
            self._put_entities(act, entities, repeats, tally)
            relations += [(number, line) for number, line in read if isinstance(line, RelationLine)]
            done += sum(len(line) for _, line in batch)
            progress("bytes read", done, None)
        for some in _batches(relations):
            self._put_relations(act, some, tally)
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
        """The lines of everything there is in the space, with versions, history and use, at one moment."""
        with self._context.reading(whole=True) as tx:
            yield from archiving.lines(tx, self._context.caller.space)

    def import_full(self, source: Source, *, progress: Progress = unreported) -> Imported:
        """Add a full export to what is known; what is here already stays as it is.

        Every record is checked first, as a create would be; one that fails stops the import before it begins.
        History comes along, but only what happens from here on can be undone. The import itself is one
        act, that can be. Where another space of this database has the ids already, things get others.
        """
        with spooled(lines_of(self._allowed(source))) as file:
            self._check_records(file)
            act, arrival, done = self._context.new_id(), self._arrival(), 0
            for batch in _batches(enumerate(file, 1)):
                with self._writing(act) as tx:
                    arrival.take(tx, batch)
                    _record_import(tx)
                done += sum(len(line) for _, line in batch)
                progress("bytes read", done, None)
        with self._writing(act) as tx:
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

    def _allowed(self, source: Source) -> Source:
        return allowed(source, self._context.caller, self._context.import_dir)

    def _check_records(self, file: IO[bytes]) -> None:
        """Raises `Invalid` unless every record can be kept: a file is taken in whole or not at all."""
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

    def _writing(self, act: str) -> AbstractContextManager[Transaction]:
        return self._context.store.write(self._context.caller, self._context.clock(), act)

    def _put_entities(self, act: str, lines: Sequence[EntityLine], repeats: bool, tally: _Tally) -> None:
        if not lines:
            return
        tally.total["entity"] += len(lines)
        tally.total["memory"] += sum(len(line.observations) for line in lines)
        with self._writing(act) as tx:
            writer = GraphWriter(tx, self._context.new_id, self._context.tuning.secrets)
            known = tx.entities.named(line.name for line in lines)
            wanted = []
            for line in lines:
                same_name = known.setdefault(line.name, [])
                entity = _meant(same_name, line.type)
                if entity is None:
                    entity = writer.add_entity(line.name, line.type)
                    same_name.append(entity)
                    tally.new["entity"] += 1
                elif entity.type == UNKNOWN_TYPE != line.type:
                    entity = writer.change_entity(entity, {"type": line.type})
                    known[line.name] = [entity if one.seq == entity.seq else one for one in same_name]
                wanted.append((entity, line.observations))
            added = writer.observe(wanted, repeats=repeats, credit=False)
            tally.new["memory"] += sum(map(len, added))

    def _put_relations(self, act: str, lines: Sequence[tuple[int, RelationLine]], tally: _Tally) -> None:
        with self._writing(act) as tx:
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
        tx.journal.record(ArchiveImported())


def _read(number: int, line: bytes, tally: _Tally) -> EntityLine | RelationLine | None:
    """The entity or relation in a line; a reason for skipping it goes to the tally."""
    if not line.strip():
        return None
    try:
        value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (ValueError, RecursionError):
        tally.error(number, "this is not JSON")
        return None
    if not isinstance(value, dict):
        tally.error(number, "this is JSON, but not an object")
        return None
    try:
        return _LINES[value["type"]](value)
    except Invalid as error:
        tally.skip(number, str(error))
    except (KeyError, TypeError):
        tally.skip(number, f"type {value.get('type')!r} is neither entity nor relation")
    return None


def _entity(value: dict[str, Any]) -> EntityLine:
    observations = value.get("observations") or []
    if not isinstance(observations, list):
        raise Invalid("observations is not a list")
    texts = tuple(_text(text, "an observation") for text in observations)
    return EntityLine(
        _text(value.get("name"), "name"), _text(value.get("entityType") or GENERIC_TYPE, "entityType"), texts
    )


def _relation(value: dict[str, Any]) -> RelationLine:
    return RelationLine(*(_text(value.get(key), key) for key in ("from", "to", "relationType")))


_LINES: dict[str, Callable[[dict[str, Any]], EntityLine | RelationLine]] = {
    "entity": _entity,
    "relation": _relation,
}


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{what} is missing or not text")
    return storable(value, what)


def _meant(same_name: Sequence[Entity], type: str) -> Entity | None:
    exact = next((entity for entity in same_name if entity.type == type), None)
    return exact or (same_name[0] if same_name else None)


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    rest = iter(items)
    while batch := list(islice(rest, BATCH)):
        yield batch


_Stored = TypeVar("_Stored", bound="Any")


def _pages(page: Callable[[int, int], list[_Stored]]) -> Iterator[list[_Stored]]:
    """All there is, in stored order."""
    after = 0
    while found := page(after, BATCH):
        yield found
        after = found[-1].seq
