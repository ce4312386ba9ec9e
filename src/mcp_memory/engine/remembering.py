"""Storing a memory: compared with what is known, then created, joined or merged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from mcp_memory.capture.scope import about_a_person
from mcp_memory.embedding import NoModel
from mcp_memory.engine import feedback
from mcp_memory.engine.associations import MOST_ASSOCIATIONS, connect, connect_all, target_of
from mcp_memory.engine.context import Context, Topic, at_most
from mcp_memory.engine.drafts import (
    NOTES,
    PLAIN_TYPE,
    NewAssociation,
    NewMemory,
    checked,
    checked_association,
)
from mcp_memory.engine.graph_writer import GraphWriter
from mcp_memory.engine.indexing import Begun, ByWordsOnly, Indexing, Meaning, begin
from mcp_memory.engine.memory_changes import remember_again, strengthened, supersede
from mcp_memory.engine.screening import screened
from mcp_memory.events import MemoryCreated, MemoryUpdated
from mcp_memory.model import GENERIC_KIND, ORDINARY_IMPORTANCE, PINNED_TYPE, Memory
from mcp_memory.ranking.decay import effective_confidence
from mcp_memory.storage import Transaction
from mcp_memory.text.sameness import Calibration, verdict_on
from mcp_memory.text.wordings import has_wording, with_wordings
from mcp_memory.text.words import tokens

CLOSE = 0.875
"""Similarity from which a memory counts as close, from 0 (unrelated) to 1: a cosine of 0.9 with
all-MiniLM-L6-v2, above which `memory_save` promises a link.
"""

LONGEST_COMPARED = 2000
"""In characters; longer texts are not compared word by word while the write lock is held."""

NEIGHBOURS = 10
"""How many of the nearest memories a new one is compared with."""

Outcome = Literal["created", "equal", "merged"]


@dataclass(frozen=True, slots=True)
class Described:
    """A memory with its effective confidence at this moment and the entities it is about."""

    memory: Memory
    effective_confidence: float
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Similar:
    """A memory that is close to a new one without being the same, and what distinguishes them."""

    memory: Memory
    cosine: float
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """The result of storing a memory."""

    memory: Memory
    outcome: Outcome
    similar: tuple[Similar, ...] = ()
    """Linked to the memory, and otherwise unchanged."""
    entities: tuple[str, ...] = ()
    compared: str = ""
    """How the memory was compared with the others: by content and meaning, or why not by meaning."""
    effective_confidence: float = 1.0
    warnings: tuple[str, ...] = ()
    """What the writer should know, such as that the text seems to hold a credential."""

    @property
    def described(self) -> Described:
        return Described(self.memory, self.effective_confidence, self.entities)


@dataclass(frozen=True, slots=True)
class _BegunText:
    """A text whose vector is being computed; None: it is not, for the model is remote or not loaded."""

    text: str
    wait: Begun | None


@dataclass(frozen=True, slots=True)
class _Examined:
    """What is found out about a text before it is written."""

    meaning: Meaning | ByWordsOnly
    named: Sequence[int] = ()
    """Entities from the client's recent searches that it names."""


@dataclass(frozen=True, slots=True)
class _Near:
    memory: Memory
    cosine: float
    difference: str | None
    """What distinguishes it from the new one; None when both say the same."""
    close: bool
    one_point: bool = False
    """Whether exactly one point distinguishes the two."""


class Remembering(Topic):
    """One read transaction, one embedding, one write transaction."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._indexing = Indexing(context)

    def remember(self, new: NewMemory) -> Stored:
        """Store a memory; one that says the same as another becomes part of it."""
        begun = self._begun(new.content)
        new, warnings = self._screened(new)
        return replace(self._remember(new, begun), warnings=warnings)

    def _remember(self, new: NewMemory, begun: _BegunText) -> Stored:
        if new.importance is None:
            new = replace(new, importance=ORDINARY_IMPORTANCE)
        examined = self._examined(new.content, begun)
        meaning = examined.meaning
        with self._context.writing() as tx:
            equal = self._equal(tx, new.content)
            if equal is not None:
                return self._stored(tx, new, self._join(tx, equal, new), "equal", meaning)
            near = self._near(tx, new, meaning)
            same = next((found for found in near if found.difference is None), None)
            if same is not None and has_wording(same.memory.content, new.content):
                return self._stored(tx, new, self._join(tx, same.memory, new), "equal", meaning)
            if same is not None:
                return self._stored(tx, new, self._absorb(tx, same.memory, new, meaning), "merged", meaning)
            memory = self._add(tx, new, examined)
            for found in near:
                connect(tx, memory, found.memory, "related_to", found.cosine, self._context.new_id)
            return self._stored(tx, new, memory, "created", meaning, near)

    def save(self, new: NewMemory, associations: Sequence[NewAssociation] = ()) -> Stored:
        """Store a memory with associations; a very close older memory is linked as updated by it."""
        begun = self._begun(new.content)
        new, warnings = self._screened(new)
        return replace(self._save(new, associations, begun), warnings=warnings)

    def _save(self, new: NewMemory, associations: Sequence[NewAssociation], begun: _BegunText) -> Stored:
        at_most(len(associations), MOST_ASSOCIATIONS, "associations")
        for association in associations:
            checked_association(association)
        examined = self._examined(new.content, begun)
        meaning = examined.meaning
        with self._context.writing() as tx:
            targets = [(target_of(tx, wanted.target_id), wanted) for wanted in associations]
            equal = self._equal(tx, new.content)
            if equal is not None:
                memory, near = self._join(tx, equal, new), []
            else:
                near = [
                    found for found in self._near(tx, new, meaning) if found.close or not found.difference
                ]
                memory = self._add(tx, new, examined)
            connect_all(tx, memory, targets, self._context.new_id)
            said = {target.seq for target, _ in targets}
            self._update_near(tx, memory, [found for found in near if found.memory.seq not in said])
            return self._stored(tx, new, memory, "created" if equal is None else "equal", meaning, near)

    def _screened(self, new: NewMemory) -> tuple[NewMemory, tuple[str, ...]]:
        context = self._context
        return screened(checked(new, context.limits), context.tuning, context.caller)

    def _equal(self, tx: Transaction, content: str) -> Memory | None:
        """The memory with this content; an archived one comes back, since it is wanted again."""
        equal = tx.memories.equal_to(content)
        if equal is None and (archived := tx.memories.archived_with(content)) is not None:
            remember_again(tx, archived)
            return tx.memories.get(archived.id)
        return equal

    def _begun(self, text: str) -> _BegunText:
        """Start embedding a text while it is still examined: rarely that changes or refuses it."""
        embedder = self._context.embedder
        return _BegunText(text, None if isinstance(embedder, NoModel) else begin(embedder, text, "passage"))

    def _examined(self, content: str, begun: _BegunText) -> _Examined:
        """Embed new content, without first embedding other pending texts, and see meanwhile what is known."""
        has_model = not isinstance(self._context.embedder, NoModel)
        if has_model and begun.text != content:
            begun = self._begun(content)
        with self._context.reading() as tx:
            if has_model and tx.memories.equal_to(content) is not None:
                return _Examined(ByWordsOnly("there is a memory with this content"))
            model, named = tx.indexes.models().get("active"), feedback.named(tx, content)
            if has_model and model is not None:
                # What the write transaction will need.
                tx.indexes.prepare("memory", model)
                tokens(content)
        return _Examined(self._indexing.passage(content, model, begun.wait), named)

    def _update_near(self, tx: Transaction, memory: Memory, near: Sequence[_Near]) -> None:
        for found in near:
            connect(tx, memory, found.memory, "updates", found.cosine, self._context.new_id)
            # Similarity alone does not make an earlier memory outdated: it may be about another port.
            if found.difference is None:
                supersede(tx, found.memory, memory.id)

    def _near(self, tx: Transaction, new: NewMemory, meaning: Meaning | ByWordsOnly) -> list[_Near]:
        """Current memories so close to the new one that they may say the same, the closest first."""
        embedder = self._context.embedder
        if isinstance(meaning, ByWordsOnly) or isinstance(embedder, NoModel):
            return []
        unrelated = embedder.card.unrelated_cosine
        least = Calibration(unrelated).least_cosine
        if not tx.indexes.any_near("memory", meaning.model, meaning.vector, least):
            return []
        closest = dict(
            tx.indexes.nearest("memory", meaning.model, meaning.vector, tx.memories.current, NEIGHBOURS)
        )
        alike = {seq: min(1.0, cosine) for seq, cosine in closest.items() if cosine >= least}
        found = tx.memories.fetch(alike)
        near = [_near(found[seq], new, cosine, unrelated) for seq, cosine in alike.items()]
        return [item for item in near if item.close or item.difference is None or item.one_point]

    def _add(self, tx: Transaction, new: NewMemory, examined: _Examined) -> Memory:
        meaning = examined.meaning
        memory = tx.memories.add(
            **new.stored(),
            id=self._context.new_id(),
            kind=GENERIC_KIND,
            origin="memory",
            pinned=new.is_pinned,
            captured=new.captured,
            project=self._project(new),
            quarantined=new.quarantined,
        )
        if isinstance(meaning, Meaning):
            tx.indexes.supply(meaning.model, "memory", memory.seq, meaning.vector)
        self._link(tx, memory, new)
        feedback.cited(tx, examined.named)
        tx.journal.record(MemoryCreated(memory.id, new.content, new.type))
        return memory

    def _project(self, new: NewMemory) -> str | None:
        """The project of a memory; one about a person belongs to none."""
        if new.project is not None:
            return new.project or None
        is_personal = new.type == PINNED_TYPE or about_a_person(new.content)
        return None if is_personal else self._context.caller.project or None

    def _join(self, tx: Transaction, memory: Memory, new: NewMemory) -> Memory:
        """Update a memory whose content was stored a second time."""
        changes = _additions(tx, memory, new)
        linked = self._link(tx, memory, new)
        if changes:
            tx.memories.revise(memory, "stored again", **changes)
        if changes or linked:
            told = plain_changes(changes) | ({"entities": linked} if linked else {})
            tx.journal.record(MemoryUpdated(memory.id, told))
        return strengthened(tx, memory)

    def _absorb(
        self, tx: Transaction, memory: Memory, new: NewMemory, meaning: Meaning | ByWordsOnly
    ) -> Memory:
        """Merge a new wording into the memory that says the same; the wording becomes a line of it."""
        tx.memories.keep_version(memory, _as_memory(tx, memory, new), "absorbed")
        changes = _additions(tx, memory, new)
        if not new.captured:
            changes["content"] = with_wordings(memory.content, [new.content])
            _supply_between(tx, memory, meaning)
        linked = self._link(tx, memory, new)
        tx.memories.revise(memory, "merged", **changes)
        told = plain_changes(changes) | {"entities": linked}
        tx.journal.record(MemoryUpdated(memory.id, told, absorbed=new.content))
        return strengthened(tx, memory)

    def _link(self, tx: Transaction, memory: Memory, new: NewMemory) -> list[str]:
        """Link the memory to entities by name. The names of those it was not linked to before."""
        known = set(tx.entities.linked_to(memory)) if new.entity_names else set()
        writer = GraphWriter(tx, self._context.new_id)
        linked = []
        for name in new.entity_names:
            entity = writer.mention(name)
            if entity.seq not in known:
                tx.entities.link(entity, memory, new.relevance)
                if entity.updated_at != tx.at:
                    tx.entities.change(entity)
                feedback.extended(tx, [(entity, ())])
                known.add(entity.seq)
                linked.append(entity.name)
        return linked

    def _stored(
        self,
        tx: Transaction,
        new: NewMemory,
        memory: Memory,
        outcome: Outcome,
        meaning: Meaning | ByWordsOnly,
        near: Sequence[_Near] = (),
    ) -> Stored:
        return Stored(
            memory=memory,
            outcome=outcome,
            similar=tuple(
                Similar(found.memory, found.cosine, found.difference or "says the same") for found in near
            ),
            # A new memory is about the entities just named; they need not be looked up.
            entities=tuple(dict.fromkeys(new.entity_names))
            if outcome == "created"
            else entity_names(tx, [memory])[memory.id],
            compared=_compared(meaning),
            effective_confidence=effective_confidence(
                memory.confidence,
                memory.last_used_at,
                tx.at,
                self._context.tuning.half_life,
                memory.pinned_at is not None,
                memory.captured_at is not None,
            ),
        )


def _supply_between(tx: Transaction, memory: Memory, meaning: Meaning | ByWordsOnly) -> None:
    """Give a merged memory the mean vector of both wordings, so that it is found by meaning at once."""
    if isinstance(meaning, ByWordsOnly):
        return
    import numpy as np

    for vector in tx.indexes.vectors("memory", meaning.model, [memory.seq]).values():
        between = np.frombuffer(vector, "<f4") + np.frombuffer(meaning.vector, "<f4")
        unit = (between / np.linalg.norm(between)).astype("<f4")
        tx.indexes.supply(meaning.model, "memory", memory.seq, unit.tobytes())


def entity_names(tx: Transaction, memories: Sequence[Memory]) -> dict[str, tuple[str, ...]]:
    """The names of the entities that each memory is about."""
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
    said = verdict_on(memory.content, new.content, cosine, Calibration(unrelated))
    difference = None if said.same else said.reason
    reworded = said.same and not has_wording(memory.content, new.content)
    if reworded and memory.origin == "observation" and not new.captured:
        difference = "it is an observation of the knowledge graph, which keeps its own words"
    if reworded and len(memory.content) + len(new.content) >= LONGEST_COMPARED:
        difference = "together they would be too long for one memory"
    return _Near(memory, cosine, difference, close, one_point=len(said.differences) == 1)


def _additions(tx: Transaction, memory: Memory, new: NewMemory) -> dict[str, Any]:
    """Fields that a second writing adds to an equivalent memory; existing values are kept."""
    if new.captured:
        # Captured again: this reinforces the memory, but does not change it.
        return {}
    wanted = {
        "tags": tuple(dict.fromkeys((*memory.tags, *new.tags))),
        "metadata": {**memory.metadata, **new.metadata},
        "confidence": max(memory.confidence, new.confidence),
        "importance": max(memory.importance, new.weight),
        "type": new.type if memory.type == PLAIN_TYPE else memory.type,
        **{name: getattr(memory, name) or getattr(new, name) for name in NOTES},
        "origin": "memory",  # stored on its own now, so it stays when an entity drops it
        "superseded_at": None,
        "superseded_by": None,
    }
    if (new.is_pinned or wanted["type"] == PINNED_TYPE) and memory.pinned_at is None:
        wanted["pinned_at"] = tx.at
    return {name: value for name, value in wanted.items() if value != getattr(memory, name)}


def _as_memory(tx: Transaction, memory: Memory, new: NewMemory) -> Memory:
    """The new memory as it would have been stored, for the history of the one that absorbs it."""
    return replace(memory, **new.stored(), created_at=tx.at, updated_at=tx.at)


def plain_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as an event can carry them: JSON values, without bookkeeping times."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in changes.items()
        if not name.endswith("_at")
    }
