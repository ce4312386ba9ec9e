"""Implicit feedback: acts soon after a search show which results were wanted.

Each of these costs one look at the client's recent searches, and writes nothing when there were none.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from mcp_memory.model import Entity
from mcp_memory.storage import Transaction
from mcp_memory.text.words import folded

SHORTEST_NAME = 3
"""Characters; shorter names stand in too many texts by chance."""


def opened(tx: Transaction, seqs: Sequence[int]) -> None:
    """These entities were asked for by name."""
    tx.search_log.credit(seqs, "opened")


def extended(tx: Transaction, entity: Entity, texts: Sequence[str] = ()) -> None:
    """Something was added to what is known of an entity."""
    tx.search_log.credit([entity.seq], "extended")
    cited(tx, texts, besides={entity.seq})


def related(tx: Transaction, entities: Iterable[Entity]) -> None:
    """These entities were connected."""
    tx.search_log.credit((entity.seq for entity in entities), "related")


def cited(tx: Transaction, texts: Sequence[str], besides: Collection[int] = ()) -> None:
    """Texts were written, which may name entities that a search had shown."""
    shown = tx.search_log.lately_shown()
    if not shown or not texts:
        return
    written = folded("\n".join(texts))
    named = (seq for seq, name in shown.items() if seq not in besides and _names(written, name))
    tx.search_log.credit(named, "cited")


def _names(written: str, name: str) -> bool:
    needle = folded(name)
    if len(needle) < SHORTEST_NAME or needle not in written:
        return False
    return re.search(rf"(?<!\w){re.escape(needle)}(?!\w)", written) is not None
