"""Arguments of the graph tools, in both spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from mcp_memory.errors import Invalid
from mcp_memory.server.mcp.tools import Arguments, Moment, Sized

if TYPE_CHECKING:
    from mcp_memory.engine.relating import Triple
    from mcp_memory.inputs import NewEntity, NewRelation


class EntityItem(Arguments):
    name: Annotated[str, Field(description="What the entity is called; this is how it is found again.")]
    entityType: Annotated[  # noqa: N815 - the wire's spelling
        str | None, Field(description="What kind of thing it is, e.g. Person, Project, Component.")
    ] = None
    observations: Annotated[
        list[str], Field(description="Short facts about it, one each. Those it already has are skipped.")
    ] = []
    entity_type: Annotated[
        str | None,
        Field(
            description="Instead of entityType: an entity of this name but another type is another entity."
        ),
    ] = None
    description: Annotated[str | None, Field(description="One sentence that says what it is.")] = None
    metadata: Annotated[dict[str, Any], Field(description="Anything else worth keeping with it.")] = {}
    status: Annotated[
        str | None, Field(description="active, paused, completed or archived; the latter are ranked lower.")
    ] = None

    @property
    def is_plain(self) -> bool:
        """Whether the caller uses entityType and observations, not entity_type and description."""
        return self.entity_type is None and self.description is None and "metadata" not in self.given()

    def wanted(self) -> NewEntity:
        from mcp_memory.inputs import NewEntity

        return self.fill(
            NewEntity, type=self.entity_type or self.entityType, same_type=self.entity_type is not None
        )


class CreateEntities(Arguments):
    entities: Annotated[list[EntityItem], Field(description="At most 50.")]


class RelationItem(Arguments):
    from_: Annotated[
        str | None, Field(alias="from", description="The entity the relation starts at. It must exist.")
    ] = None
    to: Annotated[str | None, Field(description="The entity the relation leads to. It must exist.")] = None
    relationType: Annotated[  # noqa: N815 - the wire's spelling
        str | None, Field(description="In active voice, e.g. uses, depends_on, works_at.")
    ] = None
    source: Annotated[
        str | None,
        Field(description="Instead of `from`: an entity that does not exist is made, type unknown."),
    ] = None
    target: Annotated[str | None, Field(description="Instead of `to`: made in the same way.")] = None
    relation_type: Annotated[str | None, Field(description="Instead of relationType.")] = None
    strength: Annotated[float | None, Field(description="How strong the connection is, 0 to 1.")] = None
    confidence: Annotated[float | None, Field(description="How sure it is, 0 to 1.")] = None
    context: Annotated[str | None, Field(description="Why or where this holds.")] = None
    metadata: Annotated[dict[str, Any], Field(description="Anything else worth keeping with it.")] = {}

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
        from mcp_memory.inputs import NewRelation

        source, target, type = self.ends
        ends = {"source": source, "target": target, "type": type}
        return self.fill(NewRelation, **ends, make_ends=not self.is_plain, with_inverse=self.is_plain)

    def triple(self) -> Triple:
        from mcp_memory.engine.relating import Triple

        return Triple(*self.ends)


class SomeRelations(Arguments):
    relations: list[RelationItem]


class ObservationsOf(Arguments):
    entityName: Annotated[str, Field(description="The entity's exact name. It must exist.")]  # noqa: N815
    contents: Annotated[list[str], Field(description="Facts to add, one each.")]


class AddObservations(Arguments):
    name: Annotated[str | None, Field(description="The entity's exact name. It must exist.")] = None
    observations: Annotated[
        list[str | ObservationsOf],
        Field(description="With `name`: the facts. Without: one {entityName, contents} for each entity."),
    ]
    kind: Annotated[
        str | None,
        Field(description="What the facts are: finding, decision, state, spec, metric, metadata or generic."),
    ] = None
    supersedes: Annotated[
        str | None,
        Field(description="The text or id of an observation of this entity that the last new one replaces."),
    ] = None


class UnwantedOf(Arguments):
    entityName: Annotated[str, Field(description="The entity's exact name.")]  # noqa: N815
    observations: Annotated[list[str], Field(description="The exact texts to take away.")]


class DeleteObservations(Arguments):
    name: Annotated[str | None, Field(description="The entity's exact name.")] = None
    observations: Annotated[list[str], Field(description="The exact texts to take away.")] = []
    deletions: Annotated[
        list[UnwantedOf], Field(description="Instead of name and observations: several entities at once.")
    ] = []


class DeleteEntities(Arguments):
    entityNames: Annotated[list[str], Field(description="Names of the entities to delete.")] = []  # noqa: N815
    entity_names: Annotated[list[str], Field(description="Instead of entityNames.")] = []
    cascade_memories: Annotated[
        bool, Field(description="Delete also the memories that were stored in their own right about them.")
    ] = False


class SearchNodes(Sized):
    query: Annotated[str, Field(description="A piece of text; case does not matter, % and _ are just text.")]
    limit: Annotated[int, Field(description="How many entities at most.", ge=1, le=200)] = 100
    cursor: Annotated[int, Field(description="The `next_cursor` of the page before.", ge=0)] = 0


class OpenNodes(Sized):
    names: Annotated[list[str], Field(description="Exact names. Unknown ones are skipped.")]
    kinds: Annotated[list[str], Field(description="Only observations of these kinds.")] = []
    include_superseded: Annotated[
        bool, Field(description="Also superseded observations, and relations that ended.")
    ] = False
    details: Annotated[
        bool,
        Field(description="Also ids for other tools, status, relations, and what each observation is."),
    ] = False
    include_reflections: Annotated[bool, Field(description="Also reflections about them.")] = False
    as_of: Annotated[
        Moment | None, Field(description="Read what was known at this earlier time instead of now.")
    ] = None


class ReadGraph(Sized):
    limit: Annotated[int, Field(description="How many entities at most.", ge=1, le=1000)] = 100
    cursor: Annotated[int, Field(description="The `next_cursor` of the page before.", ge=0)] = 0


class EndRelation(Arguments):
    relation_id: Annotated[
        int | None, Field(description="The relation's number, from read_graph or open_nodes with details.")
    ] = None
    from_: Annotated[str | None, Field(validation_alias="from", description="Instead: where it starts.")] = (
        None
    )
    to: Annotated[str | None, Field(description="Instead: where it leads.")] = None
    relationType: Annotated[str | None, Field(description="Instead: its type.")] = None  # noqa: N815


class Migrate(Arguments):
    source_path: Annotated[str, Field(description="The JSONL file; ~ is the home folder.")]
