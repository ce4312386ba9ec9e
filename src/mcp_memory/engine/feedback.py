"""Implicit feedback: actions soon after a search show which results were wanted.

All signals of a transaction cost one read of the client's recent searches, and write nothing if there were
none.
"""

import re
from collections.abc import Iterable, Sequence

from mcp_memory.model import Entity
from mcp_memory.storage import Transaction
from mcp_memory.text.words import folded

SHORTEST_NAME = 3
"""In characters; shorter names occur in too many texts by chance."""


def opened(tx: Transaction, seqs: Sequence[int]) -> None:
    """These entities were asked for by name."""
    tx.search_log.credit(seqs, "opened")


def extended(tx: Transaction, added: Sequence[tuple[Entity, Sequence[str]]]) -> None:
    """Observations were added to entities. An entity that only its own texts name is not cited."""
    tx.search_log.credit((entity.seq for entity, _ in added), "extended")
    for seq, name in _named(tx, [text for _, texts in added for text in texts]).items():
        others = [text for entity, texts in added if entity.seq != seq for text in texts]
        if _names(folded("\n".join(others)), name):
            tx.search_log.credit([seq], "cited")


def related(tx: Transaction, entities: Iterable[Entity]) -> None:
    """These entities were connected."""
    tx.search_log.credit((entity.seq for entity in entities), "related")


def named(tx: Transaction, text: str) -> list[int]:
    """The entities from earlier search results that a text names, for `cited` once it has been written."""
    return list(_named(tx, [text]))


def cited(tx: Transaction, seqs: Sequence[int]) -> None:
    """A text was written that names these entities."""
    if seqs:
        tx.search_log.credit(seqs, "cited")


def _named(tx: Transaction, texts: Sequence[str]) -> dict[int, str]:
    shown = tx.search_log.names_lately_shown() if texts else {}
    written = folded("\n".join(texts)) if shown else ""
    return {seq: name for seq, name in shown.items() if _names(written, name)}


def _names(written: str, name: str) -> bool:
    needle = folded(name)
    if len(needle) < SHORTEST_NAME or needle not in written:
        return False
    return re.search(rf"(?<!\w){re.escape(needle)}(?!\w)", written) is not None
