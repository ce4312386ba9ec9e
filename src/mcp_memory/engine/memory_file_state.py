"""The state that the store and a memory file last agreed on, and changes that the file lacks."""

import json
from dataclasses import dataclass

from mcp_memory.engine.memory_file import MemoryFile
from mcp_memory.storage import Transaction
from mcp_memory.text.graph_lines import RelationLine

AGREED = "memory_file"
"""Setting key: the file's content when it and the store last agreed."""

BEHIND = "memory_file_behind"
"""Setting key: the store has changes that are not in the file yet."""


def agreed_text(tx: Transaction, file: MemoryFile) -> str:
    text: str = json.loads(tx.settings.get(_key(file), {"text": '""'})["text"])
    return text


def agree(tx: Transaction, file: MemoryFile, text: str) -> None:
    # JSON within JSON: bytes that are not text fit into neither database otherwise.
    tx.settings.put(_key(file), {"text": json.dumps(text)})


@dataclass(frozen=True, slots=True)
class Behind:
    """Marks that the file lacks changes of the store."""

    by: str
    """A new value with each change."""
    dropped: tuple[RelationLine, ...]
    """Relations with a missing end: only the file has them, and they are to be removed from it."""


def noted_behind(tx: Transaction, file: MemoryFile) -> Behind | None:
    found = tx.settings.get(_key(file, BEHIND))
    return Behind(found["by"], tuple(RelationLine(*ends) for ends in found["dropped"])) if found else None


def fall_behind(tx: Transaction, file: MemoryFile, behind: Behind) -> None:
    dropped = [[line.source, line.target, line.type] for line in behind.dropped]
    tx.settings.put(_key(file, BEHIND), {"by": behind.by, "dropped": dropped})


def catch_up(tx: Transaction, file: MemoryFile) -> None:
    tx.settings.put(_key(file, BEHIND), None)


def _key(file: MemoryFile, kind: str = AGREED) -> str:
    return f"{kind}:{file.path.resolve()}"
