"""Implicit feedback: actions soon after a search show which results were wanted.

Each signal costs one read of the client's recent searches, and writes nothing if there were none.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from mcp_memory.model import Entity
from mcp_memory.storage import Transaction
from mcp_memory.text.words import folded

SHORTEST_NAME = 3
"""In characters; shorter names occur in too many texts by chance."""


def opened(tx: Transaction, seqs: Sequence[int]) -> None:
    """These entities were asked for by name."""
    tx.search_log.credit(seqs, "opened")


def extended(tx: Transaction, entity: Entity, texts: Sequence[str] = ()) -> None:
    """Observations were added to an entity."""
    if not tx.search_log.lately_shown():
        return
    tx.search_log.credit([entity.seq], "extended")
    cited(tx, texts, besides={entity.seq})


def related(tx: Transaction, entities: Iterable[Entity]) -> None:
    """These entities were connected."""
    tx.search_log.credit((entity.seq for entity in entities), "related")


def cited(tx: Transaction, texts: Sequence[str], besides: Collection[int] = ()) -> None:
    """Texts were written that may name entities from earlier search results."""
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
