"""Marks observations that look like one their entity has already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_memory.model import EmbeddingModel, Memory, Node
from mcp_memory.storage import Transaction
from mcp_memory.text.containment import COSINE_THRESHOLD, duplicate

MOST_COMPARED = 500
"""Observations of one entity that a new one is compared to: the latest."""


def flag_similar(tx: Transaction, model: EmbeddingModel, vectors: Mapping[int, bytes]) -> None:
    """Flag those of the memories, whose vectors were just made, that repeat an earlier observation.

    This is done when vectors are made, not when observations are written: a write need not wait for it.
    """
    about = tx.entities.of_memories(vectors)
    entities = tx.entities.fetch({link["entity_seq"] for links in about.values() for link in links})
    flagged: set[int] = set()
    for node in tx.entities.nodes(entities.values()):
        flagged |= _repeats(node, _known(tx, model, node, vectors), vectors)
    tx.tidying.flag(flagged)


def _known(
    tx: Transaction, model: EmbeddingModel, node: Node, fresh: Mapping[int, bytes]
) -> dict[int, bytes]:
    recent = [memory.seq for memory in node.observations[-MOST_COMPARED:]]
    return {**tx.indexes.vectors("memory", model, recent), **fresh}


def _repeats(node: Node, known: Mapping[int, bytes], fresh: Mapping[int, bytes]) -> set[int]:
    import numpy as np

    compared = [memory for memory in node.observations[-MOST_COMPARED:] if memory.seq in known]
    if len(compared) < 2:
        return set()
    matrix = np.frombuffer(b"".join(known[memory.seq] for memory in compared), "<f4").reshape(
        len(compared), -1
    )
    repeats = set()
    for place, memory in enumerate(compared):
        if memory.seq in fresh and place:
            cosines = matrix[:place] @ matrix[place]
            if _is_repeat(memory, compared[:place], [float(cosine) for cosine in cosines]):
                repeats.add(memory.seq)
    return repeats


def _is_repeat(memory: Memory, earlier: Sequence[Memory], cosines: Sequence[float]) -> bool:
    return any(
        duplicate(memory.content, other.content, cosine, COSINE_THRESHOLD) is not None
        for other, cosine in zip(earlier, cosines, strict=True)
    )
