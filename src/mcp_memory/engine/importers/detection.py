"""Which importer reads a file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mcp_memory.engine.importers import chatgpt, claude, markdown, mem0
from mcp_memory.engine.importers.records import Record
from mcp_memory.engine.importers.sample import Sample


@dataclass(frozen=True, slots=True)
class Importer:
    """A foreign format: how it is recognised, and the records it holds."""

    name: str
    title: str
    recognises: Callable[[Sample], bool]
    records: Callable[[Sample], Iterator[Record]]


FOREIGN = (
    Importer("claude", "the memories of a Claude data export", claude.recognises, claude.records),
    Importer("chatgpt", "the memories in a ChatGPT data export", chatgpt.recognises, chatgpt.records),
    Importer("mem0", "memories of mem0", mem0.recognises, mem0.records),
    Importer("markdown", "Markdown notes", markdown.recognises, markdown.records),
)
"""Asked in this order: a folder of an export may hold Markdown files too."""


def detect(path: Path) -> Importer | None:
    """The importer for the file or folder; None for lines of JSON, which say themselves what they are."""
    sample = Sample(path)
    if sample.is_lines:
        return None
    return next((importer for importer in FOREIGN if importer.recognises(sample)), None)
