"""Commands for the shared server."""

from __future__ import annotations

import time
from typing import Any

import click

from mcp_memory.cli.output import counted, json_option, print_json, say, table
from mcp_memory.cli.session import Session
from mcp_memory.cli.sharing import shared_settings
from mcp_memory.thin.endpoint import NoServer
from mcp_memory.thin.request import ask_at

PATIENCE = 10.0
"""Timeout in seconds for an answer."""

LAST_ANSWERS = 45.0
"""Timeout in seconds for a server to answer running requests and end."""


@click.command(short_help="Show the server that all assistants share.")
@json_option
@click.pass_obj
def status(session: Session, as_json: bool) -> None:
    """Show the server that all assistants share: its clients, memory, uptime and version."""
    endpoint, settings = shared_settings(session)
    try:
        found = ask_at(endpoint, settings, "status", timeout=PATIENCE)
    except NoServer:
        found = None
    if as_json:
        print_json({"running": found is not None, "socket": endpoint.address, **(found or {})})
    elif found is None:
        say(f"No shared server is running ({endpoint.address}). An assistant starts one when it needs it.")
    else:
        _show(found, endpoint.address)


@click.command(short_help="Stop the shared server after running requests.")
@click.pass_obj
def stop(session: Session) -> None:
    """Stop the shared server after running requests, also one that `serve` runs. An assistant that needs it
    starts it again.
    """
    endpoint, settings = shared_settings(session)
    try:
        pid = ask_at(endpoint, settings, "status", timeout=PATIENCE)["pid"]
        wish = {"because": "mcp-memory stop", "end_process": True}
        ask_at(endpoint, settings, "leave", wish, timeout=PATIENCE)
    except NoServer:
        say("No shared server is running.")
        return
    deadline = time.monotonic() + LAST_ANSWERS
    while _is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    say(f"The shared server (process {pid}) {'is still finishing' if _is_alive(pid) else 'has ended'}.")


def _show(found: dict[str, Any], address: str) -> None:
    clients = found["clients"]
    pending = found["pending_vectors"]
    table(
        ("what", "value"),
        [
            ("version", found["version"]),
            ("process", found["pid"]),
            ("running for", _duration(found["uptime"])),
            ("memory", _memory(found)),
            ("pending vectors", "-" if pending is None else f"{pending:,}"),
            ("background work", "here" if found["leads"] else "in another process"),
            ("HTTP", found["http"] or "off"),
            ("socket", address),
            ("clients", counted(len(clients), "client")),
        ],
    )
    if clients:
        click.echo()
        rows = [
            (one["pid"], one["folder"], one["space"], one["tools"], _duration(one["seconds"]))
            for one in clients
        ]
        table(("process", "folder", "space", "tools", "connected for"), rows)


def _memory(found: dict[str, Any]) -> str:
    """`245 MB: 60 MB mapped from files, 14 MB database cache`."""
    parts = [
        f"{found[name] / 1_000_000:,.0f} MB{what}"
        for name, what in (
            ("memory_bytes", ""),
            ("mapped_bytes", " mapped from files"),
            ("cache_bytes", " database cache"),
        )
        if found.get(name)
    ]
    return ": ".join([*parts[:1], ", ".join(parts[1:])]) if len(parts) > 1 else parts[0] if parts else "-"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _is_alive(pid: int) -> bool:
    import os

    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
