"""Finds matching memories that are about no entity, which a search for entities would miss."""

from mcp_memory.engine.candidates import gather
from mcp_memory.engine.pipeline import Question
from mcp_memory.model import Memory
from mcp_memory.ranking.fusion import rrf
from mcp_memory.storage import Transaction

LOOKED_AT = 50
"""Matches by words and by meaning that are considered; most of them are about an entity."""

MOST_SHOWN = 5

NEWEST = 1000
"""If the newest memories are all about entities, the search is skipped: it would rarely find anything."""


def any_orphans(tx: Transaction) -> bool:
    """Whether to look for them."""
    return tx.memories.any_orphan(NEWEST)


def orphan_memories(tx: Transaction, question: Question, *, min_similarity: float) -> tuple[Memory, ...]:
    """Orphans among the best matches, best first."""
    candidates = gather(tx, "memory", question, tx.memories.current, LOOKED_AT)
    near = [seq for seq, cosine in candidates.nearest.items() if cosine >= min_similarity]
    found = rrf([near, list(candidates.words)])
    attached = tx.entities.seqs_of_memories(found)
    wanted = [seq for seq in found if seq not in attached][:MOST_SHOWN]
    memories = tx.memories.fetch(wanted)
    return tuple(memories[seq] for seq in wanted)
