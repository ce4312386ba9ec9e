"""Preview of an import."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any

from mcp_memory.engine.import_source import OpenedImport
from mcp_memory.fields import Help
from mcp_memory.storage import Transaction
from mcp_memory.storage.archive import content_hashes
from mcp_memory.text.graph_lines import EntityLine, RelationLine

SHOWN = 5
_BATCH = 500
_COUNTED = ("memory", "entity", "relation", "association", "reflection")

Record = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    format: str
    title: Annotated[str, Help("The format in words.")]
    total: Annotated[Mapping[str, int], Help("How many of each kind there are.")]
    known: Annotated[Mapping[str, int], Help("How many memories and entities are here already.")]
    examples: Annotated[tuple[str, ...], Help("The first few memories.")]
    problems: tuple[str, ...] = ()


def previewed(
    tx: Transaction, opened: OpenedImport, records: Iterator[Record], problems: tuple[str, ...] = ()
) -> Preview:
    total: Counter[str] = Counter()
    known: Counter[str] = Counter()
    examples: list[str] = []
    while batch := list(islice(records, _BATCH)):
        total.update(str(record.get("record")) for record in batch)
        memories = [record for record in batch if record.get("record") == "memory" and _has_content(record)]
        examples += [record["content"] for record in memories[: SHOWN - len(examples)]]
        known["memory"] += _known_memories(tx, memories)
        known["entity"] += _known_entities(tx, [one for one in batch if one.get("record") == "entity"])
    return Preview(
        format=opened.format,
        title=opened.title,
        total={kind: total[kind] for kind in _COUNTED if total[kind]},
        known=dict(+known),
        examples=tuple(examples),
        problems=problems,
    )


def records_of_lines(lines: Iterable[EntityLine | RelationLine]) -> Iterator[Record]:
    """Lines of Anthropic's memory server, as far as a preview looks at them."""
    for line in lines:
        if isinstance(line, RelationLine):
            yield {"record": "relation"}
            continue
        yield {"record": "entity", "name": line.name, "type": line.type}
        for text in line.observations:
            yield {"record": "memory", "content": text, "origin": "observation"}


def _has_content(record: Record) -> bool:
    return isinstance(record.get("content"), str) and "origin" in record


def _known_memories(tx: Transaction, records: list[Record]) -> int:
    hashes = [content_hashes(record) for record in records]
    living = tx.archive.living(hash for some in hashes for hash in some)
    return sum(any(hash in living for hash in some) for some in hashes)


def _known_entities(tx: Transaction, records: list[Record]) -> int:
    named = tx.entities.named(str(record.get("name")) for record in records)
    return sum(bool(named.get(str(record.get("name")))) for record in records)
