"""Relations as callers name them: by number, by id, or by both ends and type."""

from collections.abc import Mapping
from dataclasses import dataclass

from mcp_memory.errors import EntityNotFound, NotFound
from mcp_memory.inputs import NewRelation
from mcp_memory.model import Relation
from mcp_memory.storage import Transaction

INVERSES: Mapping[str, str] = {"contiene": "parte_de", "parte_de": "contiene"}
"""Relation types that say the same from both ends: such a pair begins, ends and is deleted together."""


@dataclass(frozen=True, slots=True)
class RelationOutcome:
    """The result of one wanted relation: the relation, whether it existed, or which end is missing."""

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


def find_relation(tx: Transaction, triple: Triple) -> Relation | str:
    """The active relation between these two; if there is none, a message that says what is missing."""
    source, target = tx.entities.find_one(triple.source), tx.entities.find_one(triple.target)
    if source is None or target is None:
        return str(EntityNotFound(f"{triple.source} or {triple.target}"))
    return tx.relations.active(source, target, triple.type) or _missing(triple)


def get_relation(tx: Transaction, which: int | str | Triple) -> Relation:
    """The relation by its number, its id, or its ends and type."""
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
    """The active relation that says the same from the other end, if there is one."""
    if relation.type not in INVERSES:
        return None
    source, target = tx.entities.get_seq(relation.target_seq), tx.entities.get_seq(relation.source_seq)
    return tx.relations.active(source, target, INVERSES[relation.type])


def _missing(triple: Triple) -> str:
    return f"Relation not found: {triple.source} -> {triple.target} ({triple.type})"
