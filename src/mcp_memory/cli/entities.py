"""Commands on entities."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from mcp_memory.cli.lazy import SuggestingGroup
from mcp_memory.cli.options import ENTITY_NAME, as_of_option, given, options_for
from mcp_memory.cli.output import counted, json_option, limit_option, note, print_json, say, table
from mcp_memory.cli.rendering import entity_json, graph_json, node_json, print_nodes, print_relations
from mcp_memory.cli.session import Session
from mcp_memory.inputs import NewEntity


@click.group(cls=SuggestingGroup)
def entities() -> None:
    """List, show, create and delete entities."""


@entities.command("list")
@click.option("--type", help="Only of this type.")
@click.option("--status", help="Only with this status.")
@limit_option(50)
@click.option("--offset", type=click.IntRange(0), default=0, help="Skip this many.")
@json_option
@click.pass_obj
def list_(
    session: Session, type: str | None, status: str | None, limit: int, offset: int, as_json: bool
) -> None:
    """List entities in the order they were stored."""
    found = session.engine.entities.find(type=type, status=status, limit=limit, offset=offset)
    if as_json:
        listed = [
            {**entity_json(one.entity), "observation_count": one.observation_count} for one in found.entities
        ]
        print_json({"entities": listed, "total": found.total})
        return
    table(
        ("name", "type", "status", "observations", "changed"),
        (
            (
                one.entity.name,
                one.entity.type,
                one.entity.status,
                one.observation_count,
                one.entity.updated_at,
            )
            for one in found.entities
        ),
        empty="No entities.",
    )
    if offset + len(found.entities) < found.total:
        note(
            f"{len(found.entities)} of {found.total:,}; continue with --offset {offset + len(found.entities)}"
        )


@entities.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...", type=ENTITY_NAME)
@click.option("--all", "superseded", is_flag=True, help="Also superseded observations and ended relations.")
@as_of_option
@json_option
@click.pass_obj
def show(
    session: Session, names: tuple[str, ...], superseded: bool, as_of: datetime | None, as_json: bool
) -> None:
    """Show entities with their observations and relations."""
    graph = session.engine.graph.open_nodes(names, superseded=superseded, as_of=as_of)
    missing = set(names) - {node.entity.name for node in graph.nodes}
    if as_json:
        print_json(graph_json(graph))
    else:
        print_nodes(graph.nodes)
        if graph.relations:
            print_relations(graph.relations)
    if missing:
        raise session.engine.graph.missing(sorted(missing))


@entities.command()
@click.argument("name")
@options_for(NewEntity, without="name")
@json_option
@click.pass_obj
def create(session: Session, /, name: str, as_json: bool, **fields: Any) -> None:
    """Create an entity, or add to the existing one of that name."""
    nodes = session.engine.graph.create_entities([NewEntity(name=name, **given(fields))])
    if as_json:
        print_json(node_json(nodes[0]))
    else:
        print_nodes(nodes)


@entities.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...", type=ENTITY_NAME)
@click.option("--with-memories", is_flag=True, help="Also delete memories that were stored on their own.")
@json_option
@click.pass_obj
def delete(session: Session, names: tuple[str, ...], with_memories: bool, as_json: bool) -> None:
    """Delete entities with their relations and observations."""
    result = session.engine.graph.delete_entities(names, cascade_memories=with_memories)
    if as_json:
        print_json({"deleted": result.deleted, "missing": result.missing})
    else:
        say(f"Deleted {counted(len(result.deleted), 'entity', 'entities')}.")
    if result.missing:
        raise session.engine.graph.missing(result.missing)
