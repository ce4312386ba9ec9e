"""Maintenance commands: merge duplicates, prune faded memories."""

from __future__ import annotations

from typing import Any

import click

from mcp_memory.cli.memory_rendering import PREVIEW
from mcp_memory.cli.options import MEMORY_ID, options_for
from mcp_memory.cli.output import counted, json_option, note, print_json, say, table
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
        print_json(_report(done))
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
        going = zip(pruned.memories, pruned.confidences, strict=True)
        print_json(
            {
                "pruned": [
                    {"id": memory.id, "content": memory.content, "effective_confidence": confidence}
                    for memory, confidence in going
                ],
                "left": pruned.left,
                "change": pruned.act,
                "dry_run": pruned.dry_run,
            }
        )
    else:
        _show_pruned(pruned)


def _report(done: Consolidated) -> dict[str, object]:
    return {
        "clusters_found": len(done.clusters),
        "memories_merged": done.merged,
        "memories_deleted": done.deleted,
        "compared": done.compared,
        "threshold": done.threshold,
        "clusters": [
            {
                "primary": {"id": cluster.primary.id, "content": cluster.primary.content},
                "absorbed": [
                    {"id": one.memory.id, "content": one.memory.content, "similarity": one.cosine}
                    for one in cluster.absorbed
                ],
            }
            for cluster in done.clusters
        ],
        "kept_apart": [
            {"ids": [pair.a.id, pair.b.id], "similarity": pair.cosine, "reason": pair.reason}
            for pair in done.apart
        ],
        "change": done.act,
        "dry_run": done.dry_run,
    }


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
            for memory, confidence in list(zip(pruned.memories, pruned.confidences, strict=True))[:SHOWN]
        ),
        empty="No memory has faded away.",
        ids_under="memory",
    )
    verb = "Would prune" if pruned.dry_run else "Pruned"
    say(f"{verb} {counted(len(pruned.memories), 'memory', 'memories')}.")
    if pruned.left:
        note(f"{pruned.left:,} more wait for the next run.")
    if pruned.act:
        note(f"To take it back: mcp-memory undo {pruned.act}")
