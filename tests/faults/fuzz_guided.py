"""Fuzzes imports guided by coverage: `python -m tests.faults.fuzz_guided SECONDS`, with atheris installed."""

from __future__ import annotations

import sys
from typing import Any

import atheris

with atheris.instrument_imports(include=["mcp_memory"]):
    from mcp_memory.engine import archive_records, archiving, import_source, transfer
    from mcp_memory.engine.importers import chatgpt, claude, markdown, mem0, records, sample

from tests.faults.fuzz import FORMATS, Guarded, beginnings, guarded

INSTRUMENTED = (
    archive_records,
    archiving,
    import_source,
    transfer,
    chatgpt,
    claude,
    markdown,
    mem0,
    records,
    sample,
)
SUFFIXES = (".jsonl", ".json", ".md", ".txt")


def one_input(here: Guarded, data: bytes) -> None:
    """The first two bytes choose format and file name."""
    if len(data) >= 2:
        format = FORMATS[data[0] % len(FORMATS)]
        here.import_file(data[2:], format, SUFFIXES[data[1] % len(SUFFIXES)])


def main(seconds: int) -> None:
    with guarded() as here:
        corpus = here.folder / "corpus"
        corpus.mkdir()
        for number, (data, format, suffix) in enumerate(beginnings(here)):
            choice = bytes([FORMATS.index(format), SUFFIXES.index(suffix)])
            (corpus / str(number)).write_bytes(choice + data)
        arguments: list[Any] = [
            sys.argv[0],
            f"-max_total_time={seconds}",
            "-timeout=60",
            "-rss_limit_mb=4096",
            str(corpus),
        ]
        atheris.Setup(arguments, lambda data: one_input(here, data))
        atheris.Fuzz()


if __name__ == "__main__":
    main(int(sys.argv[1]))
