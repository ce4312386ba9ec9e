"""How a text becomes, or joins, a memory that is about an entity."""

from collections.abc import Callable, Mapping, Sequence

from mcp_memory.engine import feedback
from mcp_memory.model import GENERIC_KIND, UNKNOWN_TYPE, Entity, Memory
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
    [added] = observe_each(tx, [(entity, texts)], new_id, kind=kind, flagged=flagged, repeats=repeats)
    return added


def observe_each(
    tx: Transaction,
    wanted: Sequence[tuple[Entity, Sequence[str]]],
    new_id: NewId,
    *,
    kind: str = GENERIC_KIND,
    flagged: frozenset[str] = frozenset(),
    repeats: bool = False,
) -> list[list[Memory]]:
    """As `observe`, for several entities, in order."""
    each = link_each(tx, wanted, new_id, kind=kind, flagged=flagged, repeats=repeats)
    for (entity, _), added in zip(wanted, each, strict=True):
        if added:
            feedback.extended(tx, entity, [memory.content for memory in added])
    return each


def link_each(
    tx: Transaction,
    wanted: Sequence[tuple[Entity, Sequence[str]]],
    new_id: NewId,
    *,
    kind: str = GENERIC_KIND,
    flagged: frozenset[str] = frozenset(),
    repeats: bool = False,
) -> list[list[Memory]]:
    """As `observe_each`, but nobody is thought to have searched for what is written."""
    texts = dict.fromkeys(text for _, some in wanted for text in some)
    known = tx.memories.exactly(texts)
    held = _held(tx, known)
    new = _made(tx, [text for text in texts if text not in known], new_id, kind=kind, flagged=flagged)
    links: list[tuple[Entity, Memory]] = []
    each: list[list[Memory]] = []
    for entity, some in wanted:
        added: dict[str, Memory] = {}
        linked: list[Memory] = []
        for text in some:
            is_held = (entity.seq, text) in held
            if (is_held and known[text].superseded_at is None) or (text in added and not repeats):
                continue
            memory = added.get(text) or new.pop(text, None)
            if memory is None:
                if known[text].superseded_by is not None:
                    # Who has its successor is looked up, and some may have got it just now.
                    tx.entities.link_all(links)
                    links.clear()
                memory = _revived(tx, entity, known[text], kind, held)
            if not is_held or text in added:
                links.append((entity, memory))
            added[text] = known[text] = memory
            linked.append(memory)
        held |= {(entity.seq, text) for text in added}
        each.append(linked)
    tx.entities.link_all(links)
    return each


def _held(tx: Transaction, known: Mapping[str, Memory]) -> set[tuple[int, str]]:
    """Which of the texts are linked to which entities."""
    links = tx.entities.of_memories(memory.seq for memory in known.values())
    return {
        (link["entity_seq"], text) for text, memory in known.items() for link in links.get(memory.seq, ())
    }


def _made(
    tx: Transaction, texts: Sequence[str], new_id: NewId, *, kind: str, flagged: frozenset[str]
) -> dict[str, Memory]:
    made = tx.memories.add_observations({new_id(): text for text in texts}, kind=kind, flagged=flagged)
    tx.journal.record_rows(
        "memory_created",
        {memory.id: {"id": memory.id, "content": memory.content, "type": memory.type} for memory in made},
    )
    return dict(zip(texts, made, strict=True))


def _revived(
    tx: Transaction, entity: Entity, memory: Memory, kind: str, held: set[tuple[int, str]]
) -> Memory:
    """A memory that is there already, from now on also an observation of this entity."""
    if memory.superseded_by is not None:
        left = _leave_to(tx, entity, memory, memory.superseded_by)
        held.difference_update((seq, memory.content) for seq in left)
    revived = tx.memories.change(
        memory,
        pinned_at=memory.pinned_at or tx.at,
        superseded_at=None,
        superseded_by=None,
        kind=kind if memory.kind == GENERIC_KIND else memory.kind,
    )
    tx.journal.record("memory_updated", memory.id, id=memory.id, changes={"observed": True})
    return revived


def _leave_to(tx: Transaction, entity: Entity, memory: Memory, successor_id: str) -> set[int]:
    """Take a superseded text off all other entities that have its successor: of them it is not true again.

    Returns their numbers.
    """
    successors = tx.memories.fetch_ids([successor_id]).values()
    having = {seq for successor in successors for seq in tx.entities.linked_to(successor)}
    for other in tx.entities.fetch(having - {entity.seq}).values():
        if tx.entities.unlink(other, memory):
            tx.journal.record("observations_removed", other.id, id=other.id, name=other.name, count=1)
    return having - {entity.seq}


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
