"""Arguments of the graph tools, in both spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from mcp_memory.errors import Invalid
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.server.mcp.tools import Arguments, Moment, Sized

if TYPE_CHECKING:
    from mcp_memory.engine.relating import Triple


class EntityItem(Arguments):
    name: str = Field(description="What the entity is called; this is how it is found again.")
    entityType: str | None = Field(
        None, description="What kind of thing it is, e.g. Person, Project, Component."
    )
    observations: list[str] = Field(
        default_factory=list, description="Short facts about it, one each. Those it already has are skipped."
    )
    entity_type: str | None = Field(
        None, description="Instead of entityType: an entity of this name but another type is another entity."
    )
    description: str | None = Field(None, description="One sentence that says what it is.")
    # Made anew, for pydantic copies an empty one in Python, for each item.
    metadata: dict[str, Any] = Field(default_factory=dict, description="Anything else worth keeping with it.")
    status: str | None = Field(
        None, description="active, paused, completed or archived; the latter are ranked lower."
    )

    @property
    def is_plain(self) -> bool:
        """Whether the caller uses entityType and observations, not entity_type and description."""
        return (
            self.entity_type is None and self.description is None and "metadata" not in self.model_fields_set
        )

    def wanted(self) -> NewEntity:
        return self.fill(
            NewEntity, type=self.entity_type or self.entityType, same_type=self.entity_type is not None
        )


class CreateEntities(Arguments):
    entities: list[EntityItem] = Field(description="At most 50.")


class RelationItem(Arguments):
    from_: str | None = Field(
        None, alias="from", description="The entity the relation starts at. It must exist."
    )
    to: str | None = Field(None, description="The entity the relation leads to. It must exist.")
    relationType: str | None = Field(None, description="In active voice, e.g. uses, depends_on, works_at.")
    source: str | None = Field(
        None, description="Instead of `from`: an entity that does not exist is made, type unknown."
    )
    target: str | None = Field(None, description="Instead of `to`: made in the same way.")
    relation_type: str | None = Field(None, description="Instead of relationType.")
    strength: float | None = Field(None, description="How strong the connection is, 0 to 1.")
    confidence: float | None = Field(None, description="How sure it is, 0 to 1.")
    context: str | None = Field(None, description="Why or where this holds.")
    # Made anew, for pydantic copies an empty one in Python, for each item.
    metadata: dict[str, Any] = Field(default_factory=dict, description="Anything else worth keeping with it.")

    @property
    def is_plain(self) -> bool:
        """Whether the caller uses from, to and relationType."""
        return self.source is None and self.target is None and self.relation_type is None

    @property
    def ends(self) -> tuple[str, str, str]:
        given = (self.from_ or self.source, self.to or self.target, self.relationType or self.relation_type)
        if not all(given):
            raise Invalid("a relation needs from, to and relationType (or source, target and relation_type)")
        source, target, type = given
        return str(source), str(target), str(type)

    def wanted(self) -> NewRelation:
        source, target, type = self.ends
        ends = {"source": source, "target": target, "type": type}
        return self.fill(NewRelation, **ends, make_ends=not self.is_plain, with_inverse=self.is_plain)

    def triple(self) -> Triple:
        from mcp_memory.engine.relating import Triple

        return Triple(*self.ends)


class SomeRelations(Arguments):
    relations: list[RelationItem]


class ObservationsOf(Arguments):
    entityName: str = Field(description="The entity's exact name. It must exist.")
    contents: list[str] = Field(description="Facts to add, one each.")


class AddObservations(Arguments):
    name: str | None = Field(None, description="The entity's exact name. It must exist.")
    observations: list[str | ObservationsOf] = Field(
        description="With `name`: the facts. Without: one {entityName, contents} for each entity."
    )
    kind: str | None = Field(
        None, description="What the facts are: finding, decision, state, spec, metric, metadata or generic."
    )
    supersedes: str | None = Field(
        None, description="The text or id of an observation of this entity that the last new one replaces."
    )


class UnwantedOf(Arguments):
    entityName: str = Field(description="The entity's exact name.")
    observations: list[str] = Field(description="The exact texts to take away.")


class DeleteObservations(Arguments):
    name: str | None = Field(None, description="The entity's exact name.")
    observations: list[str] = Field([], description="The exact texts to take away.")
    deletions: list[UnwantedOf] = Field(
        [], description="Instead of name and observations: several entities at once."
    )


class DeleteEntities(Arguments):
    entityNames: list[str] = Field([], description="Names of the entities to delete.")
    entity_names: list[str] = Field([], description="Instead of entityNames.")
    cascade_memories: bool = Field(
        False, description="Delete also the memories that were stored in their own right about them."
    )


class SearchNodes(Sized):
    query: str = Field(description="A piece of text; case does not matter, % and _ are just text.")
    limit: int = Field(100, description="How many entities at most.", ge=1, le=200)
    cursor: int = Field(0, description="The `next_cursor` of the page before.", ge=0)


class OpenNodes(Sized):
    names: list[str] = Field(description="Exact names. Unknown ones are skipped.")
    kinds: list[str] = Field([], description="Only observations of these kinds.")
    include_superseded: bool = Field(
        False, description="Also superseded observations, and relations that ended."
    )
    details: bool = Field(
        False, description="Also ids for other tools, status, relations, and what each observation is."
    )
    include_reflections: bool = Field(False, description="Also reflections about them.")
    as_of: Moment | None = Field(None, description="Read what was known at this earlier time instead of now.")


class ReadGraph(Sized):
    limit: int = Field(100, description="How many entities at most.", ge=1, le=1000)
    cursor: int = Field(0, description="The `next_cursor` of the page before.", ge=0)


class EndRelation(Arguments):
    relation_id: int | None = Field(
        None, description="The relation's number, from read_graph or open_nodes with details."
    )
    from_: str | None = Field(None, validation_alias="from", description="Instead: where it starts.")
    to: str | None = Field(None, description="Instead: where it leads.")
    relationType: str | None = Field(None, description="Instead: its type.")


class Migrate(Arguments):
    source_path: str = Field(description="The JSONL file; ~ is the home folder.")
