"""Maintenance commands: merge duplicates, prune faded memories."""

from __future__ import annotations

from typing import Any

import click

from mcp_memory.cli.memory_rendering import PREVIEW
from mcp_memory.cli.options import MEMORY_ID, options_for
from mcp_memory.cli.output import counted, json_option, note, print_json, say, shaped, table
from mcp_memory.cli.progress import Bar
from mcp_memory.cli.session import Session
from mcp_memory.engine.maintenance import Consolidated, Pruned
from mcp_memory.inputs import ConsolidationOptions
from mcp_memory.text.preview import shortened

SHOWN = 50


@click.command()
@options_for(ConsolidationOptions)
@json_option
@click.pass_obj
def consolidate(session: Session, /, as_json: bool, **options: Any) -> None:
    """Merge memories that say the same. Merged wordings stay readable, and a merge can be undone."""
    with Bar("things") as bar:
        done = session.engine.maintenance.consolidate(**options, progress=bar.file)
    if as_json:
        print_json(shaped("ConsolidatedJson", done))
    else:
        _show(done)


@click.command()
@click.argument("id", type=MEMORY_ID)
@click.argument("absorbed_id", type=MEMORY_ID)
@json_option
@click.pass_obj
def merge(session: Session, id: str, absorbed_id: str, as_json: bool) -> None:
    """Merge two memories: ABSORBED_ID becomes a part of ID. Both wordings stay."""
    merged = session.engine.maintenance.merge(id, absorbed_id)
    if as_json:
        print_json({"id": merged.memory.id, "content": merged.memory.content, "change": merged.act})
        return
    say(f"{merged.memory.id} now says:\n{merged.memory.content}")


@click.command()
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@json_option
@click.pass_obj
def prune(session: Session, dry_run: bool, as_json: bool) -> None:
    """Archive faded memories, weakest first. Can be undone."""
    pruned = session.engine.maintenance.prune(dry_run=dry_run)
    if as_json:
        print_json(shaped("PrunedJson", pruned))
    else:
        _show_pruned(pruned)


def _show(done: Consolidated) -> None:
    table(
        ("similarity", "stays", "becomes part of it"),
        (
            (one.cosine, shortened(cluster.primary.content, PREVIEW), shortened(one.memory.content, PREVIEW))
            for cluster in done.clusters[:SHOWN]
            for one in cluster.absorbed
        ),
        empty="No two memories say the same.",
    )
    compared = counted(done.compared, "memory", "memories")
    verb = "Would merge" if done.dry_run else "Merged"
    say(f"{verb} {done.merged:,} memories into {len(done.clusters):,}; {compared} compared with all others.")
    if done.apart:
        note(f"{counted(len(done.apart), 'pair is', 'pairs are')} close and stay apart; --json says why.")
    if done.act:
        note(f"To take it back: mcp-memory undo {done.act}")


def _show_pruned(pruned: Pruned) -> None:
    table(
        ("confidence", "memory", "id"),
        (
            (confidence, shortened(memory.content, PREVIEW), memory.id)
            for memory, confidence in pruned.faded[:SHOWN]
        ),
        empty="No memory has faded away.",
        ids_under="memory",
    )
    verb = "Would prune" if pruned.dry_run else "Pruned"
    say(f"{verb} {counted(len(pruned.faded), 'memory', 'memories')}.")
    if pruned.left:
        note(f"{pruned.left:,} more wait for the next run.")
    if pruned.act:
        note(f"To take it back: mcp-memory undo {pruned.act}")
