"""The command that shows statistics."""

from __future__ import annotations

from typing import Any

import click

from mcp_memory.cli.output import json_option, note, print_json, table
from mcp_memory.cli.session import Session
from mcp_memory.engine.analytics import PERIODS, Period
from mcp_memory.statistics import Overview
from mcp_memory.text.plain import plain


@click.command()
@click.option("--growth", type=click.Choice(PERIODS), help="Also show how many were added per period.")
@click.option("--tags", is_flag=True, help="Also show how often each tag is used.")
@click.option("--confidence", is_flag=True, help="Also show the distribution of effective confidence.")
@json_option
@click.pass_obj
def stats(session: Session, growth: Period | None, tags: bool, confidence: bool, as_json: bool) -> None:
    """Show statistics."""
    topic = session.engine.analytics
    overview = topic.overview()
    parts: dict[str, list[dict[str, Any]]] = {}
    if growth:
        parts["growth"] = plain(topic.growth(growth))
    if tags:
        parts["tags"] = [{"tag": tag, "memories": count} for tag, count in topic.tags().items()]
    if confidence:
        parts["confidence"] = [
            {"from": one.low, "to": one.high, "memories": one.count} for one in topic.confidence()
        ]
    if as_json:
        print_json({**plain(overview), **parts})
        return
    _show(overview)
    for name, rows in parts.items():
        table([*rows[0]] if rows else [name], ([*row.values()] for row in rows), empty=f"No {name}.")


def _show(overview: Overview) -> None:
    table(
        ("what", "value"),
        (
            ("memories", f"{overview.total_memories:,}"),
            ("entities", f"{overview.total_entities:,}"),
            ("relations", f"{overview.total_relations:,}"),
            ("associations", f"{overview.total_associations:,}"),
            ("reflections", f"{overview.total_reflections:,}"),
            ("tags", f"{overview.total_tags:,}"),
            ("pinned", f"{overview.pinned_memories:,}"),
            ("superseded", f"{overview.superseded_memories:,}"),
            ("forgotten", f"{overview.forgotten_memories:,}"),
            ("average confidence", overview.average_confidence),
            ("of low confidence", f"{overview.low_confidence_count:,}"),
            ("oldest", overview.oldest_memory),
            ("newest", overview.newest_memory),
            ("vectors to be made", f"{overview.pending_vectors:,}"),
        ),
    )
    table(("type", "memories"), overview.memories_by_type.items(), empty="No memories.")
    if overview.search_hint is not None:
        note(f"Hint: {overview.search_hint}.")
