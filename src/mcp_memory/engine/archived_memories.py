"""Archived memories: faded ones that are listed and searched only on request."""

from dataclasses import replace
from datetime import timedelta

from mcp_memory.model import Filter, Memory
from mcp_memory.storage import Transaction
from mcp_memory.text.words import query_terms, tokens

PAGE = 500
MOST_READ = 20_000
"""How many archived memories a search scans, newest first: they are not indexed."""


def archived(filter: Filter) -> Filter:
    """The same filter, restricted to archived memories."""
    return replace(filter, forgotten=True, archived=True, min_confidence=None)


def search_archived(
    tx: Transaction, query: str, filter: Filter, *, limit: int, half_life: timedelta
) -> list[tuple[Memory, float]]:
    """Archived memories that hold words of the query, with the share of its words they hold, best first."""
    terms = set(query_terms(query))
    shares: dict[int, float] = {}
    for seq, text in tx.memories.archived_texts(MOST_READ, PAGE):
        held = len(terms.intersection(tokens(text))) / max(1, len(terms))
        if held:
            shares[seq] = held
    best = sorted(shares, key=lambda seq: (-shares[seq], -seq))
    allowed = tx.memories.ranking_facts(best[: limit * 5], archived(filter), half_life=half_life)
    found = tx.memories.fetch([seq for seq in best if seq in allowed][:limit])
    return [(memory, shares[seq]) for seq, memory in found.items()]
