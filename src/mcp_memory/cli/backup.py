"""Commands that make, list, verify and restore backups."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcp_memory.cli.options import ask
from mcp_memory.cli.output import json_option, print_json, say, table
from mcp_memory.cli.session import Session

if TYPE_CHECKING:
    from mcp_memory.tuning import BackupPlan

folder_option = click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False), help="Instead of the BACKUP_DIR setting."
)


@click.group(invoke_without_command=True, short_help="Make, list, verify and restore backups.")
@folder_option
@json_option
@click.pass_context
def backup(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """Make a backup now: a consistent, verified copy of everything, while the database is in use."""
    if context.invoked_subcommand is not None:
        return
    session: Session = context.obj
    made = session.engine.backups.make(_plan(session, folder))
    if as_json:
        print_json({"path": str(made.path), "made_at": made.made_at, "size": made.size})
    else:
        say(f"Wrote and verified {made.path} ({made.size / 1e6:,.1f} MB).")


@backup.command(name="list")
@folder_option
@json_option
@click.pass_obj
def list_(session: Session, folder: Path | None, as_json: bool) -> None:
    """List the backups, newest first."""
    from mcp_memory.engine.backups import backups_in

    found = backups_in(_plan(session, folder).folder)
    if as_json:
        print_json([{"path": str(one.path), "made_at": one.made_at, "size": one.size} for one in found])
    else:
        rows = [[str(one.path), one.made_at.isoformat(), f"{one.size / 1e6:,.1f} MB"] for one in found]
        table(["file", "made", "size"], rows)


@backup.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.pass_obj
def verify(session: Session, file: Path) -> None:
    """Check that a backup can be restored: it decrypts, and every page and reference in it is sound."""
    from mcp_memory.engine.backups import opened_backup

    opened_backup(file, file.absolute().parent, session.config.passphrase).unlink()
    say(f"{file} is sound.")


@backup.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def restore(session: Session, file: Path, yes: bool) -> None:
    """Restore a backup in place of the database. The present one is kept beside it, under another name."""
    from mcp_memory.engine.backups import opened_backup
    from mcp_memory.storage.sqlite.replacement import put_in_place
    from mcp_memory.wiring import now

    config = session.config
    if config.database_file is None:
        _restore_by_copying(session, file)
        return
    target = config.database_file.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    plain = opened_backup(file, target.parent, config.passphrase)
    try:
        ask(f"Put {file} in the place of {target}?", unless=yes)
        aside = target.with_name(f"{target.name}.before-{now():%Y%m%dT%H%M%SZ}")
        kept = put_in_place(plain, target, aside)
    finally:
        plain.unlink(missing_ok=True)
    say(f"Restored {target}." + (f" What was there is {aside}." if kept else ""))
    say("Servers that have it open must be restarted: `mcp-memory stop`.")


def _restore_by_copying(session: Session, file: Path) -> None:
    from mcp_memory.engine.backups import opened_backup
    from mcp_memory.storage.copying import copy
    from mcp_memory.wiring import open_store

    config = session.config
    plain = opened_backup(file, file.absolute().parent, config.passphrase)
    try:
        with (
            closing(open_store(replace(config, database_read_url=""), f"sqlite:///{plain}")) as source,
            closing(open_store(config, config.url)) as target,
        ):
            copied = copy(source, target)
    finally:
        plain.unlink(missing_ok=True)
    say(f"Restored {sum(copied.counts.values()):,} rows into the database.")


def _plan(session: Session, folder: Path | None) -> BackupPlan:
    from mcp_memory.wiring import backup_plan

    plan = backup_plan(session.config)
    return plan if folder is None else replace(plan, folder=folder)
