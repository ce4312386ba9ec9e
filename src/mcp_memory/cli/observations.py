"""Commands for the observations of entities."""

from __future__ import annotations

import click

from mcp_memory.cli.lazy import SuggestingGroup
from mcp_memory.cli.options import ENTITY_NAME
from mcp_memory.cli.output import json_option, print_json
from mcp_memory.cli.rendering import node_json, print_nodes
from mcp_memory.cli.session import Session
from mcp_memory.model import GENERIC_KIND, Node


@click.group(cls=SuggestingGroup)
def observations() -> None:
    """Add and delete observations of an entity."""


@observations.command()
@click.argument("entity", type=ENTITY_NAME)
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@click.option("--kind", default=GENERIC_KIND, show_default=True, help="What kind of observation it is.")
@click.option("--supersedes", metavar="TEXT", help="The observation (or its id) that is no longer true.")
@json_option
@click.pass_obj
def add(
    session: Session, entity: str, texts: tuple[str, ...], kind: str, supersedes: str | None, as_json: bool
) -> None:
    """Add observations to an entity; existing ones are skipped."""
    _show(session.engine.graph.add_observations(entity, texts, kind=kind, supersedes=supersedes), as_json)


@observations.command()
@click.argument("entity", type=ENTITY_NAME)
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@json_option
@click.pass_obj
def delete(session: Session, entity: str, texts: tuple[str, ...], as_json: bool) -> None:
    """Remove observations from an entity; unknown texts are skipped."""
    _show(session.engine.graph.delete_observations(entity, texts), as_json)


def _show(node: Node, as_json: bool) -> None:
    if as_json:
        print_json(node_json(node))
    else:
        print_nodes([node])
