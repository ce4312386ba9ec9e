"""The command that shows an entity's neighbourhood."""

from __future__ import annotations

from datetime import datetime

import click

from mcp_memory.cli.memory_rendering import preview
from mcp_memory.cli.options import ENTITY_NAME, SHARE, as_of_option
from mcp_memory.cli.output import json_option, note, print_json, say, shaped
from mcp_memory.cli.rendering import heading, print_relations
from mcp_memory.cli.session import Session
from mcp_memory.engine.graph_walk import MOST_DEPTH, EntityGraph


@click.command("entity-graph")
@click.argument("name", type=ENTITY_NAME)
@click.option(
    "--depth",
    type=click.IntRange(0, MOST_DEPTH),
    default=1,
    show_default=True,
    help="How many relations to follow.",
)
@click.option("--min-strength", type=SHARE, default=0.0, help="Leave out weaker relations.")
@click.option("--memories/--no-memories", default=True, help="Include each entity's memories.")
@as_of_option
@json_option
@click.pass_obj
def entity_graph(
    session: Session,
    name: str,
    depth: int,
    min_strength: float,
    memories: bool,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """Show an entity, its related entities, and their memories."""
    walked = session.engine.walk.entity_graph(
        name, depth=depth, min_strength=min_strength, include_memories=memories, as_of=as_of
    )
    if as_json:
        print_json(shaped("EntityGraphJson", walked, center=walked.center.name))
    else:
        _show(walked)


def _show(walked: EntityGraph) -> None:
    for node in walked.nodes:
        indent = "  " * node.depth
        say(f"{indent}{heading(node.entity)}")
        for memory in node.memories:
            say(f"{indent}  • {preview(memory)}")
        if node.memories and len(node.memories) < node.memory_count:
            say(f"{indent}  … and {node.memory_count - len(node.memories)} more")
    print_relations(walked.edges)
    if walked.truncated:
        note("There is more: the strongest relations were followed first.")
