"""Creates entities; one that exists already is filled in with what is new."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mcp_memory.engine.graph_writer import GraphWriter
from mcp_memory.inputs import NewEntity
from mcp_memory.model import UNKNOWN_TYPE, Entity, Node
from mcp_memory.storage import Transaction


def put_entities(tx: Transaction, writer: GraphWriter, wanted: Sequence[NewEntity]) -> list[Node]:
    """Create the entities, or update those that exist; observations are merged."""
    known = tx.entities.named(entity.name for entity in wanted)
    new: dict[str, int] = {}
    for place, entity in enumerate(wanted):
        if entity.name not in known:
            new.setdefault(entity.name, place)
    for made in writer.add_entities([_typed(wanted[place]) for place in new.values()]):
        known[made.name] = [made]
    entities = [
        known[entity.name][0]
        if new.get(entity.name) == place
        else _put_known(writer, entity, known[entity.name])
        for place, entity in enumerate(wanted)
    ]
    each = writer.observe(
        [(entity, asked.observations) for entity, asked in zip(entities, wanted, strict=True)]
    )
    if len(new) == len(wanted):
        # Nothing but what was just written is known about them.
        return [Node(entity, tuple(added)) for entity, added in zip(entities, each, strict=True)]
    now = tx.entities.fetch(entity.seq for entity in entities)
    return tx.entities.nodes(now[entity.seq] for entity in entities)


def _typed(wanted: NewEntity) -> NewEntity:
    """An empty type is none."""
    return replace(wanted, type=None) if wanted.type == "" else wanted


def _put_known(writer: GraphWriter, wanted: NewEntity, same_name: list[Entity]) -> Entity:
    """Create or fill in an entity whose name is taken. `same_name` is kept up to date."""
    meant = matching_entity(same_name, wanted)
    if meant is None:
        [entity] = writer.add_entities([_typed(wanted)])
        same_name.append(entity)
    else:
        entity = writer.change_entity(meant, _additions(meant, wanted))
        same_name[same_name.index(meant)] = entity
    return entity


def _additions(entity: Entity, wanted: NewEntity) -> dict[str, Any]:
    """The changes that an entity takes over from a new one; fields not given stay."""
    given = {"type": wanted.type, "description": wanted.description, "status": wanted.status}
    return {
        "metadata": {**entity.metadata, **wanted.metadata},
        **{name: value for name, value in given.items() if value is not None},
    }


def matching_entity(found: Sequence[Entity], wanted: NewEntity) -> Entity | None:
    """The entity that a new one updates, among those with its name."""
    exact = next((entity for entity in found if entity.type == wanted.type), None)
    placeholder = next((entity for entity in found if entity.type == UNKNOWN_TYPE), None)
    if wanted.same_type and wanted.type is not None:
        return exact or placeholder
    return exact or (found[0] if found else None)
