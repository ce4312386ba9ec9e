"""The command that moves everything to another database."""

from __future__ import annotations

from contextlib import closing

import click

from mcp_memory.cli.output import counted, json_option, print_json, say
from mcp_memory.cli.progress import Bar
from mcp_memory.cli.session import Session
from mcp_memory.config import is_postgres, masked, sqlite_path
from mcp_memory.errors import Invalid


@click.command()
@click.option(
    "--from", "source", metavar="URL", required=True, help="The database to copy, as DATABASE_URL has it."
)
@click.option(
    "--to", "target", metavar="URL", required=True, help="An empty database, or one half copied to."
)
@json_option
@click.pass_obj
def copy(session: Session, source: str, target: str, as_json: bool) -> None:
    """Copy everything from one database to another: memories, history, journal, vectors, tokens.

    Stop the servers first. It may be broken off: the same command goes on from there. At the end every
    row is compared; the original stays as it is.
    """
    from mcp_memory.storage.copying import copy as copy_all
    from mcp_memory.wiring import open_store

    _check(source)
    with (
        closing(open_store(session.config, source)) as original,
        closing(open_store(session.config, target)) as made,
        Bar("things") as bar,
    ):
        copied = copy_all(original, made, bar.file)
    if as_json:
        print_json(copied)
        return
    memories = counted(copied.counts["memory"], "memory", "memories")
    say(f"Copied {sum(copied.counts.values()):,} rows, {memories} among them.")
    say("Every row was compared and is the same. Point DATABASE_URL at the copy to use it.")


def _check(source: str) -> None:
    """A name that was mistyped shall not make a new database."""
    if not _is_there(source):
        raise Invalid(f"there is nothing to copy at {masked(source)}: is it the one that was meant?")


def _is_there(source: str) -> bool:
    if not is_postgres(source):
        return sqlite_path(source).exists()
    try:
        from mcp_memory.storage.postgres.diagnostics import is_set_up
    except ImportError:
        return True  # who opens it says what is missing
    return is_set_up(source)
