"""Archives: a whole space as lines of JSON, and their import."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from mcp_memory.engine.archive_records import checked_record, parsed_record
from mcp_memory.errors import Conflict, Invalid
from mcp_memory.model import UNKNOWN_TYPE
from mcp_memory.storage import Transaction
from mcp_memory.storage.archive import Living, content_hashes, other_id
from mcp_memory.tuning import Limits

FORMAT = 1
PROGRAM = "mcp-memory"

Record = Mapping[str, Any]


def lines(tx: Transaction, space: str) -> Iterator[str]:
    """A header, then every record, each after those it refers to."""
    yield _line(
        {"record": "space", "program": PROGRAM, "format": FORMAT, "space": space, "at": tx.at.isoformat()}
    )
    for kind, record in tx.archive.records():
        yield _line({"record": kind, **record})


def is_archive(first_line: bytes) -> bool:
    try:
        value = json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("record") == "space" and value.get("program") == PROGRAM


def parsed_records(lines: Iterable[bytes]) -> Iterator[Record]:
    """The records of an archive, without importing them."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield parsed_record(number, line)


def _line(value: Record) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass
class Arrival:
    """Imports records batch by batch, and skips those that exist already."""

    space: str
    limits: Limits = field(default_factory=Limits)
    provenance: Mapping[str, str] = field(default_factory=dict)
    """Provenance of the import: records do not bring their own."""
    quarantined: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    """How many records of each kind are new here."""
    totals: Counter[str] = field(default_factory=Counter)
    """How many records of each kind there were."""
    skipped: int = 0
    _memories: dict[str, int] = field(default_factory=dict)
    _entities: dict[str, int] = field(default_factory=dict)
    _relations: dict[str, int] = field(default_factory=dict)
    _same: dict[str, str] = field(default_factory=dict)
    """New ids by archived id, where a memory with the same content exists here."""
    _origin: str = ""
    """The space that the records are from."""
    _renamed: dict[str, str] = field(default_factory=dict)
    """New ids by archived id, where another space has that id."""
    _superseded: dict[int, str] = field(default_factory=dict)
    _seen: Counter[int] = field(default_factory=Counter)

    def read(self, numbered: Iterable[tuple[int, bytes]]) -> list[tuple[int, Record]]:
        """The records of some lines, with the number of each."""
        return [
            (number, checked_record(parsed_record(number, line), self.limits))
            for number, line in numbered
            if line.strip()
        ]

    def take(self, tx: Transaction, numbered: Sequence[tuple[int, Record]]) -> None:
        """One batch, whole or not at all."""
        for kind, group in groupby(numbered, key=lambda one: str(one[1].get("record"))):
            taker = self._takers().get(kind)
            records = list(group)
            if taker is None:
                self.skipped += len(records)
                continue
            self.totals[kind] += len(records)
            try:
                taker(tx, [record for _, record in records])
            except (KeyError, TypeError, ValueError, AttributeError, Conflict) as error:
                where = f"lines {records[0][0]} to {records[-1][0]}"
                raise Invalid(f"{where} cannot be imported ({type(error).__name__}: {error})") from error

    def finish(self, tx: Transaction) -> None:
        """Rewrite references to superseding memories that have another id here."""
        others = self._other_ids
        for seq, by in self._superseded.items():
            if by in others:
                tx.archive.change("memory", seq, superseded_by=others[by])

    def _takers(self) -> dict[str, Callable[[Transaction, Sequence[Record]], None]]:
        return {
            "space": self._space,
            "memory": self._take_memories,
            "version": self._take_versions,
            "entity": self._take_entities,
            "observation": self._take_observations,
            "relation": self._take_relations,
            "association": self._take_associations,
            "reflection": self._take_reflections,
            "access": self._take_accesses,
            "co_occurrence": self._take_co_occurrences,
            "event": self._take_events,
        }

    def _space(self, tx: Transaction, records: Sequence[Record]) -> None:
        newest = max(int(record["format"]) for record in records)
        if newest > FORMAT:
            raise Invalid(
                f"this file is of format {newest}, this mcp-memory reads {FORMAT}: update mcp-memory"
            )
        self._origin = str(records[-1]["space"])

    @property
    def _other_ids(self) -> dict[str, str]:
        """New ids, by original id, where they differ."""
        return self._renamed | self._same

    def _known(self, tx: Transaction, table: str, records: Sequence[Record]) -> dict[str, int]:
        """Numbers of the records that exist here. Assigns new ids where another space has the id."""
        others = {str(one["id"]): other_id(one["id"], self._origin, self.space) for one in records}
        here = tx.archive.seqs(table, [*others, *others.values()])
        copied = {id for id, other in others.items() if id not in here and other in here}
        taken = tx.archive.taken(table, others.keys() - here.keys() - copied)
        self._renamed |= {id: others[id] for id in copied | taken}
        return {id: here[own] for id in others if (own := self._renamed.get(id, id)) in here}

    def _add(self, tx: Transaction, table: str, record: Record, **numbers: Any) -> int:
        id = record["id"]
        return tx.archive.add(table, {**record, "id": self._renamed.get(id, id)}, **numbers)

    def _take_memories(self, tx: Transaction, records: Sequence[Record]) -> None:
        known = self._known(tx, "memory", records)
        living = tx.archive.living(hash for record in records for hash in content_hashes(record))
        for record in records:
            id, is_living = str(record["id"]), record["forgotten_at"] is None
            hash = _own_hash(record, living)
            if id in known:
                self._memories[id] = known[id]
            elif is_living and hash in living:
                self._memories[id] = living[hash].seq
                self._same[id] = living[hash].id
            else:
                self._memories[id] = self._add(tx, "memory", self._stamped(tx, record), content_hash=hash)
                self.counts["memory"] += 1
                if is_living:
                    own = self._renamed.get(id, id)
                    living[hash] = Living(self._memories[id], own, record["content"])
            if record["superseded_by"] is not None:
                self._superseded[self._memories[id]] = record["superseded_by"]

    def _stamped(self, tx: Transaction, record: Record) -> Record:
        stamped = {**record, "provenance": dict(self.provenance)}
        if self.quarantined and record["quarantined_at"] is None:
            stamped["quarantined_at"] = tx.at.isoformat()
        return stamped

    def _take_entities(self, tx: Transaction, records: Sequence[Record]) -> None:
        known = self._known(tx, "entity", records)
        named = tx.entities.named(record["name"] for record in records)
        for record in records:
            same = {entity.type: entity for entity in named.get(record["name"], ())}
            if record["id"] in known:
                self._entities[record["id"]] = known[record["id"]]
            elif record["type"] in same or (record["type"] == UNKNOWN_TYPE and same):
                self._entities[record["id"]] = (same.get(record["type"]) or next(iter(same.values()))).seq
            elif UNKNOWN_TYPE in same:
                self._entities[record["id"]] = same[UNKNOWN_TYPE].seq
                tx.archive.change("entity", same[UNKNOWN_TYPE].seq, type=record["type"])
            else:
                self._entities[record["id"]] = self._add(tx, "entity", record)
                self.counts["entity"] += 1

    def _take_versions(self, tx: Transaction, records: Sequence[Record]) -> None:
        seqs = [self._memories.get(record["memory"]) for record in records]
        columns = ("memory_seq", "number", "created_at")
        there = tx.archive.present("memory_version", "memory_seq", filter(None, seqs), columns)
        for seq, record in zip(seqs, records, strict=True):
            key = (seq, record["number"], datetime.fromisoformat(record["created_at"]))
            if seq is None:
                self.skipped += 1
            elif self._is_new("version", key, there):
                state = _renamed(record["state"], self._other_ids)
                tx.archive.add("memory_version", {**record, "state": state}, memory_seq=seq)

    def _take_observations(self, tx: Transaction, records: Sequence[Record]) -> None:
        ends = [(self._memories.get(one["memory"]), self._entities.get(one["entity"])) for one in records]
        memories = filter(None, (memory for memory, _ in ends))
        there = tx.archive.present("entity_memory", "memory_seq", memories, ("memory_seq", "entity_seq"))
        for key, record in zip(ends, records, strict=True):
            if None in key:
                self.skipped += 1
            elif self._is_new("observation", key, there):
                tx.archive.add("entity_memory", record, memory_seq=key[0], entity_seq=key[1])

    def _take_relations(self, tx: Transaction, records: Sequence[Record]) -> None:
        known = self._known(tx, "relation", records)
        ends = [(self._entities.get(one["source"]), self._entities.get(one["target"])) for one in records]
        columns = ("source_seq", "target_seq", "type")
        sources = filter(None, (source for source, _ in ends))
        active = tx.archive.present("relation", "source_seq", sources, columns, active=True)
        for (source, target), record in zip(ends, records, strict=True):
            key = (source, target, record["type"])
            if record["id"] in known:
                self._relations[record["id"]] = known[record["id"]]
            elif source is None or target is None:
                self.skipped += 1
            elif record["ended_at"] is not None or not active[key]:
                self._relations[record["id"]] = self._add(
                    tx, "relation", record, source_seq=source, target_seq=target
                )
                self.counts["relation"] += 1
                active[key] += record["ended_at"] is None

    def _take_associations(self, tx: Transaction, records: Sequence[Record]) -> None:
        known = self._known(tx, "association", records)
        ends = [(self._memories.get(one["source"]), self._memories.get(one["target"])) for one in records]
        columns = ("source_seq", "target_seq", "type")
        sources = filter(None, (source for source, _ in ends))
        there = tx.archive.present("association", "source_seq", sources, columns)
        for (source, target), record in zip(ends, records, strict=True):
            key = (source, target, record["type"])
            if source is None or target is None:
                self.skipped += 1
            elif record["id"] not in known and source != target and not there[key]:
                self._add(tx, "association", record, source_seq=source, target_seq=target)
                there[key] += 1
                self.counts["association"] += 1

    def _take_reflections(self, tx: Transaction, records: Sequence[Record]) -> None:
        known = self._known(tx, "reflection", records)
        targets = {"entity": self._entities, "relation": self._relations}
        for record in records:
            if record["id"] in known:
                continue
            places = targets.get(record["target_type"])
            target_seq = record["target_seq"] if places is None else places.get(record["target"])
            self._add(tx, "reflection", record, target_seq=target_seq)
            self.counts["reflection"] += 1

    def _take_accesses(self, tx: Transaction, records: Sequence[Record]) -> None:
        for record in records:
            if record["entity"] in self._entities:
                tx.archive.put_access(self._entities[record["entity"]], record)

    def _take_co_occurrences(self, tx: Transaction, records: Sequence[Record]) -> None:
        for record in records:
            a, b = self._entities.get(record["a"]), self._entities.get(record["b"])
            if a is not None and b is not None and a != b:
                tx.archive.put_co_occurrence(a, b, record)

    def _take_events(self, tx: Transaction, records: Sequence[Record]) -> None:
        columns = ("act", "name", "subject", "at")
        there = tx.archive.present("event", "act", [record["act"] for record in records], columns)
        new, others = [], self._other_ids
        for told in records:
            record = _renamed(told, others) if others else told
            key = (record["act"], record["name"], record["subject"], datetime.fromisoformat(record["at"]))
            if self._is_new("event", key, there):
                new.append(record)
        by = self.provenance.get("client", "")
        tx.archive.add_events({**record, "client": f"{by} (import)".strip()} for record in new)

    def _is_new(self, kind: str, key: tuple[Any, ...], there: Counter[tuple[Any, ...]]) -> bool:
        """Whether the file has this more often than the database: some records may occur twice."""
        # Hashed, because a journal of a million events is counted here.
        seen = hash((kind, *key))
        self._seen[seen] += 1
        if there[key] >= self._seen[seen]:
            return False
        there[key] += 1
        self.counts[kind] += 1
        return True


def _own_hash(record: Record, living: Mapping[bytes, Living]) -> bytes:
    """The content hash here; an observation that differs from a memory only in spacing gets the second."""
    first, *further = content_hashes(record)
    is_other = first in living and living[first].content != record["content"]
    return further[0] if further and is_other else first


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The value with new ids in place of original ones."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, dict):
        return {key: _renamed(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, names) for inner in value]
    return value
