"""Looks whether the clients of this machine are connected, and whether the connection works."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from datetime import datetime

from mcp_memory.cli.clients.catalogue import CLIENTS, Client, Surroundings, Wish, stable_command
from mcp_memory.cli.clients.changes import Ledger
from mcp_memory.errors import MemoryServerError
from mcp_memory.storage.diagnostics import Finding

PATIENCE = 20.0
"""Seconds that a command may take to start."""


def examine(
    around: Surroundings, ledger: Ledger, running: str, last_calls: Mapping[str, datetime]
) -> Iterator[Finding]:
    """One finding for each client that is there."""
    wish = Wish(command=stable_command(around, running))
    trouble = _trouble(wish.command)
    for client in CLIENTS.values():
        if client.is_there(around):
            yield _finding(client, around, ledger, wish, trouble, last_calls.get(client.name))


def _finding(
    client: Client,
    around: Surroundings,
    ledger: Ledger,
    wish: Wish,
    trouble: str,
    last_call: datetime | None,
) -> Finding:
    advice = f"run `mcp-memory install {client.name}`"
    try:
        connected = [edit.path for edit in client.edits(around, wish) if ledger.is_made(edit)]
        is_current = not any(ledger.put(edit).is_real for edit in client.edits(around, wish))
    except (MemoryServerError, OSError) as error:
        return Finding(client.title, False, str(error), "mend the file, then " + advice)
    if not connected:
        return Finding(client.title, True, f"is here, not connected: {advice} to connect it")
    if trouble:
        return Finding(client.title, False, trouble, advice)
    state = "connected" if is_current else f"connected, with other entries than a new install makes: {advice}"
    heard = (
        f"last heard of on {last_call.astimezone():%Y-%m-%d %H:%M}" if last_call else "no hook has called yet"
    )
    return Finding(client.title, True, f"{state}; {heard if client.has_hooks else 'it has no hooks'}")


def _trouble(command: tuple[str, ...]) -> str:
    """Why the command that clients run fails; empty if it starts and its hook prints nothing."""
    for words, what in ((["--version"], "does not start"), (["hook", "Nothing"], "does not answer a hook")):
        try:
            done = subprocess.run(
                [*command, *words], input=b"{}", capture_output=True, timeout=PATIENCE, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"the command {' '.join(command)} {what}: {error}"
        if done.returncode:
            return f"the command {' '.join(command)} {what}: it ends with {done.returncode}"
    return ""
