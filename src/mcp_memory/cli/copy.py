"""The command that copies everything to another database."""

from __future__ import annotations

from contextlib import closing

import click

from mcp_memory.cli.output import counted, json_option, print_json, say
from mcp_memory.cli.progress import Bar
from mcp_memory.cli.session import Session


@click.command(short_help="Copy everything from one database to another.")
@click.option(
    "--from", "source", metavar="URL", required=True, help="The database to copy, as DATABASE_URL has it."
)
@click.option(
    "--to", "target", metavar="URL", required=True, help="An empty database, or an interrupted copy."
)
@json_option
@click.pass_obj
def copy(session: Session, source: str, target: str, as_json: bool) -> None:
    """Copy everything from one database to another: memories, history, journal, vectors, tokens.

    Stop the servers first. An interrupted copy resumes when the command is run again. At the end every row
    is compared; the original is not changed.
    """
    from mcp_memory.storage.copying import copy as copy_all
    from mcp_memory.wiring import open_store

    with (
        closing(open_store(session.config, source, must_exist=True)) as original,
        closing(open_store(session.config, target)) as made,
        Bar("things") as bar,
    ):
        copied = copy_all(original, made, bar.file)
    if as_json:
        print_json(copied)
        return
    memories = counted(copied.counts["memory"], "memory", "memories")
    say(f"Copied {sum(copied.counts.values()):,} rows, {memories} among them.")
    say("Every row was compared and is equal. Point DATABASE_URL at the copy to use it.")
