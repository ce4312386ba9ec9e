"""The command that shows every setting."""

from __future__ import annotations

import click

from mcp_memory import config
from mcp_memory.cli.output import json_option, note, print_json, table
from mcp_memory.cli.session import Session


@click.command()
@json_option
@click.pass_obj
def settings(session: Session, as_json: bool) -> None:
    """Show every setting, its value, and the source of the value."""
    found = config.explain(session.flags, file=session.file)
    if as_json:
        print_json(
            [
                {
                    "name": one.name,
                    "variable": one.variable,
                    "value": one.shown,
                    "source": one.source,
                    "help": one.help,
                }
                for one in found
            ]
        )
        return
    table(
        ("setting", "value", "from", "what it is for"),
        ((one.variable, one.shown, one.source, one.help) for one in found),
    )
    note(f"Set them as variables (also with the prefix {config.PREFIX}) or in {config.default_file()}.")
