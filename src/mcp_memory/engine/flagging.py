"""Flags observations that resemble an earlier one of their entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mcp_memory.model import EmbeddingModel, Memory, Node
from mcp_memory.storage import Transaction
from mcp_memory.text.containment import COSINE_THRESHOLD, duplicate

MOST_COMPARED = 500
"""How many of an entity's latest observations a new one is compared with."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """An observation, by its number, that resembles an earlier one of the same entity."""

    seq: int
    earlier: Memory
    entity_seq: int


def find_repeats(tx: Transaction, model: EmbeddingModel, vectors: Mapping[int, bytes]) -> list[Repeat]:
    """Those of the memories, whose vectors were just made, that repeat an earlier observation.

    This runs when vectors are made, so that writes do not wait for it. It reads whole entities, and does so
    before the write transaction, so that other writers do not wait either.
    """
    about = tx.entities.of_memories(vectors)
    entities = tx.entities.fetch({link["entity_seq"] for links in about.values() for link in links})
    return [
        repeat
        for node in tx.entities.nodes(entities.values())
        for repeat in _repeats(node, _known(tx, model, node, vectors), vectors)
    ]


def flag(tx: Transaction, repeats: Sequence[Repeat]) -> None:
    """Flag those that have not changed since they were compared."""
    if not repeats:
        return
    earlier = tx.memories.fetch(repeat.earlier.seq for repeat in repeats)
    about = tx.entities.of_memories(seq for one in repeats for seq in (one.seq, one.earlier.seq))
    links = {(memory, link["entity_seq"]) for memory, found in about.items() for link in found}
    tx.curation.flag(
        repeat.seq
        for repeat in repeats
        if _stands(earlier.get(repeat.earlier.seq), repeat.earlier)
        and {(repeat.seq, repeat.entity_seq), (repeat.earlier.seq, repeat.entity_seq)} <= links
    )


def _stands(now: Memory | None, then: Memory) -> bool:
    if now is None or now.forgotten_at is not None or now.superseded_at is not None:
        return False
    return now.content == then.content


def _known(
    tx: Transaction, model: EmbeddingModel, node: Node, fresh: Mapping[int, bytes]
) -> dict[int, bytes]:
    recent = [memory.seq for memory in node.observations[-MOST_COMPARED:]]
    return {**tx.indexes.vectors("memory", model, recent), **fresh}


def _repeats(node: Node, known: Mapping[int, bytes], fresh: Mapping[int, bytes]) -> Iterator[Repeat]:
    import numpy as np

    compared = [memory for memory in node.observations[-MOST_COMPARED:] if memory.seq in known]
    if len(compared) < 2:
        return
    matrix = np.frombuffer(b"".join(known[memory.seq] for memory in compared), "<f4").reshape(
        len(compared), -1
    )
    for place, memory in enumerate(compared):
        if memory.seq in fresh and place:
            cosines = matrix[:place] @ matrix[place]
            repeated = _repeated(memory, compared[:place], [float(cosine) for cosine in cosines])
            if repeated is not None:
                yield Repeat(memory.seq, repeated, node.entity.seq)


def _repeated(memory: Memory, earlier: Sequence[Memory], cosines: Sequence[float]) -> Memory | None:
    return next(
        (
            other
            for other, cosine in zip(earlier, cosines, strict=True)
            # A text that is linked twice to an entity does not count as its own duplicate.
            if other.seq != memory.seq
            and duplicate(memory.content, other.content, cosine, COSINE_THRESHOLD) is not None
        ),
        None,
    )
