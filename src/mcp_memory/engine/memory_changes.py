"""Changes to memories that several use cases share, each with its event in the journal."""

from mcp_memory.errors import Conflict, NotFound
from mcp_memory.events import MemoryArchived, MemoryCreated, MemoryDeleted, MemoryRestored, MemoryUpdated
from mcp_memory.model import Memory
from mcp_memory.storage import Transaction
from mcp_memory.text.preview import shortened

FADED = "faded"
"""Reason stored with an archived memory."""


def living(tx: Transaction, id: str) -> Memory:
    """The memory; a forgotten one is not found."""
    memory = tx.memories.get(id)
    if memory.forgotten_at is not None:
        raise NotFound(f"no memory has the id {id}: it was forgotten, and can be restored")
    return memory


def remove_memory(
    tx: Transaction,
    memory: Memory,
    *,
    absorbed_by: str | None = None,
    pruned_at_confidence: float | None = None,
) -> None:
    """Delete a memory with its links, associations and versions; undo brings all of it back."""
    tx.memories.remove(memory)
    tx.journal.record(MemoryDeleted(memory.id, absorbed_by, pruned_at_confidence))


def archive_memory(tx: Transaction, memory: Memory, confidence: float) -> None:
    """Archive a faded memory: hidden and not indexed, but restorable until it is purged."""
    preview = shortened(memory.content)
    tx.memories.change(memory, archived_at=tx.at, forgotten_at=tx.at, forgotten_reason=FADED)
    tx.journal.record(MemoryArchived(memory.id, confidence, preview))
    tx.journal.record(MemoryDeleted(memory.id, pruned_at_confidence=confidence))


def remember_again(tx: Transaction, memory: Memory) -> None:
    """Restore a forgotten or archived memory, as strong as one that was just used."""
    refuse_twin(tx, memory, memory.content)
    tx.memories.change(memory, forgotten_at=None, forgotten_reason=None, archived_at=None)
    tx.journal.record(MemoryRestored(memory.id, shortened(memory.content)))
    tx.journal.record(MemoryCreated(memory.id, memory.content, memory.type))
    tx.memories.reinforce([memory.seq])


def supersede(tx: Transaction, old: Memory, by: str) -> None:
    """Mark a memory as outdated; `by` is the id of the memory that replaces it."""
    tx.memories.change(old, superseded_at=tx.at, superseded_by=by)
    tx.journal.record(MemoryUpdated(old.id, {"superseded_by": by}))


def reinstate(tx: Transaction, old: Memory) -> None:
    """Make a superseded memory current again."""
    tx.memories.change(old, superseded_at=None, superseded_by=None)
    tx.journal.record(MemoryUpdated(old.id, {"superseded_by": None}))


def refuse_twin(tx: Transaction, memory: Memory, content: str) -> None:
    """`Conflict` if another living memory has this content."""
    twins = [tx.memories.equal_to(content), *tx.memories.exactly([content]).values()]
    for twin in twins:
        if twin is not None and twin.seq != memory.seq:
            raise Conflict(
                f"memory {twin.id} says exactly that already: change that one, or forget one of the two"
            )


def strengthened(tx: Transaction, memory: Memory) -> Memory:
    """The memory after being reinforced: storing something again counts as using it."""
    tx.memories.reinforce([memory.seq])
    return tx.memories.fetch([memory.seq])[memory.seq]
