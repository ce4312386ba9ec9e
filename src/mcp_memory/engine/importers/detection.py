"""Detection of a file's format."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from mcp_memory.engine.archiving import FORMAT, PROGRAM
from mcp_memory.engine.importers import chatgpt, claude, graph_database, markdown, mem0
from mcp_memory.engine.importers.records import Record
from mcp_memory.engine.importers.sample import Sample


@dataclass(frozen=True, slots=True)
class Importer:
    """A foreign format: how it is detected, and how its records are read."""

    name: str
    title: str
    recognises: Callable[[Sample], bool]
    records: Callable[[Sample], Iterator[Record]]


FOREIGN = (
    Importer(
        "sqlite", "a database of the MCP Memory v2 server", graph_database.recognises, graph_database.records
    ),
    Importer("claude", "the memories of a Claude data export", claude.recognises, claude.records),
    Importer("chatgpt", "the memories in a ChatGPT data export", chatgpt.recognises, chatgpt.records),
    Importer("mem0", "memories of mem0", mem0.recognises, mem0.records),
    Importer("markdown", "Markdown notes", markdown.recognises, markdown.records),
)
"""Tried in this order: the folder of an export may hold Markdown files too."""


def named(name: str | None) -> Importer | None:
    return next((importer for importer in FOREIGN if importer.name == name), None)


def archive_lines(importer: Importer, path: Path, now: datetime) -> Iterator[bytes]:
    """The imported records, as lines of a full export.

    Importing counts as use: memories from years ago must not have faded on the day they arrive.
    """
    yield _line({"record": "space", "program": PROGRAM, "format": FORMAT, "space": importer.name})
    for record in importer.records(Sample(path)):
        yield _line({**record, "accessed_at": now.isoformat()} if record["record"] == "memory" else record)


def _line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def detect(path: Path) -> Importer | None:
    """The importer for a file or folder; None for lines of JSON, which name their own format."""
    if not (path.is_file() or path.is_dir()):
        return None
    sample = Sample(path)
    if sample.is_lines:
        return None
    return next((importer for importer in FOREIGN if importer.recognises(sample)), None)
