"""The SQLite file of the MCP Memory v2 server, whose tools the graph tool set has."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from mcp_memory.engine.importers.records import (
    Record,
    entity,
    memory,
    moment,
    observation,
    relation,
    stable_id,
    storable,
)
from mcp_memory.engine.importers.sample import Sample
from mcp_memory.model import ACTIVE, GENERIC_KIND
from mcp_memory.storage.sqlite.foreign_file import MAGIC, table_names, table_rows

SOURCE = "mcp-memory v2"
DEFAULT_PLACE = Path("~/.config/opencode/mcp-memory/memory.db")
"""The default location of that server's file."""

_TABLES = frozenset({"entities", "observations", "relations"})
_STATUSES = {"activo": ACTIVE}

Row = Mapping[str, Any]


def recognises(sample: Sample) -> bool:
    return sample.head.startswith(MAGIC) and table_names(sample.path) >= _TABLES


def records(sample: Sample) -> Iterator[Record]:
    return _File(sample).records()


class _File:
    """Older files lack some tables and columns; these get their defaults."""

    def __init__(self, sample: Sample) -> None:
        self._path = sample.path
        self._tables = table_names(sample.path)
        self._changed_at = sample.changed_at
        self._entities = {row["id"]: self._entity(row) for row in self._rows("entities")}
        self._relations: dict[int, Record] = {}

    def records(self) -> Iterator[Record]:
        """Memories first, then what refers to them."""
        observed = list(self._rows("observations"))
        memories = {row["id"]: self._memory(row) for row in observed}
        for row in observed:
            if row.get("supersedes") in memories:
                memories[row["supersedes"]]["superseded_by"] = memories[row["id"]]["id"]
        yield from memories.values()
        yield from self._entities.values()
        for row in observed:
            if row["entity_id"] in self._entities:
                yield observation(self._entities[row["entity_id"]], memories[row["id"]])
        yield from self._read_relations()
        for row in self._rows("reflections"):
            yield self._reflection(row)
        yield from self._usage()

    def _entity(self, row: Row) -> Record:
        at = self._moment(row, "created_at")
        status = row.get("status") or ACTIVE
        return {
            **entity(row["name"], at=at, type=row.get("entity_type") or "Generic"),
            "status": _STATUSES.get(status, status),
            "updated_at": moment(row.get("updated_at"), at).isoformat(),
        }

    def _memory(self, row: Row) -> Record:
        at = self._moment(row, "created_at")
        superseded = row.get("superseded_at")
        return {
            **memory(row["content"], at=at, source=SOURCE, of_an_entity=True),
            "kind": row.get("kind") or GENERIC_KIND,
            "flagged_at": at.isoformat() if row.get("similarity_flag") else None,
            "superseded_at": moment(superseded, at).isoformat() if superseded else None,
        }

    def _read_relations(self) -> Iterator[Record]:
        for row in self._rows("relations"):
            source, target = (self._entities.get(row[end]) for end in ("from_entity", "to_entity"))
            if source is None or target is None:
                continue
            at = self._moment(row, "created_at")
            over = moment(row.get("ended_at"), at) if row.get("active", 1) == 0 else None
            made = {
                **relation(source, target, storable(row["relation_type"])),
                "strength": 0.5,
                "context": row.get("context"),
                "created_at": at.isoformat(),
                "updated_at": at.isoformat(),
                "ended_at": over.isoformat() if over else None,
            }
            self._relations[row["id"]] = made
            yield made

    def _reflection(self, row: Row) -> Record:
        at, type = self._moment(row, "created_at"), row["target_type"]
        targets = {"entity": self._entities, "relation": self._relations}.get(type, {})
        content = storable(row["content"])
        return {
            "record": "reflection",
            "id": stable_id(at, "reflection", type, content),
            "target_type": type,
            "target": targets[row["target_id"]]["id"] if row["target_id"] in targets else None,
            "target_seq": None,
            "author": row["author"],
            "content": content,
            "mood": row["mood"],
            "created_at": at.isoformat(),
        }

    def _usage(self) -> Iterator[Record]:
        days: dict[int, dict[str, int]] = {}
        for row in self._rows("entity_access_log"):
            days.setdefault(row["entity_id"], {})[row["access_date"]] = row["access_count"]
        for row in self._rows("entity_access"):
            if row["entity_id"] in self._entities:
                yield {
                    "record": "access",
                    "entity": self._entities[row["entity_id"]]["id"],
                    "access_count": row["access_count"],
                    "last_at": self._moment(row, "last_access").isoformat(),
                    "days": days.get(row["entity_id"], {}),
                }
        for row in self._rows("co_occurrences"):
            a, b = (self._entities.get(row[end]) for end in ("entity_a_id", "entity_b_id"))
            if a is not None and b is not None:
                last_at = self._moment(row, "last_co").isoformat()
                yield {
                    "record": "co_occurrence", "a": a["id"], "b": b["id"], "count": row["co_count"],
                    "last_at": last_at,
                }  # fmt: skip

    def _rows(self, table: str) -> Iterator[Row]:
        return table_rows(self._path, table) if table in self._tables else iter(())

    def _moment(self, row: Row, column: str) -> datetime:
        return moment(row.get(column), self._changed_at)
