"""Finds memories that are about no entity, for whoever searches entities and would never see them."""

from collections.abc import Sequence

from mcp_memory.engine.indexing import ByWordsOnly, Meaning
from mcp_memory.model import Memory
from mcp_memory.ranking.fusion import rrf
from mcp_memory.storage import Transaction

LOOKED_AT = 50
"""How many of the best matches by words and by meaning are looked at; most of them are about an entity."""

MOST_SHOWN = 5

NEWEST = 1000
"""If none of so many new memories is about nothing, no search is made: in a pure graph it would cost much."""


def unattached_memories(
    tx: Transaction, terms: Sequence[str], meaning: Meaning | ByWordsOnly, *, min_similarity: float
) -> tuple[Memory, ...]:
    """Those among the best matches, best first."""
    if not tx.memories.any_unattached(NEWEST):
        return ()
    current = tx.memories.current
    by_words = [seq for seq, _ in tx.indexes.matching("memory", terms, current, LOOKED_AT)]
    by_meaning: list[int] = []
    if isinstance(meaning, Meaning):
        nearest = tx.indexes.nearest("memory", meaning.model, meaning.vector, current, LOOKED_AT)
        by_meaning = [seq for seq, cosine in nearest if cosine >= min_similarity]
    found = rrf([by_meaning, by_words])
    attached = tx.entities.of_memories(found)
    wanted = [seq for seq in found if seq not in attached][:MOST_SHOWN]
    memories = tx.memories.fetch(wanted)
    return tuple(memories[seq] for seq in wanted)
