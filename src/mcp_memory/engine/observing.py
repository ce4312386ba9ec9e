"""Links texts to the entities they are about; each text is stored once, as a memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from mcp_memory.engine.memory_changes import remove_memory
from mcp_memory.events import MemoryCreated, MemoryUpdated, ObservationsRemoved
from mcp_memory.model import GENERIC_KIND, Entity, Memory
from mcp_memory.storage import Transaction
from mcp_memory.text.fingerprint import ContentHash

NewId = Callable[[], str]


class Observer:
    """Adds observations to entities. Texts known before are read once, for all entities."""

    def __init__(
        self,
        tx: Transaction,
        texts: Iterable[str],
        new_id: NewId,
        *,
        kind: str = GENERIC_KIND,
        flagged: frozenset[str] = frozenset(),
        repeats: bool = False,
    ) -> None:
        self._tx = tx
        self._kind = kind
        self._repeats = repeats
        wanted = dict.fromkeys(texts)
        found = tx.memories.known_texts(wanted)
        self._known = found.memories
        self._held = _held(tx, self._known)
        self._new = _made(tx, found.free_hashes, new_id, kind=kind, flagged=flagged)
        """Those made here, until an entity has them."""
        self._links: list[tuple[Entity, Memory]] = []

    def add(self, entity: Entity, texts: Sequence[str]) -> list[Memory]:
        """The memories that are now observations of the entity and were not before.

        A text that the entity has is skipped; with `repeats`, one given twice is linked twice.
        """
        added: dict[str, Memory] = {}
        linked = []
        for text in texts:
            memory = self._new.pop(text, None)
            if memory is not None:
                self._links.append((entity, memory))
            elif self._is_current(entity, text) or (text in added and not self._repeats):
                continue
            else:
                memory = added.get(text) or self._memory(entity, text)
                if text in added or (entity.seq, text) not in self._held:
                    self._links.append((entity, memory))
            added[text] = self._known[text] = memory
            linked.append(memory)
        self._held |= {(entity.seq, text) for text in added}
        return linked

    def flush(self) -> None:
        """Write the links; call it once, after the last `add`."""
        self._tx.entities.link_all(self._links)
        self._links.clear()

    def _is_current(self, entity: Entity, text: str) -> bool:
        return (entity.seq, text) in self._held and self._known[text].superseded_at is None

    def _memory(self, entity: Entity, text: str) -> Memory:
        if self._known[text].superseded_by is not None:
            # `_revived` looks up which entities have the successor; links made so far count.
            self.flush()
        return self._revived(entity, self._known[text])

    def _revived(self, entity: Entity, memory: Memory) -> Memory:
        """An existing memory, current and pinned, as an observation of this entity."""
        if memory.superseded_by is not None:
            left = _leave_to_successor(self._tx, entity, memory, memory.superseded_by)
            self._held.difference_update((seq, memory.content) for seq in left)
        changes = {
            "pinned_at": memory.pinned_at or self._tx.at,
            "superseded_at": None,
            "superseded_by": None,
            "kind": self._kind if memory.kind == GENERIC_KIND else memory.kind,
        }
        # Mostly it is an observation of another entity, and stays as it is.
        if any(getattr(memory, name) != value for name, value in changes.items()):
            memory = self._tx.memories.change(memory, **changes)
        self._tx.journal.record(MemoryUpdated(memory.id, {"observed": True}))
        return memory


def unobserve(tx: Transaction, entity: Entity, texts: Iterable[str]) -> int:
    """Remove observations from an entity, superseded ones too. How many were removed."""
    unwanted = set(texts)
    [node] = tx.entities.nodes([entity], superseded=True)
    found = {memory.seq: memory for memory in node.observations if memory.content in unwanted}
    removed = sum(tx.entities.unlink(entity, memory) for memory in found.values())
    release(tx, list(found.values()))
    if removed:
        tx.journal.record(ObservationsRemoved(entity.id, entity.name, removed))
    return removed


def release(tx: Transaction, memories: Sequence[Memory]) -> list[Memory]:
    """Delete memories that were stored as observations and are no longer linked to any entity."""
    linked = tx.entities.of_memories(memory.seq for memory in memories)
    released = [memory for memory in memories if memory.origin == "observation" and memory.seq not in linked]
    for memory in released:
        remove_memory(tx, memory)
    return released


def _held(tx: Transaction, known: Mapping[str, Memory]) -> set[tuple[int, str]]:
    """(entity, text) of every link that exists."""
    links = tx.entities.of_memories(memory.seq for memory in known.values())
    return {
        (link["entity_seq"], text) for text, memory in known.items() for link in links.get(memory.seq, ())
    }


def _made(
    tx: Transaction,
    hashes: Mapping[str, ContentHash],
    new_id: NewId,
    *,
    kind: str,
    flagged: frozenset[str],
) -> dict[str, Memory]:
    texts = {new_id(): text for text in hashes}
    made = tx.memories.add_observations(texts, hashes, kind=kind, flagged=flagged)
    tx.journal.record_rows(MemoryCreated, made)
    return dict(zip(hashes, made, strict=True))


def _leave_to_successor(tx: Transaction, entity: Entity, memory: Memory, successor_id: str) -> set[int]:
    """Unlink a superseded text from every other entity that has its successor, since it is outdated there
    too. Returns the numbers of these entities.
    """
    successors = tx.memories.fetch_ids([successor_id]).values()
    having = {seq for successor in successors for seq in tx.entities.linked_to(successor)}
    for other in tx.entities.fetch(having - {entity.seq}).values():
        if tx.entities.unlink(other, memory):
            tx.journal.record(ObservationsRemoved(other.id, other.name, 1))
    return having - {entity.seq}
