"""How two entities come to be related, and how that is taken back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcp_memory.engine import feedback
from mcp_memory.engine.observing import mention
from mcp_memory.errors import NotFound
from mcp_memory.model import Entity, Relation
from mcp_memory.storage import Transaction

INVERSES: Mapping[str, str] = {"contiene": "parte_de", "parte_de": "contiene"}
"""Relations that say the same thing from both ends: they begin, end and go together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewRelation:
    """A relation somebody wants; `make_ends` makes entities that are only mentioned, instead of refusing."""

    source: str
    target: str
    type: str
    strength: float | None = None
    confidence: float | None = None
    context: str | None = None
    make_ends: bool = False
    with_inverse: bool = False


@dataclass(frozen=True, slots=True)
class RelationOutcome:
    """What became of one wanted relation: it, whether it was there before, or which end is missing."""

    wanted: NewRelation
    relation: Relation | None = None
    existed: bool = False
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Triple:
    """A relation by its two ends and type."""

    source: str
    target: str
    type: str


def relate(tx: Transaction, wanted: NewRelation, new_id: Callable[[], str]) -> RelationOutcome:
    """Have the relation there; one that is there already takes over what is said about it."""
    ends = [tx.entities.find_one(name) for name in (wanted.source, wanted.target)]
    if wanted.make_ends:
        ends = [
            end or mention(tx, name, new_id)
            for end, name in zip(ends, (wanted.source, wanted.target), strict=True)
        ]
        if wanted.source == wanted.target:
            ends = [ends[0], ends[0]]
    source, target = ends
    if source is None or target is None:
        return RelationOutcome(wanted, missing=wanted.source if source is None else wanted.target)
    feedback.related(tx, [source, target])
    existing = tx.relations.active(source, target, wanted.type)
    if existing is not None:
        return RelationOutcome(wanted, _strengthened(tx, existing, wanted), existed=True)
    relation = _begun(tx, source, target, wanted.type, wanted, new_id())
    inverse = INVERSES.get(wanted.type)
    if inverse and wanted.with_inverse and tx.relations.active(target, source, inverse) is None:
        _begun(tx, target, source, inverse, wanted, new_id())
    return RelationOutcome(wanted, relation)


def unrelate(tx: Transaction, relation: Relation) -> None:
    """Take a relation away, with the one that says the same from the other end."""
    inverse = None if relation.ended_at else inverse_of(tx, relation)
    for gone in filter(None, (relation, inverse)):
        tx.relations.remove(gone)
        tx.journal.record(
            "relation_deleted", gone.id, id=gone.id, source=gone.source, target=gone.target, type=gone.type
        )


def find_relation(tx: Transaction, triple: Triple) -> Relation | str:
    """The active relation between these two; if there is none, what is missing."""
    source, target = tx.entities.find_one(triple.source), tx.entities.find_one(triple.target)
    if source is None or target is None:
        return f"Entity not found: {triple.source} or {triple.target}"
    return tx.relations.active(source, target, triple.type) or _missing(triple)


def get_relation(tx: Transaction, which: int | str | Triple) -> Relation:
    """By its number, its id, or its two ends and type."""
    if isinstance(which, int):
        return tx.relations.get_seq(which)
    if isinstance(which, str):
        return tx.relations.get_id(which)
    source, target = tx.entities.get(which.source), tx.entities.get(which.target)
    relation = tx.relations.active(source, target, which.type)
    if relation is None:
        raise NotFound(_missing(which))
    return relation


def inverse_of(tx: Transaction, relation: Relation) -> Relation | None:
    """The one that says the same from the other end, if there is one."""
    if relation.type not in INVERSES:
        return None
    source, target = tx.entities.get_seq(relation.target_seq), tx.entities.get_seq(relation.source_seq)
    return tx.relations.active(source, target, INVERSES[relation.type])


def _begun(
    tx: Transaction, source: Entity, target: Entity, type: str, wanted: NewRelation, id: str
) -> Relation:
    relation = tx.relations.add(
        id=id,
        source=source,
        target=target,
        type=type,
        strength=0.5 if wanted.strength is None else wanted.strength,
        confidence=1.0 if wanted.confidence is None else wanted.confidence,
        context=wanted.context,
    )
    tx.journal.record("relation_created", id, id=id, source=source.name, target=target.name, type=type)
    return relation


def _strengthened(tx: Transaction, relation: Relation, wanted: NewRelation) -> Relation:
    given = {"strength": wanted.strength, "confidence": wanted.confidence, "context": wanted.context}
    changes = {
        name: value for name, value in given.items() if value is not None and value != getattr(relation, name)
    }
    if not changes:
        return relation
    changed = tx.relations.change(relation, **changes)
    tx.journal.record("relation_updated", relation.id, id=relation.id, changes=changes)
    return changed


def _missing(triple: Triple) -> str:
    return f"Relation not found: {triple.source} -> {triple.target} ({triple.type})"
