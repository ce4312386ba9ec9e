"""The command that recomputes all vectors."""

from __future__ import annotations

import click

from mcp_memory.cli.output import counted, json_option, print_json, say
from mcp_memory.cli.progress import Bar
from mcp_memory.cli.session import Session


@click.command(short_help="Embed everything with the configured model.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@json_option
@click.pass_obj
def reembed(session: Session, dry_run: bool, as_json: bool) -> None:
    """Embed all spaces with the configured model, then switch to its vectors. The old vectors stay in use
    meanwhile. It can be stopped at any time: the same command resumes.
    """
    reembedding = session.engine.reembedding
    if dry_run:
        plan = reembedding.plan()
        if as_json:
            print_json(plan)
            return
        by = f" in place of those by {plan.serving}" if plan.is_change else ""
        say(f"{counted(plan.remaining, 'vector')} to be made by {plan.model}{by}.")
        return
    with Bar("things") as bar:
        done = reembedding.run(bar.file)
    if as_json:
        print_json(done)
    else:
        say(f"Made {counted(done.made, 'vector')}. {done.model} serves.")
