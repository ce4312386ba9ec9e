"""A new column is noticed wherever it could be forgotten: each shape shows it, or says that it does not."""

from __future__ import annotations

import dataclasses
from dataclasses import fields
from typing import Annotated, Any

import pytest

from mcp_memory import inputs, model
from mcp_memory.cli import entities as entity_commands
from mcp_memory.cli import memories as memory_commands
from mcp_memory.cli import relations as relation_commands
from mcp_memory.cli import shapes as printed
from mcp_memory.engine import archive_records, history
from mcp_memory.fields import Help, Id, Share, given_fields
from mcp_memory.server.mcp import graph_outputs, memory, memory_maintenance
from mcp_memory.server.rest import entities as rest_entities
from mcp_memory.server.rest import memories as rest_memories
from mcp_memory.server.rest import relations as rest_relations
from mcp_memory.server.shapes import changes, entities, memories
from mcp_memory.server.shapes.shape import Shape, drawn
from mcp_memory.storage.schema import TABLE

pytestmark = pytest.mark.unit

SHOWN_AS = {
    "pinned_at": "pinned",
    "flagged_at": "flagged",
    "superseded_at": "superseded",
    "captured_at": "captured",
    "quarantined_at": "quarantined",
}
"""Moments that outside are only a fact."""

SHAPES: list[tuple[Any, type[Shape], str]] = [
    # The value, one of its shapes, and what that shape leaves out on purpose.
    (model.Memory, memories.Memory, "seq"),
    (model.Memory, printed.MemoryJson, "seq kind origin flagged_at superseded_at"),
    (
        model.Memory,
        memory.MemoryOut,
        "seq kind origin channel flagged_at superseded_at superseded_by forgotten_at forgotten_reason "
        "captured_at project archived_at confirmed_at quarantined_at provenance",
    ),
    (model.Entity, entities.Entity, "seq"),
    (model.Entity, printed.EntityJson, "seq"),
    (model.Entity, graph_outputs.FullEntity, "seq status updated_at"),
    (model.Relation, entities.Relation, "seq source_seq target_seq"),
    (model.Relation, printed.RelationJson, "source_seq target_seq metadata updated_at"),
    (
        model.Relation,
        graph_outputs.FullRelation,
        "seq source_seq target_seq metadata created_at updated_at ended_at",
    ),
    (model.Association, memories.Association, "seq"),
    (model.Reflection, entities.Reflection, "seq target_seq"),
    (model.Event, changes.Event, "seq subject"),
    (history.Change, changes.Change, "cursor"),
    (inputs.NewMemory, rest_memories.MemoryToKeep, "captured project quarantined"),
    (inputs.NewMemory, rest_memories.MemoryChanges,
     "pinned entity_names relevance captured project quarantined"),
    (inputs.NewMemory, memory.StoreMemory, "channel captured project quarantined"),
    (inputs.NewMemory, memory_maintenance.UpdateMemory,
     "channel entity_names relevance captured project quarantined"),
    (inputs.NewEntity, rest_entities.EntityToHave, "same_type"),
    (inputs.NewEntity, rest_entities.EntityChanges, "observations same_type"),
    (inputs.NewRelation, rest_relations.RelationToBegin, "make_ends with_inverse"),
    (inputs.NewRelation, rest_relations.RelationChanges, "source target metadata make_ends with_inverse"),
    (model.Filter, rest_memories.Listing, "entity_seq captured in_project quarantined"),
    (model.Filter, rest_memories.Search, "entity_seq captured in_project quarantined forgotten archived"),
    (
        model.Filter,
        memory.RecallMemories,
        "below_confidence entity_seq channel forgotten pinned superseded captured in_project "
        "archived quarantined",
    ),
]  # fmt: skip
"""Shapes drawn with `only` are short on purpose, and take no new field by themselves."""


@pytest.mark.parametrize(
    ("value", "shape", "left_out"), SHAPES, ids=lambda case: getattr(case, "__name__", "")
)
def test_every_field_of_a_value_is_shown_or_left_out_on_purpose(
    value: Any, shape: type[Shape], left_out: str
) -> None:
    shown = set(shape.model_fields)
    names = {field.name for field in fields(value)}
    missing = {name for name in names if name not in shown and SHOWN_AS.get(name) not in shown}
    assert missing == set(left_out.split())


ASKED: list[tuple[Any, Any, str]] = [
    # The value, the command that takes it, and fields that the command takes otherwise or not.
    (inputs.NewMemory, memory_commands.remember, "content"),
    (inputs.NewMemory, memory_commands.memories.commands["edit"], "entity_names relevance"),
    (inputs.NewEntity, entity_commands.create, ""),
    (inputs.NewRelation, relation_commands.create, ""),
    (model.Filter, memory_commands.recall, "forgotten archived"),
    (model.Filter, memory_commands.memories.commands["list"], ""),
]


@pytest.mark.parametrize(("value", "command", "left_out"), ASKED)
def test_what_callers_may_give_can_be_given_on_the_command_line(
    value: Any, command: Any, left_out: str
) -> None:
    options = {parameter.name for parameter in command.params}
    assert {one.name for one in given_fields(value)} - options == set(left_out.split())


def test_every_column_is_exported_and_imported_again() -> None:
    """Except who wrote it: that is never taken from a file."""
    assert set(archive_records._FIELDS["memory"]) == set(TABLE["memory"].portable) - {"provenance"}


WRITTEN_BY_THE_ENGINE = (
    "id seq kind origin pinned_at created_at updated_at accessed_at access_count version flagged_at "
    "forgotten_at forgotten_reason superseded_at superseded_by captured_at project archived_at "
    "confirmed_at quarantined_at provenance"
)


def test_every_column_is_written_by_callers_or_by_the_engine_alone() -> None:
    inside = {field.name for field in fields(model.Memory)} - set(inputs.WRITTEN)
    assert inside == set(WRITTEN_BY_THE_ENGINE.split())


NOT_FILTERED = "content context metadata importance"


def test_every_column_that_callers_write_can_be_filtered_by_or_not_on_purpose() -> None:
    ways = {"types": "type", "min_confidence": "confidence"}
    filtered = {ways.get(one.name, one.name) for one in given_fields(model.Filter)}
    assert set(inputs.WRITTEN) - filtered == set(NOT_FILTERED.split())


def test_every_filter_has_a_condition() -> None:
    """Those that equal a column or ask whether a moment is set have theirs by their name."""
    by_hand = {"types", "tags", "min_confidence", "below_confidence", "after", "before", "entity_seq",
               "in_project", "forgotten"}  # fmt: skip
    derived = {*model.EQUAL_FILTERS, *model.MARK_FILTERS}
    assert {field.name for field in fields(model.Filter)} == by_hand | derived


@dataclasses.dataclass(frozen=True, slots=True)
class Inner:
    id: str
    size: int


@dataclasses.dataclass(frozen=True, slots=True)
class Outer:
    memory: Inner
    score: float


class Wide(Shape):
    id: str
    size: int


@dataclasses.dataclass(frozen=True, slots=True)
class Described:
    id: Id
    share: Annotated[Share | None, Help("How much of it.")] = None
    seq: int = 0


@drawn(Described, without="seq", share="part")
class Drawn(Shape):
    pass


@drawn(Wide, size="length")
class Renamed(Shape):
    """With a word of its own."""

    score: float


def test_a_shape_reads_a_value_and_the_value_it_carries() -> None:
    shown = Renamed.of(Outer(Inner("a", 3), 0.5))
    assert shown.model_dump() == {"id": "a", "length": 3, "score": 0.5}


def test_what_is_said_besides_the_value_comes_first() -> None:
    assert Renamed.of(Outer(Inner("a", 3), 0.5), score=1).model_dump()["score"] == 1


def test_a_shape_drawn_from_a_value_has_its_fields_with_their_descriptions() -> None:
    assert Drawn.of(Described("a", 0.5)).model_dump() == {"id": "a", "part": 0.5}
    described = Drawn.model_json_schema(mode="serialization")
    assert described["properties"]["id"]["format"] == "uuid"
    assert described["properties"]["part"]["description"] == "How much of it."
    assert described["required"] == ["id", "part"]


def test_a_shape_drawn_from_a_value_checks_its_ranges() -> None:
    with pytest.raises(ValueError, match="less than or equal to 1"):
        Drawn.of(Described("a", 1.5))


def test_a_vocabulary_can_leave_out_and_rename_but_not_invent() -> None:
    with pytest.raises(KeyError, match="colour"):
        drawn(Wide, only="id colour")
    with pytest.raises(KeyError, match="colour"):
        drawn(Wide, colour="hue")
