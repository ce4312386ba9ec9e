"""Commands on spaces."""

from __future__ import annotations

import click

from mcp_memory.cli.lazy import SuggestingGroup
from mcp_memory.cli.output import json_option, print_json, table
from mcp_memory.cli.session import Session


@click.group(cls=SuggestingGroup)
def spaces() -> None:
    """The spaces of a database. No space sees another."""


@spaces.command("list")
@json_option
@click.pass_obj
def list_(session: Session, as_json: bool) -> None:
    """List spaces that are not empty."""
    names = session.engine.inventory.spaces()
    if as_json:
        print_json({"spaces": names})
    else:
        table(("space",), ([name] for name in names), empty="No spaces yet: the first write makes one.")
