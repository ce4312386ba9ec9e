"""The command that shows where the database is and what it holds."""

from __future__ import annotations

from typing import Any

import click

from mcp_memory import __version__, wiring
from mcp_memory.cli.output import json_option, print_json, say, table
from mcp_memory.cli.session import Session
from mcp_memory.cli.sharing import sharing_in_words
from mcp_memory.config import Config, masked
from mcp_memory.text.plain import plain


@click.command(short_help="Show where the database is, and what it holds.")
@json_option
@click.pass_obj
def info(session: Session, as_json: bool) -> None:
    """Show where the database is, what it holds, and how it is searched."""
    config = session.config
    if not wiring.database_exists(config):
        _show_missing(config, as_json)
        return
    inventory = session.engine.inventory
    vectors = inventory.vectors()
    facts: dict[str, Any] = {
        "version": __version__,
        "database": masked(config.url),
        "exists": True,
        "bytes": inventory.size(),
        "space": config.space,
        "spaces": len(inventory.spaces()),
        **plain(inventory.counts()),
        "search": vectors.mode,
        "model": vectors.serving.name if vectors.serving else None,
        "dimensions": vectors.serving.dimensions if vectors.serving else None,
        "vectors": vectors.vector_count,
        "vectors_missing": vectors.missing_count,
        "tools": config.tools,
        "server": sharing_in_words(session),
    }
    if as_json:
        print_json(facts)
    else:
        table(("what", "value"), ((name, _readable(name, value)) for name, value in facts.items()))


def _show_missing(config: Config, as_json: bool) -> None:
    """Reading must not create a database, least of all at a mistyped address."""
    if as_json:
        print_json({"version": __version__, "database": masked(config.url), "exists": False})
    else:
        say(f"There is no database at {masked(config.url)} yet: the first memory creates it.")


def _readable(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name == "bytes":
        return f"{value / 1_000_000:,.1f} MB"
    return f"{value:,}" if isinstance(value, int) else str(value)
