"""Associations: directed, typed and weighted connections between memories."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mcp_memory.engine.context import Topic
from mcp_memory.engine.drafts import NewAssociation, checked_association
from mcp_memory.engine.memory_changes import living, reinstate, supersede
from mcp_memory.errors import Invalid, NotFound
from mcp_memory.events import MemoryAssociated, MemoryDissociated
from mcp_memory.model import Association, Memory
from mcp_memory.storage import Transaction

MOST_ASSOCIATIONS = 100
UPDATES = "updates"
"""The type of association whose source replaces its target."""


@dataclass(frozen=True, slots=True)
class Dissociated:
    associations: tuple[Association, ...]
    act: str
    """Undo takes this."""


class Associations(Topic):
    def of(self, id: str) -> list[Association]:
        """The associations of a memory with other living ones, in both directions."""
        with self._context.reading() as tx:
            return tx.associations.of(living(tx, id))

    def add(self, source_id: str, wanted: NewAssociation) -> Association:
        """Connect two memories; an existing association takes the new weight."""
        checked_association(wanted)
        with self._context.writing() as tx:
            source, target = target_of(tx, source_id), target_of(tx, wanted.target_id)
            connect_all(tx, source, [(target, wanted)], self._context.new_id)
            return tx.associations.get(source, target, wanted.type)

    def remove(self, id: str, which: str, type: str | None = None) -> Dissociated:
        """Remove associations of a memory, by their own id or by the id of the memory at the other end.

        Of several with the same memory, in either direction, all are removed, or those of the type. A memory
        that one of them had superseded is current again.
        """
        with self._context.writing() as tx:
            memory = living(tx, id)
            between = [
                one
                for one in tx.associations.of(memory)
                if which in (one.id, *({one.source_id, one.target_id} - {memory.id}))
                and type in (None, one.type)
            ]
            if not between:
                kind = f" of type {type}" if type else ""
                raise NotFound(
                    f"memory {id} has no association{kind} that is {which}, or with a memory {which}"
                )
            for one in between:
                _disconnect(tx, one)
            return Dissociated(tuple(between), tx.act)


def target_of(tx: Transaction, id: str) -> Memory:
    try:
        return living(tx, id)
    except NotFound as error:
        raise NotFound(f"{error}: associate with the ids of memories that were found") from None


def connect_all(
    tx: Transaction,
    memory: Memory,
    targets: Sequence[tuple[Memory, NewAssociation]],
    new_id: Callable[[], str],
) -> None:
    """Connect a memory with others; the targets of `updates` are superseded."""
    for target, wanted in targets:
        connect(tx, memory, target, wanted.type, wanted.weight, new_id)
        if wanted.type == UPDATES:
            supersede(tx, target, memory.id)


def connect(
    tx: Transaction, source: Memory, target: Memory, type: str, weight: float, new_id: Callable[[], str]
) -> None:
    if source.seq == target.seq:
        raise Invalid("a memory cannot be associated with itself: give another memory's id")
    if tx.associations.put(new_id(), source, target, type, weight):
        tx.journal.record(MemoryAssociated(source.id, target.id, type, weight))


def _disconnect(tx: Transaction, association: Association) -> None:
    source, target, type = association.source_id, association.target_id, association.type
    tx.associations.remove(association.seq)
    tx.journal.record(MemoryDissociated(source, target, type))
    replaced = tx.memories.get(target)
    if type == UPDATES and replaced.superseded_by == source:
        reinstate(tx, replaced)
