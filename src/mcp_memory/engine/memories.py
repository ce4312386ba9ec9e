"""Memories: kept once, changed with their history, connected to each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from mcp_memory.capture.scope import about_a_person
from mcp_memory.embedding import NoModel
from mcp_memory.engine import feedback
from mcp_memory.engine.context import Context, Topic, at_most, checked_limit, checked_offset
from mcp_memory.engine.drafts import (
    PLAIN_TYPE,
    NewAssociation,
    NewMemory,
    checked,
    checked_association,
    checked_changes,
    checked_filter,
)
from mcp_memory.engine.indexing import ByWordsOnly, Indexing, Meaning
from mcp_memory.engine.observing import mention
from mcp_memory.errors import Conflict, Invalid, NotFound, Stale
from mcp_memory.model import GENERIC_KIND, Association, Filter, Memory
from mcp_memory.ranking.decay import effective_confidence
from mcp_memory.storage import Transaction
from mcp_memory.storage.memories import ORDERS
from mcp_memory.text.sameness import Calibration, verdict

PINNED_TYPE = "identity"
"""Memories of who somebody is do not fade."""

CLOSE = 0.875
"""How far from unrelated to equal a memory must lie to be called close: a cosine of 0.9 with
all-MiniLM-L6-v2, from where `memory_save` promises a link."""

LONGEST_COMPARED = 2000
"""Characters; two longer texts are not held against each other word by word while others wait to write."""

NEIGHBOURS = 10
"""How many of the nearest memories a new one is compared with."""

MOST_ASSOCIATIONS = 100
MOST_LISTED = 200


@dataclass(frozen=True, slots=True)
class Similar:
    """A memory that a new one is close to without being the same, and what tells them apart."""

    memory: Memory
    cosine: float
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """What became of something to be remembered."""

    memory: Memory
    outcome: Literal["created", "equal", "merged"]
    similar: tuple[Similar, ...] = ()
    """They have been linked to the memory, and not been changed."""
    entities: tuple[str, ...] = ()
    compared: str = ""
    """How the memory was compared with the others: by content and meaning, or why not by meaning."""


@dataclass(frozen=True, slots=True)
class Described:
    """A memory with what is not in itself: how sure we are of it by now, and what it is about."""

    memory: Memory
    effective_confidence: float
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Some of the memories that a filter lets through, and how many it does in all."""

    memories: tuple[Memory, ...]
    total: int


@dataclass(frozen=True, slots=True)
class _Near:
    memory: Memory
    cosine: float
    difference: str | None
    """What tells it from the new one; None when both say the same."""
    close: bool
    one_point: bool = False
    """Whether the two would say the same but for one thing."""


@dataclass(frozen=True, slots=True)
class Dissociated:
    associations: tuple[Association, ...]
    act: str
    """What takes it back."""


class Memories(Topic):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._indexing = Indexing(context)

    def remember(self, new: NewMemory) -> Stored:
        """Keep a memory; one that says the same as another becomes part of it."""
        new = checked(new, self._context.limits)
        meaning = self._meaning(new.content)
        with self._context.writing() as tx:
            equal = tx.memories.equal_to(new.content)
            if equal is not None:
                return self._stored(tx, new, self._join(tx, equal, new), "equal", meaning)
            near = self._near(tx, new, meaning)
            same = next((found for found in near if found.difference is None), None)
            if same is not None:
                return self._stored(tx, new, self._absorb(tx, same.memory, new), "merged", meaning)
            memory = self._add(tx, new, meaning)
            for found in near:
                self._connect(tx, memory, found.memory, "related_to", found.cosine)
            return self._stored(tx, new, memory, "created", meaning, near)

    def save(self, new: NewMemory, associations: Sequence[NewAssociation] = ()) -> Stored:
        """Keep a memory, with connections to others; to one it is very close to, as its update."""
        new = checked(new, self._context.limits)
        at_most(len(associations), MOST_ASSOCIATIONS, "associations")
        for association in associations:
            checked_association(association)
        meaning = self._meaning(new.content)
        with self._context.writing() as tx:
            targets = [(self._target(tx, wanted.target_id), wanted) for wanted in associations]
            equal = tx.memories.equal_to(new.content)
            if equal is not None:
                memory, near = self._join(tx, equal, new), []
            else:
                near = [
                    found for found in self._near(tx, new, meaning) if found.close or not found.difference
                ]
                memory = self._add(tx, new, meaning)
            self._connect_saved(tx, memory, targets, near)
            outcome: Literal["created", "equal"] = "created" if equal is None else "equal"
            return self._stored(tx, new, memory, outcome, meaning, near)

    def update(self, id: str, changes: Mapping[str, Any], *, expected_version: int | None = None) -> Memory:
        """Change what is given, leave the rest, keep what was as a version.

        With `expected_version`, only if nobody has changed the memory since the caller read it.
        """
        wanted = checked_changes(changes, self._context.limits)
        with self._context.writing() as tx:
            memory = living(tx, id)
            if expected_version not in (None, memory.version):
                raise Stale(
                    f"memory {id} is at version {memory.version}, not {expected_version}: read it again first"
                )
            real = {name: value for name, value in wanted.items() if value != getattr(memory, name)}
            if not real:
                return memory
            _refuse_twin(tx, memory, real.get("content"))
            if real.get("type") == PINNED_TYPE:
                real["pinned_at"] = memory.pinned_at or tx.at
            changed = tx.memories.revise(memory, "updated", **real)
            tx.journal.record("memory_updated", id, id=id, changes=_told(real))
            return changed

    def get(self, id: str, *, record: bool = True) -> Memory:
        """As it was before this reading; being read makes it stronger, unless `record` is False."""
        with self._context.reading() as tx:
            memory = living(tx, id)
        if record:
            self._context.reinforce([memory.seq])
        return memory

    def fetch(self, ids: Sequence[str]) -> list[Memory]:
        """Those of them that there are, in the order asked for."""
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
    ) -> MemoryPage:
        """What a filter lets through, in one of the orders of `storage.memories.ORDERS`.

        With `about`, only memories about the entity of that name.
        """
        if order not in ORDERS:
            raise Invalid(f"{order!r} is no order of memories: take one of {', '.join(ORDERS)}")
        filter = checked_filter(filter)
        checked_limit(limit, MOST_LISTED)
        checked_offset(offset)
        half_life = self._context.tuning.half_life
        with self._context.reading() as tx:
            if about is not None:
                filter = replace(filter, entity_seq=tx.entities.get(about).seq)
            found = tx.memories.find(filter, order=order, limit=limit, offset=offset, half_life=half_life)
            return MemoryPage(tuple(found), tx.memories.count(filter, half_life=half_life))

    def entities_of(self, memories: Sequence[Memory]) -> dict[str, tuple[str, ...]]:
        """By memory id, the names of the entities it is about."""
        with self._context.reading() as tx:
            return entity_names(tx, memories)

    def describe(self, memories: Sequence[Memory]) -> list[Described]:
        """Each of them, in the order given, as it stands at this moment."""
        with self._context.reading() as tx:
            names = entity_names(tx, memories)
            return [Described(one, self._confidence(one, tx.at), names[one.id]) for one in memories]

    def associations_of(self, id: str) -> list[Association]:
        """The connections of a memory with other living ones, in both directions."""
        with self._context.reading() as tx:
            return tx.associations.of(living(tx, id))

    def associate(
        self, source_id: str, target_id: str, type: str = "related_to", weight: float = 0.5
    ) -> Association:
        """Connect two memories; a connection that is there takes the new weight."""
        wanted = checked_association(NewAssociation(target_id=target_id, type=type, weight=weight))
        with self._context.writing() as tx:
            source, target = self._target(tx, source_id), self._target(tx, target_id)
            self._connect_saved(tx, source, [(target, wanted)], near=())
            return tx.associations.get(source, target, type)

    def dissociate(self, id: str, which: str, type: str | None = None) -> Dissociated:
        """Take away a connection of a memory by its own id, or by the id of the memory at its other end.

        Of several with the same memory, in either direction, all go, or those of the type. What one of them
        had superseded is current again.
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
                self._disconnect(tx, one)
            return Dissociated(tuple(between), tx.act)

    def pin(self, id: str) -> Memory:
        """Keep a memory from fading."""
        return self._set_pin(id, pinned=True)

    def unpin(self, id: str) -> Memory:
        return self._set_pin(id, pinned=False)

    def _set_pin(self, id: str, *, pinned: bool) -> Memory:
        with self._context.writing() as tx:
            memory = living(tx, id)
            if (memory.pinned_at is not None) == pinned:
                return memory
            changed = tx.memories.change(memory, pinned_at=tx.at if pinned else None)
            tx.journal.record("memory_updated", id, id=id, changes={"pinned": pinned})
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

    def _meaning(self, content: str) -> Meaning | ByWordsOnly:
        if isinstance(self._context.embedder, NoModel):
            return ByWordsOnly(self._context.embedder.reason)
        with self._context.reading() as tx:
            known = tx.memories.equal_to(content)
        if known is not None:
            return ByWordsOnly("there is a memory with this content")
        return self._indexing.meaning(content, "memory", "passage")

    def _near(self, tx: Transaction, new: NewMemory, meaning: Meaning | ByWordsOnly) -> list[_Near]:
        """Current memories so close to the new one that they may say the same, the closest first."""
        embedder = self._context.embedder
        if isinstance(meaning, ByWordsOnly) or isinstance(embedder, NoModel):
            return []
        unrelated = embedder.card.unrelated_cosine
        closest = dict(
            tx.indexes.nearest("memory", meaning.model, meaning.vector, tx.memories.current, NEIGHBOURS)
        )
        found = tx.memories.fetch(closest)
        near = [
            _near(found[seq], new, min(1.0, cosine), unrelated)
            for seq, cosine in closest.items()
            if cosine >= Calibration(unrelated).least_cosine
        ]
        return [item for item in near if item.close or item.difference is None or item.one_point]

    def _add(self, tx: Transaction, new: NewMemory, meaning: Meaning | ByWordsOnly) -> Memory:
        memory = tx.memories.add(
            id=self._context.new_id(),
            content=new.content,
            type=new.type,
            kind=GENERIC_KIND,
            origin="memory",
            tags=new.tags,
            confidence=new.confidence,
            importance=new.weight,
            source=new.source,
            context=new.context,
            channel=new.channel,
            metadata=new.metadata,
            pinned=new.type == PINNED_TYPE,
            captured=new.captured,
            project=self._project(new),
        )
        if isinstance(meaning, Meaning):
            tx.indexes.supply(meaning.model, "memory", memory.seq, meaning.vector)
        self._link(tx, memory, new.entity_names)
        feedback.cited(tx, [new.content])
        tx.journal.record("memory_created", memory.id, id=memory.id, content=new.content, type=new.type)
        return memory

    def _project(self, new: NewMemory) -> str | None:
        """What is about a person holds in every project."""
        if new.project is not None:
            return new.project or None
        is_personal = new.type == PINNED_TYPE or about_a_person(new.content)
        return None if is_personal else self._context.caller.project or None

    def _join(self, tx: Transaction, memory: Memory, new: NewMemory) -> Memory:
        """Take over what a second writing of the same content adds to the first."""
        changes = _additions(tx, memory, new)
        linked = self._link(tx, memory, new.entity_names)
        if changes:
            tx.memories.revise(memory, "stored again", **changes)
        if changes or linked:
            told = _told(changes) | ({"entities": linked} if linked else {})
            tx.journal.record("memory_updated", memory.id, id=memory.id, changes=told)
        return _strengthened(tx, memory)

    def _absorb(self, tx: Transaction, memory: Memory, new: NewMemory) -> Memory:
        """Make a new wording part of the memory that says the same; its own words stay in the history."""
        tx.memories.keep_version(memory, _as_memory(tx, memory, new), "absorbed")
        changes = _additions(tx, memory, new)
        linked = self._link(tx, memory, new.entity_names)
        tx.memories.revise(memory, "merged", **changes)
        tx.journal.record(
            "memory_updated", memory.id, id=memory.id, changes=_told(changes) | {"entities": linked},
            absorbed=new.content,
        )  # fmt: skip
        return _strengthened(tx, memory)

    def _link(self, tx: Transaction, memory: Memory, names: Sequence[str]) -> list[str]:
        """Make the memory one about these entities. The names of those it was not about before."""
        known = set(tx.entities.linked_to(memory)) if names else set()
        linked = []
        for name in names:
            entity = mention(tx, name, self._context.new_id)
            if entity.seq not in known:
                tx.entities.link(entity, memory)
                if entity.updated_at != tx.at:
                    tx.entities.change(entity)
                feedback.extended(tx, entity)
                known.add(entity.seq)
                linked.append(entity.name)
        return linked

    def _target(self, tx: Transaction, id: str) -> Memory:
        try:
            return living(tx, id)
        except NotFound as error:
            raise NotFound(f"{error}: associate with ids that memory_recall returned") from None

    def _connect_saved(
        self,
        tx: Transaction,
        memory: Memory,
        targets: Sequence[tuple[Memory, NewAssociation]],
        near: Sequence[_Near],
    ) -> None:
        for target, wanted in targets:
            self._connect(tx, memory, target, wanted.type, wanted.weight)
            if wanted.type == "updates":
                _supersede(tx, target, memory)
        said = {target.seq for target, _ in targets}
        for found in near:
            if found.memory.seq not in said:
                self._connect(tx, memory, found.memory, "updates", found.cosine)
            # Closeness alone does not make an earlier memory outdated: it may be about another port.
            if found.difference is None and found.memory.seq not in said:
                _supersede(tx, found.memory, memory)

    def _connect(self, tx: Transaction, source: Memory, target: Memory, type: str, weight: float) -> None:
        if source.seq == target.seq:
            raise Invalid("a memory cannot be associated with itself: give another memory's id")
        if tx.associations.put(self._context.new_id(), source, target, type, weight):
            tx.journal.record(
                "memory_associated", source.id, id=source.id, target=target.id, type=type, weight=weight
            )

    def _disconnect(self, tx: Transaction, association: Association) -> None:
        source, target, type = association.source_id, association.target_id, association.type
        tx.associations.remove(association.seq)
        tx.journal.record("memory_dissociated", source, id=source, target=target, type=type)
        replaced = tx.memories.get(target)
        if type == "updates" and replaced.superseded_by == source:
            tx.memories.change(replaced, superseded_at=None, superseded_by=None)
            tx.journal.record("memory_updated", target, id=target, changes={"superseded_by": None})

    def _stored(
        self,
        tx: Transaction,
        new: NewMemory,
        memory: Memory,
        outcome: Literal["created", "equal", "merged"],
        meaning: Meaning | ByWordsOnly,
        near: Sequence[_Near] = (),
    ) -> Stored:
        return Stored(
            memory=memory,
            outcome=outcome,
            similar=tuple(
                Similar(found.memory, found.cosine, found.difference or "says the same") for found in near
            ),
            # A new one is about what was just said, and need not be looked up.
            entities=tuple(dict.fromkeys(new.entity_names))
            if outcome == "created"
            else entity_names(tx, [memory])[memory.id],
            compared=_compared(meaning),
        )


def living(tx: Transaction, id: str) -> Memory:
    """The memory, unless it is forgotten: then it is as if it were not there."""
    memory = tx.memories.get(id)
    if memory.forgotten_at is not None:
        raise NotFound(f"no memory has the id {id}: it was forgotten, and can be restored")
    return memory


def entity_names(tx: Transaction, memories: Sequence[Memory]) -> dict[str, tuple[str, ...]]:
    """By memory id, the names of the entities that it is about."""
    found = tx.entities.of_memories(memory.seq for memory in memories)
    return {
        memory.id: tuple(dict.fromkeys(row["name"] for row in found.get(memory.seq, ())))
        for memory in memories
    }


def _compared(meaning: Meaning | ByWordsOnly) -> str:
    return "by content and meaning" if isinstance(meaning, Meaning) else f"by content only: {meaning.reason}"


def _near(memory: Memory, new: NewMemory, cosine: float, unrelated: float) -> _Near:
    close = cosine >= Calibration(unrelated, CLOSE).least_cosine
    if memory.type != new.type:
        return _Near(memory, cosine, f"one is of type {memory.type}, the other of type {new.type}", close)
    if max(len(memory.content), len(new.content)) > LONGEST_COMPARED:
        return _Near(memory, cosine, "they are too long to be compared word by word", close)
    said = verdict(memory.content, new.content, cosine, Calibration(unrelated))
    return _Near(
        memory, cosine, None if said.same else said.reason, close, one_point=len(said.differences) == 1
    )


def _additions(tx: Transaction, memory: Memory, new: NewMemory) -> dict[str, Any]:
    """What a new writing adds to a memory that says the same: nothing that is known gets lost."""
    if new.captured:
        # A rule heard it again: that strengthens what is known, but does not change it.
        return {}
    wanted = {
        "tags": tuple(dict.fromkeys((*memory.tags, *new.tags))),
        "metadata": {**memory.metadata, **new.metadata},
        "confidence": max(memory.confidence, new.confidence),
        "importance": max(memory.importance, new.weight),
        "type": new.type if memory.type == PLAIN_TYPE else memory.type,
        "source": memory.source or new.source,
        "context": memory.context or new.context,
        "channel": memory.channel or new.channel,
        "origin": "memory",  # stored in its own right, it stays when an entity lets go of it
        "superseded_at": None,
        "superseded_by": None,
    }
    if wanted["type"] == PINNED_TYPE and memory.pinned_at is None:
        wanted["pinned_at"] = tx.at
    return {name: value for name, value in wanted.items() if value != getattr(memory, name)}


def _as_memory(tx: Transaction, memory: Memory, new: NewMemory) -> Memory:
    """The new memory as it would have been kept, for the history of the one that absorbs it."""
    return replace(
        memory,
        content=new.content,
        type=new.type,
        tags=new.tags,
        confidence=new.confidence,
        importance=new.weight,
        source=new.source,
        context=new.context,
        channel=new.channel,
        metadata=new.metadata,
        created_at=tx.at,
        updated_at=tx.at,
    )


def _strengthened(tx: Transaction, memory: Memory) -> Memory:
    """To be said again is to be used: the memory counts from now on, and a little more."""
    tx.memories.reinforce([memory.seq])
    return tx.memories.fetch([memory.seq])[memory.seq]


def _supersede(tx: Transaction, old: Memory, by: Memory) -> None:
    tx.memories.change(old, superseded_at=tx.at, superseded_by=by.id)
    tx.journal.record("memory_updated", old.id, id=old.id, changes={"superseded_by": by.id})


def _refuse_twin(tx: Transaction, memory: Memory, content: str | None) -> None:
    twin = tx.memories.equal_to(content) if content is not None else None
    if twin is not None and twin.seq != memory.seq:
        raise Conflict(
            f"memory {twin.id} says exactly that already: change that one, or forget one of the two"
        )


def _told(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as an event can carry them."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in changes.items()
        if not name.endswith("_at")
    }
