"""Searches as of a moment, on today's indexes."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mcp_memory.model import (
    EmbeddingModel,
    Owner,
)
from mcp_memory.storage.as_of.past_memories import PastAllowed, PastMemories
from mcp_memory.storage.as_of.past_rows import PastRows
from mcp_memory.storage.database import Allowed
from mcp_memory.storage.indexes import Indexes
from mcp_memory.storage.scope import Scope
from mcp_memory.storage.vector_codes import cosines_with
from mcp_memory.text.words import tokens

Embed = Callable[[Sequence[str]], Sequence[bytes]]
"""Vectors of texts; none when there is no model."""

MOST_EMBEDDED = 32
"""Texts of changed memories that one search embeds, the best matching first."""


class PastIndexes(Indexes):
    """Today's indexes, but memories that have changed since are found by the words they had."""

    def __init__(self, scope: Scope, past: PastRows, memories: PastMemories, embed: Embed) -> None:
        super().__init__(scope)
        self._past = past
        self._memories = memories
        self._embed = embed

    def matching(
        self, owner: Owner, terms: Sequence[str], allowed: Allowed, limit: int
    ) -> list[tuple[int, float]]:
        found = self._unchanged(owner, super().matching(owner, terms, allowed, limit))
        if owner == "memory" and terms:
            best = max((score for _, score in found), default=1.0)
            found += [(seq, share * best) for seq, share in self._shares(set(terms)).items()]
        return sorted(_admitted(found, allowed), key=lambda item: -item[1])[:limit]

    def nearest(
        self, owner: Owner, model: EmbeddingModel, vector: bytes, allowed: Allowed, limit: int
    ) -> list[tuple[int, float]]:
        found = self._unchanged(owner, super().nearest(owner, model, vector, allowed, limit))
        return _admitted(found, allowed)

    def nearest_at_hand(
        self, owner: Owner, model: EmbeddingModel, vector: bytes, limit: int
    ) -> list[tuple[int, float]] | None:
        return None  # they are today's

    def vectors(self, owner: Owner, model: EmbeddingModel, seqs: Iterable[int]) -> dict[int, bytes]:
        wanted = list(seqs)
        found = dict(self._unchanged(owner, super().vectors(owner, model, wanted).items()))
        if owner == "memory":
            changed = self._memories.fetch(seq for seq in wanted if seq in self._past.touched("memory"))
            texts = [memory.content for memory in list(changed.values())[:MOST_EMBEDDED]]
            found |= dict(zip(changed, self._embed(texts), strict=False))
        return found

    def cosines(
        self, owner: Owner, model: EmbeddingModel, vector: bytes, seqs: Iterable[int]
    ) -> dict[int, float]:
        return cosines_with(self.vectors(owner, model, seqs), vector)

    def _unchanged(self, owner: Owner, found: Iterable[tuple[int, Any]]) -> list[tuple[int, Any]]:
        touched = self._past.touched("memory") if owner == "memory" else {}
        return [(seq, value) for seq, value in found if seq not in touched]

    def _shares(self, terms: set[str]) -> dict[int, float]:
        """For memories changed since: the share of the terms in their former words."""
        memories = self._memories.fetch(self._past.touched("memory"))
        shares = {
            seq: len(terms & set(tokens(f"{memory.content} {' '.join(memory.tags)} {memory.context or ''}")))
            / len(terms)
            for seq, memory in memories.items()
        }
        return {seq: share for seq, share in shares.items() if share}


def _admitted(found: Sequence[tuple[int, float]], allowed: Allowed) -> list[tuple[int, float]]:
    if not isinstance(allowed, PastAllowed):
        return list(found)
    admitted = set(allowed.admitted([seq for seq, _ in found]))
    return [(seq, score) for seq, score in found if seq in admitted]
