"""Checks whether the installed clients are connected, and whether the connection works."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from mcp_memory.cli.clients import jsonc
from mcp_memory.cli.clients.catalogue import CLIENTS, SERVER, Client, Machine, Wish, stable_command
from mcp_memory.cli.clients.changes import Ledger
from mcp_memory.errors import MemoryServerError
from mcp_memory.storage.diagnostics import Finding

PATIENCE = 20.0
"""Timeout in seconds for a command to start."""

_SERVERS = ("mcpServers", "servers", "mcp", "context_servers", "mcp_servers")
"""Under which name clients list their servers."""


def examine(
    around: Machine, ledger: Ledger, running: str, last_calls: Mapping[str, datetime]
) -> Iterator[Finding]:
    """One finding for each client that is there."""
    wish = Wish(command=stable_command(around, running))
    trouble_of = cache(_trouble)  # most clients start the same command
    for client in CLIENTS.values():
        if client.is_there(around):
            yield _finding(client, around, ledger, wish, trouble_of, last_calls.get(client.name))


def _finding(
    client: Client,
    around: Machine,
    ledger: Ledger,
    wish: Wish,
    trouble_of: Callable[[tuple[str, ...]], str],
    last_call: datetime | None,
) -> Finding:
    advice = f"run `mcp-memory install {client.name}`"
    try:
        edits = client.edits(around, wish)
        connected = [edit.path for edit in edits if ledger.is_made(edit)]
        is_current = not any(ledger.put(edit).is_real for edit in edits)
        command = _configured(connected) or wish.command
    except (MemoryServerError, OSError, tomllib.TOMLDecodeError) as error:
        return Finding(client.title, False, str(error), "repair the file, then " + advice)
    if not connected:
        return Finding(client.title, True, f"is here, not connected: {advice} to connect it")
    if trouble := trouble_of(command):
        return Finding(client.title, False, trouble, advice)
    state = "connected" if is_current else f"connected, with other entries than a new install makes: {advice}"
    works = "its command starts and its hook answers" if client.has_hooks else "its command starts"
    return Finding(client.title, True, f"{state}; {works}; {_heard(client, last_call)}")


def _heard(client: Client, last_call: datetime | None) -> str:
    """When it last called; if never, what the user may have to do first."""
    if not client.has_hooks:
        return "it has no hooks"
    if last_call:
        return f"last call on {last_call.astimezone():%Y-%m-%d %H:%M}"
    return f"it has not called yet. {client.note}".rstrip(". ")


def _configured(files: Iterable[Path]) -> tuple[str, ...]:
    """The command in the client's own settings, which somebody may have edited; empty if there is none."""
    for file in files:
        if file.suffix not in (".json", ".jsonc", ".toml"):
            continue
        settings = _settings(file)
        for name in _SERVERS:
            entry = (settings.get(name) or {}).get(SERVER) or {}
            if command := entry.get("command"):
                return tuple(command) if isinstance(command, list) else (command, *entry.get("args", ()))
    return ()


def _settings(file: Path) -> Mapping[str, Any]:
    text = file.read_text("utf-8", "surrogateescape")
    found = tomllib.loads(text) if file.suffix == ".toml" else jsonc.parsed(text).value
    return found if isinstance(found, dict) else {}


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
