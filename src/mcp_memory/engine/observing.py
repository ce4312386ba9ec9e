"""How a text becomes, or joins, a memory that is about an entity."""

from collections.abc import Callable, Sequence

from mcp_memory.engine import feedback
from mcp_memory.model import DEFAULT_IMPORTANCE, GENERIC_KIND, UNKNOWN_TYPE, Entity, Memory
from mcp_memory.storage import Transaction

NewId = Callable[[], str]


def observe(
    tx: Transaction,
    entity: Entity,
    texts: Sequence[str],
    new_id: NewId,
    *,
    kind: str = GENERIC_KIND,
    flagged: frozenset[str] = frozenset(),
    repeats: bool = False,
) -> list[Memory]:
    """Link texts to an entity, each stored once whatever it is about. Returns those that were added.

    A text that the entity has already is passed over; with `repeats`, one given twice is linked twice.
    """
    known = tx.memories.exactly(texts)
    links = link_texts(tx, entity, texts, known, new_id, kind=kind, flagged=flagged, repeats=repeats)
    if links:
        feedback.extended(tx, entity, [memory.content for memory in links])
    return links


def link_texts(
    tx: Transaction,
    entity: Entity,
    texts: Sequence[str],
    known: dict[str, Memory],
    new_id: NewId,
    *,
    kind: str = GENERIC_KIND,
    flagged: frozenset[str] = frozenset(),
    repeats: bool = False,
) -> list[Memory]:
    """As `observe`, where all memories with these texts are known already; those that are made join them."""
    held = _held(tx, entity, {text: known[text] for text in texts if text in known})
    current = {text for text in held if known[text].superseded_at is None}
    added: dict[str, Memory] = {}
    links: list[Memory] = []
    for text in texts:
        if text in current or (text in added and not repeats):
            continue
        memory = added.get(text) or _kept(tx, entity, text, known, new_id, kind=kind, flagged=text in flagged)
        if text not in held or text in added:
            tx.entities.link(entity, memory)
        added[text] = known[text] = memory
        links.append(memory)
    return links


def _held(tx: Transaction, entity: Entity, memories: dict[str, Memory]) -> set[str]:
    """Which of the texts are linked to the entity."""
    links = tx.entities.of_memories(memory.seq for memory in memories.values())
    return {
        text
        for text, memory in memories.items()
        if any(link["entity_seq"] == entity.seq for link in links.get(memory.seq, ()))
    }


def _kept(
    tx: Transaction,
    entity: Entity,
    text: str,
    known: dict[str, Memory],
    new_id: NewId,
    *,
    kind: str,
    flagged: bool,
) -> Memory:
    memory = known.get(text)
    if memory is None:
        memory = tx.memories.add(
            id=new_id(),
            content=text,
            type="observation",
            origin="observation",
            importance=DEFAULT_IMPORTANCE["observation"],
            kind=kind,
            pinned=True,  # a knowledge graph does not forget by itself
            flagged=flagged,
        )
        tx.journal.record("memory_created", memory.id, id=memory.id, content=text, type=memory.type)
        return memory
    if memory.superseded_by is not None:
        _leave_to(tx, entity, memory, memory.superseded_by)
    revived = tx.memories.change(
        memory,
        pinned_at=memory.pinned_at or tx.at,
        superseded_at=None,
        superseded_by=None,
        kind=kind if memory.kind == GENERIC_KIND else memory.kind,
    )
    tx.journal.record("memory_updated", memory.id, id=memory.id, changes={"observed": True})
    return revived


def _leave_to(tx: Transaction, entity: Entity, memory: Memory, successor_id: str) -> None:
    """Take a superseded text off all other entities that have its successor: of them it is not true again."""
    successors = tx.memories.fetch_ids([successor_id]).values()
    having = {seq for successor in successors for seq in tx.entities.linked_to(successor)}
    for other in tx.entities.fetch(having - {entity.seq}).values():
        if tx.entities.unlink(other, memory):
            tx.journal.record("observations_removed", other.id, id=other.id, name=other.name, count=1)


def release(tx: Transaction, memories: Sequence[Memory]) -> list[Memory]:
    """Take away the memories that came in as observations and are about nothing any more."""
    linked = tx.entities.of_memories(memory.seq for memory in memories)
    released = [memory for memory in memories if memory.origin == "observation" and memory.seq not in linked]
    for memory in released:
        tx.memories.remove(memory)
        tx.journal.record("memory_deleted", memory.id, id=memory.id)
    return released


def mention(tx: Transaction, name: str, new_id: NewId) -> Entity:
    """The entity of that name; one that nobody has described yet becomes a placeholder."""
    found = tx.entities.find_named(name)
    if found is not None:
        return found
    entity = tx.entities.add(id=new_id(), name=name, type=UNKNOWN_TYPE)
    tx.journal.record("entity_created", entity.id, id=entity.id, name=name, type=UNKNOWN_TYPE)
    return entity
