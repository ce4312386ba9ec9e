"""Memories: stored once, changed with their history, associated, deleted, forgotten."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from mcp_memory.engine.associations import Associations, Dissociated
from mcp_memory.engine.context import Topic, at_most, checked_limit, checked_offset, storable
from mcp_memory.engine.cursors import ONE_OF_THEM, cursor_of, place_in
from mcp_memory.engine.drafts import NewAssociation, NewMemory, checked_changes, checked_filter
from mcp_memory.engine.memory_changes import living, refuse_twin, remove_memory
from mcp_memory.engine.remembering import (
    Described,
    Remembering,
    Similar,
    Stored,
    entity_names,
    plain_changes,
)
from mcp_memory.errors import Invalid, Stale
from mcp_memory.events import MemoryConfirmed, MemoryDeleted, MemoryForgotten, MemoryUpdated
from mcp_memory.model import PINNED_TYPE, Association, Filter, Memory
from mcp_memory.ranking.decay import effective_confidence
from mcp_memory.storage import Transaction
from mcp_memory.storage.orders import ORDERS
from mcp_memory.text.preview import shortened

__all__ = ["Deleted", "Described", "Forgotten", "Memories", "MemoryPage", "Similar", "Stored", "entity_names"]

MOST_LISTED = 200
MOST_IDS = 1000
REASON_LENGTH = 2000


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Some of the memories that match a filter, and how many match in all."""

    memories: tuple[Memory, ...]
    total: int
    cursor: str | None = None
    """Where the next page begins; None at the end."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Whether this call forgot a memory, and a sentence with a preview of it."""

    forgotten: bool
    message: str
    memory: Memory | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Deleted:
    """The result of a deletion, or of its dry run."""

    memories: tuple[Memory, ...]
    missing: tuple[str, ...]
    """Ids that no memory has."""
    kept: tuple[str, ...]
    """Ids of memories that the other conditions spared."""
    act: str | None
    """Undo takes this; None when nothing was deleted."""
    dry_run: bool

    @property
    def ids(self) -> list[str]:
        return [memory.id for memory in self.memories]


class Memories(Topic):
    def remember(self, new: NewMemory) -> Stored:
        """Store a memory; one that says the same as another becomes part of it."""
        return Remembering(self._context).remember(new)

    def save(self, new: NewMemory, associations: Sequence[NewAssociation] = ()) -> Stored:
        """Store a memory with associations; a very close older memory is linked as updated by it."""
        return Remembering(self._context).save(new, associations)

    def update(self, id: str, changes: Mapping[str, Any], *, expected_version: int | None = None) -> Memory:
        """Change the given fields; the previous state becomes a version.

        With `expected_version`, only if nobody has changed the memory since the caller read it.
        """
        wanted = checked_changes(changes, self._context.limits)
        with self._context.writing() as tx:
            memory = living(tx, id)
            if expected_version not in (None, memory.version):
                raise Stale(
                    f"memory {id} is at version {memory.version}, not {expected_version}: read it again first"
                )
            real = _real_changes(tx, memory, wanted)
            if not real:
                return memory
            if "content" in real:
                refuse_twin(tx, memory, real["content"])
            if memory.captured_at is not None:
                real["captured_at"] = None
            changed = tx.memories.revise(memory, "updated", **real)
            tx.journal.record(MemoryUpdated(id, plain_changes(real)))
            return changed

    def get(self, id: str, *, record: bool = True, as_of: datetime | None = None) -> Memory:
        """The memory as it was before this read, which reinforces it unless `record` is False."""
        with self._context.reading(as_of=as_of) as tx:
            memory = living(tx, id)
        if record and as_of is None:
            self._context.note_in_passing(lambda tx: _used(tx, memory))
        return memory

    def fetch(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids that exist, in the order asked for."""
        at_most(len(ids), MOST_LISTED, "ids")
        with self._context.reading() as tx:
            found = tx.memories.fetch_ids(ids)
        present = [found[id] for id in dict.fromkeys(ids) if id in found]
        return [memory for memory in present if memory.forgotten_at is None]

    def find(
        self,
        filter: Filter,
        *,
        about: str | None = None,
        order: str = "recent",
        limit: int = 20,
        offset: int = 0,
        cursor: str | None = None,
        as_of: datetime | None = None,
    ) -> MemoryPage:
        """Memories that pass a filter, in one of the orders of `storage.orders`.

        With `about`, only memories about the entity of that name. A page begins at an `offset`, or at the
        `cursor` of the page before it: however deep that is, and whatever was added or removed meanwhile.
        """
        if order not in ORDERS:
            raise Invalid(f"{order!r} is not an order of memories: choose one of {', '.join(ORDERS)}")
        filter = checked_filter(filter)
        checked_limit(limit, MOST_LISTED)
        if checked_offset(offset) and cursor:
            raise Invalid(ONE_OF_THEM)
        half_life = self._context.tuning.half_life
        with self._context.reading(as_of=as_of) as tx:
            if about is not None:
                filter = replace(filter, entity_seq=tx.entities.get(about).seq)
            after = place_in(cursor, order, tx.at, past=as_of is not None) if cursor else None
            found = tx.memories.find(
                filter, order=order, limit=limit + 1, offset=offset, after=after, half_life=half_life
            )
            following = None
            if len(found) > limit:
                begun_at = after.begun_at if after else tx.at
                last = tx.memories.place(found[limit - 1], order, begun_at=begun_at, half_life=half_life)
                following = cursor_of(order, last)
            total = tx.memories.count(filter, half_life=half_life)
            return MemoryPage(tuple(found[:limit]), total, following)

    def describe(self, memories: Sequence[Memory], *, as_of: datetime | None = None) -> list[Described]:
        """Each memory with its present state, or that of an earlier moment, in the order given."""
        with self._context.reading(as_of=as_of) as tx:
            names = entity_names(tx, memories)
            return [Described(one, self._confidence(one, tx.at), names[one.id]) for one in memories]

    def associations_of(self, id: str) -> list[Association]:
        """The associations of a memory with other living ones, in both directions."""
        return Associations(self._context).of(id)

    def associate(
        self, source_id: str, target_id: str, type: str = "related_to", weight: float = 0.5
    ) -> Association:
        """Connect two memories; an existing association takes the new weight."""
        wanted = NewAssociation(target_id=target_id, type=type, weight=weight)
        return Associations(self._context).add(source_id, wanted)

    def dissociate(self, id: str, which: str, type: str | None = None) -> Dissociated:
        """Remove associations of a memory, by their own id or by the id of the memory at the other end."""
        return Associations(self._context).remove(id, which, type)

    def pin(self, id: str) -> Memory:
        """Keep a memory from fading."""
        return self._set_pin(id, pinned=True)

    def unpin(self, id: str) -> Memory:
        return self._set_pin(id, pinned=False)

    def confirm(self, id: str) -> Memory:
        """Record that a person confirmed a memory: it leaves trial and quarantine, and is not archived."""
        with self._context.writing() as tx:
            memory = living(tx, id)
            changed = tx.memories.change(
                memory,
                confirmed_at=memory.confirmed_at or tx.at,
                quarantined_at=None,
                captured_at=None,
                confidence=1.0,
            )
            tx.journal.record(MemoryConfirmed(memory.id, shortened(memory.content)))
            return changed

    def forget(self, memory_id: str, reason: str | None = None) -> Forgotten:
        """Hide a memory from every search and list; it stays stored, and can be restored."""
        if reason is not None and len(storable(reason, "the reason")) > REASON_LENGTH:
            raise Invalid(f"the reason is longer than {REASON_LENGTH:,} characters: shorten it")
        with self._context.writing() as tx:
            memory = tx.memories.fetch_ids([memory_id]).get(memory_id)
            if memory is None:
                return Forgotten(False, f"No memory has the id {memory_id}; nothing was forgotten.")
            preview = shortened(memory.content)
            if memory.forgotten_at is not None:
                return Forgotten(False, f"Was already forgotten: “{preview}”", memory)
            changed = tx.memories.change(memory, forgotten_at=tx.at, forgotten_reason=reason)
            tx.journal.record(MemoryForgotten(memory.id, reason, preview))
            tx.journal.record(MemoryDeleted(memory.id))
            return Forgotten(True, f"Forgotten: “{preview}”. It can be restored.", changed)

    def delete(
        self,
        memory_ids: Sequence[str] = (),
        *,
        before: datetime | None = None,
        below_confidence: float | None = None,
        types: Sequence[str] = (),
        dry_run: bool = False,
    ) -> Deleted:
        """Delete the memories that meet every condition given, as one change that can be undone."""
        if not memory_ids and not types and before is None and below_confidence is None:
            raise Invalid(
                "nothing says which memories to delete: give their ids, a date they are older than, "
                "a confidence they are below, or their types"
            )
        at_most(len(memory_ids), MOST_IDS, "memory ids")
        filter = checked_filter(Filter(types=tuple(types), before=before, below_confidence=below_confidence))
        with self._context.reading() if dry_run else self._context.writing() as tx:
            going = self._matching(tx, memory_ids, filter)
            if not dry_run:
                for memory in going:
                    remove_memory(tx, memory)
            known = {*tx.memories.fetch_ids(memory_ids), *(memory.id for memory in going)}
            gone = {memory.id for memory in going}
            return Deleted(
                memories=tuple(going),
                missing=tuple(id for id in dict.fromkeys(memory_ids) if id not in known),
                kept=tuple(id for id in dict.fromkeys(memory_ids) if id in known - gone),
                act=tx.act if going and not dry_run else None,
                dry_run=dry_run,
            )

    def _set_pin(self, id: str, *, pinned: bool) -> Memory:
        with self._context.writing() as tx:
            memory = living(tx, id)
            if (memory.pinned_at is not None) == pinned:
                return memory
            changed = tx.memories.change(memory, pinned_at=tx.at if pinned else None)
            tx.journal.record(MemoryUpdated(id, {"pinned": pinned}))
            return changed

    def _confidence(self, memory: Memory, now: datetime) -> float:
        return effective_confidence(
            memory.confidence,
            memory.last_used_at,
            now,
            self._context.tuning.half_life,
            memory.pinned_at is not None,
            memory.captured_at is not None,
        )

    def _matching(self, tx: Transaction, ids: Sequence[str], filter: Filter) -> list[Memory]:
        half_life = self._context.tuning.half_life
        if filter == Filter():
            return list(tx.memories.fetch_ids(ids).values())
        count = tx.memories.count(filter, half_life=half_life)
        found = tx.memories.find(filter, order="oldest", limit=count, half_life=half_life)
        return [memory for memory in found if not ids or memory.id in ids]


def _used(tx: Transaction, memory: Memory) -> None:
    tx.memories.reinforce([memory.seq])
    if memory.captured_at is not None:
        tx.memories.confirm([memory.seq])


def _real_changes(tx: Transaction, memory: Memory, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The changes by column, without those that change nothing.

    A memory is pinned or not as asked; else an identity is, and one that stops being an identity is not.
    """
    changes = {name: value for name, value in wanted.items() if name != "pinned"}
    type = changes.get("type", memory.type)
    follows_type = type != memory.type and PINNED_TYPE in (type, memory.type)
    pinned = wanted.get("pinned", type == PINNED_TYPE if follows_type else None)
    if pinned is not None:
        changes["pinned_at"] = (memory.pinned_at or tx.at) if pinned else None
    return {name: value for name, value in changes.items() if value != getattr(memory, name)}
