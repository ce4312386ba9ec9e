"""The graph tool set: entities, observations and relations, in either spelling a caller knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mcp_memory.errors import EntityNotFound, Invalid
from mcp_memory.server.mcp import graph_curation
from mcp_memory.server.mcp.graph_inputs import (
    AddObservations,
    CreateEntities,
    DeleteEntities,
    DeleteObservations,
    EndRelation,
    Migrate,
    ObservationsOf,
    OpenNodes,
    ReadGraph,
    SearchNodes,
    SomeRelations,
)
from mcp_memory.server.mcp.graph_outputs import (
    AddedTo,
    DetailedEntity,
    EntitiesDeleted,
    EntitiesMade,
    FileImported,
    FullEntity,
    GraphPage,
    NodesFound,
    NodesOpened,
    ObservationsAdded,
    ObservationsDeleted,
    OpenedEntity,
    PlainEntity,
    RelationEnd,
    RelationsDeleted,
    RelationsMade,
    outcome_of,
    spelled,
)
from mcp_memory.server.mcp.graph_search import search_semantic
from mcp_memory.server.mcp.tools import CHANGES, DELETES, READS, Tell, ToolSet, tool

if TYPE_CHECKING:
    from mcp_memory.engine import Engine
    from mcp_memory.model import Reflection


@tool(title="Create or Update Entities", annotations=CHANGES)
def create_entities(engine: Engine, arguments: CreateEntities) -> EntitiesMade:
    """Put people, projects, things or ideas into the knowledge graph, with what is known about them.

    Use it for something new, or to give an existing entity a type, a description or more observations:
    observations are merged and nothing is lost. To add facts to an entity that exists, add_observations is
    simpler. All entities of a call are kept, or none.
    """
    nodes = engine.graph.create_entities([item.wanted() for item in arguments.entities])
    return EntitiesMade.of(
        entities=[
            (PlainEntity if item.is_plain else FullEntity).of(node)
            for item, node in zip(arguments.entities, nodes, strict=True)
        ]
    )


@tool(title="Create Relations", annotations=CHANGES)
def create_relations(engine: Engine, arguments: SomeRelations) -> RelationsMade:
    """Connect entities: who works where, what depends on what.

    With from/to/relationType both entities must exist; with source/target/relation_type missing ones are
    made. Good relations of a call are kept even if others fail; `errors` lists the failures.
    """
    outcomes = engine.graph.create_relations([item.wanted() for item in arguments.relations])
    missing = [str(EntityNotFound(outcome.missing)) for outcome in outcomes if outcome.missing is not None]
    made = [outcome_of(item, outcome) for item, outcome in zip(arguments.relations, outcomes, strict=True)]
    return RelationsMade.of(relations=made, errors=missing)


@tool(title="Add Observations", annotations=CHANGES)
def add_observations(engine: Engine, arguments: AddObservations) -> ObservationsAdded:
    """Add facts to an entity that exists; facts it already has are skipped.

    Use `supersedes` when a fact has changed: the old one is kept as history and no longer found.
    For an entity that does not exist yet, use create_entities.
    """
    graph = engine.graph
    texts = [item for item in arguments.observations if isinstance(item, str)]
    groups = [item for item in arguments.observations if isinstance(item, ObservationsOf)]
    if arguments.name is None:
        if texts or arguments.kind or arguments.supersedes:
            raise Invalid("say which entity the observations are about: give `name`")
        added = graph.add_to_each([(group.entityName, group.contents) for group in groups])
        results = [AddedTo(entityName=name, addedObservations=new) for name, new in added]
        return ObservationsAdded(results=results)
    if groups:
        raise Invalid("with `name`, observations are texts; leave `name` out to give several entities")
    node = graph.add_observations(
        arguments.name,
        texts,
        supersedes=arguments.supersedes,
        **({"kind": arguments.kind} if arguments.kind else {}),
    )
    return ObservationsAdded.of(entity=node)


@tool(title="Delete Entities", annotations=DELETES)
def delete_entities(engine: Engine, arguments: DeleteEntities) -> EntitiesDeleted:
    """Delete entities with their observations and relations.

    Only for what should not be known any more; to say that something is over, set its status or end its
    relations. Names that do not exist are reported and do not stop the others. Can be undone for 30 days.
    """
    gone = engine.graph.delete_entities(
        [*arguments.entityNames, *arguments.entity_names], cascade_memories=arguments.cascade_memories
    )
    return EntitiesDeleted.of(
        gone,
        errors=[str(EntityNotFound(name)) for name in gone.missing],
        remaining=[f"Another {one.name} of type {one.type} remains" for one in gone.remaining],
    )


@tool(title="Delete Observations", annotations=DELETES)
def delete_observations(engine: Engine, arguments: DeleteObservations) -> ObservationsDeleted:
    """Remove observations from an entity, by their exact text; the entity stays.

    For a fact that has changed, add_observations with `supersedes` keeps the history. Texts that the entity
    does not have are skipped.
    """
    graph = engine.graph
    if arguments.name is not None:
        return ObservationsDeleted.of(
            entity=graph.delete_observations(arguments.name, arguments.observations)
        )
    if not arguments.deletions:
        raise Invalid("say what to delete: `name` and `observations`, or `deletions`")
    gone = graph.delete_from_each([(item.entityName, item.observations) for item in arguments.deletions])
    wanted = sum(len(item.observations) for item in arguments.deletions)
    removed = sum(count for _, count in gone.deleted)
    message = f"Deleted {removed} of {wanted} observations."
    if gone.missing:
        message += f" Entities not found: {', '.join(gone.missing)}"
    return ObservationsDeleted(success=True, message=message)


@tool(title="Delete Relations", annotations=DELETES)
def delete_relations(engine: Engine, arguments: SomeRelations) -> RelationsDeleted:
    """Delete relations that were never true, as if they had not been.

    For one that is over, end_relation keeps its history.
    """
    gone = engine.graph.delete_relations([item.triple() for item in arguments.relations])
    asked = {item.triple(): item for item in arguments.relations}
    deleted = [spelled(asked[triple]) for triple in gone.deleted]
    return RelationsDeleted.of(deleted=deleted, errors=list(gone.missing))


@tool(title="Search Nodes by Text", annotations=READS)
def search_nodes(engine: Engine, arguments: SearchNodes) -> NodesFound:
    """Find entities that hold an exact piece of text in their name, type or observations.

    Use it for names, numbers and code; for a question or an idea in other words use search_semantic.
    """
    page = engine.graph.search_nodes(arguments.query, limit=arguments.limit, after=arguments.cursor)
    return NodesFound.of(page, page.graph)


@tool(title="Open Nodes", annotations=READS)
def open_nodes(engine: Engine, arguments: OpenNodes) -> NodesOpened:
    """Read entities whose exact names you know, with all their observations.

    Set `details` for their relations, statuses and the ids that end_relation and add_reflection take.
    """
    graph = engine.graph.open_nodes(
        arguments.names,
        kinds=arguments.kinds,
        superseded=arguments.include_superseded,
        as_of=arguments.as_of,
        relations=arguments.details,
    )
    about: Mapping[int, Sequence[Reflection]] | None = None
    if arguments.include_reflections:
        about = engine.reflections.about_entities([node.entity.seq for node in graph.nodes])
    shape = DetailedEntity if arguments.details else OpenedEntity
    shown = [
        shape.of(node, reflections=None if about is None else about.get(node.entity.seq, ()))
        for node in graph.nodes
    ]
    if not arguments.details:
        return NodesOpened.of(entities=shown)
    return NodesOpened.of(entities=shown, relations=graph.relations, relation_count=graph.relation_count)


@tool(title="Read the Graph", annotations=READS)
def read_graph(engine: Engine, arguments: ReadGraph) -> GraphPage:
    """Read the whole graph a page at a time, oldest entities first, with relations and their ids.

    For an overview or an export. To find something, search instead: a graph can be large.
    """
    page = engine.graph.read(limit=arguments.limit, after=arguments.cursor)
    return GraphPage.of(page, page.graph)


@tool(title="End a Relation", annotations=CHANGES)
def end_relation(engine: Engine, arguments: EndRelation) -> RelationEnd:
    """Say that a relation no longer holds, keeping the fact that it did.

    Give its relation_id, or from, to and relationType. The inverse of contiene/parte_de ends with it.
    """
    from mcp_memory.engine.relating import Triple

    which: int | Triple
    if arguments.relation_id is not None:
        which = arguments.relation_id
    elif arguments.from_ and arguments.to and arguments.relationType:
        which = Triple(arguments.from_, arguments.to, arguments.relationType)
    else:
        raise Invalid("say which relation: relation_id, or from, to and relationType")
    ended = engine.graph.end_relation(which)
    number = ended.relation.seq
    if ended.already:
        return RelationEnd(result=f"Relation {number} was already expired")
    inverse = ended.inverse.seq if ended.inverse else None
    return RelationEnd(result=f"Relation {number} expired successfully", inverse_id=inverse)


@tool(title="Import a Memory File", annotations=CHANGES)
def migrate(engine: Engine, arguments: Migrate, tell: Tell) -> FileImported:
    """Import the JSONL file of Anthropic's memory server. Doing it again changes nothing."""
    done = engine.transfer.import_anthropic(arguments.source_path, progress=tell)
    return FileImported.of(done)


TOOLS = ToolSet(
    name="graph",
    tools=(
        create_entities,
        create_relations,
        add_observations,
        delete_entities,
        delete_observations,
        delete_relations,
        search_semantic,
        search_nodes,
        open_nodes,
        read_graph,
        end_relation,
        migrate,
        *graph_curation.TOOLS,
    ),
)
