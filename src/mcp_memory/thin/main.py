"""Decides how the program runs: as a thin client of the shared server, or fully in this process."""

from __future__ import annotations

import os
import signal
import sys

from mcp_memory.thin.endpoint import NoServer, endpoint_of
from mcp_memory.thin.settings import FLAGS, Unreadable, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_memory.thin.endpoint import Endpoint
    from mcp_memory.thin.settings import ThinSettings

FORWARDED = frozenset(
    {
        "entities", "entity-graph", "forget", "graph", "history", "link", "memories", "observations",
        "recall", "relations", "remember", "restore", "search", "spaces", "stats", "undo", "unlink",
    }
)  # fmt: skip
"""Commands that a running server executes: quick ones that need no input."""


def run(words: Sequence[str], environ: Mapping[str, str]) -> int | None:
    """The exit code; None if the full program must run instead."""
    parsed = parse(words)
    if parsed is None:
        return None
    flags, command = parsed
    if command and command[0] == "hook":
        from mcp_memory.thin import hook

        hook.run(command[1:], flags, environ)
    if command and command[0] not in FORWARDED:
        return None
    try:
        settings = resolve(flags, environ, os.getcwd())
    except (Unreadable, OSError):
        return None  # the full program reports the error
    if settings["shared"] == "no":
        return None
    endpoint = endpoint_of(settings, environ)
    return _command(endpoint, settings, command) if command else _session(endpoint, settings, environ)


def parse(words: Sequence[str]) -> tuple[dict[str, str], list[str]] | None:
    """Flags by setting, and the command; None for arguments that only the full program understands."""
    flags: dict[str, str] = {}
    rest = list(words)
    while rest and rest[0].startswith("-"):
        flag, equals, value = rest.pop(0).partition("=")
        if flag == "--http" and not equals:
            flags["http"] = "yes"
            continue
        if flag not in FLAGS or (not equals and not rest):
            return None
        flags[FLAGS[flag]] = value if equals else rest.pop(0)
    return flags, rest


def _session(endpoint: Endpoint, settings: ThinSettings, environ: Mapping[str, str]) -> int | None:
    # A person at a terminal is not an assistant.
    if sys.stdin is None or sys.stdin.isatty() or endpoint.why_not() is not None:
        return None
    from mcp_memory.thin.connection import Connector
    from mcp_memory.thin.forwarding import forward
    from mcp_memory.thin.handshake_cache import handshake_cache

    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda number, _: os._exit(128 + number))
    connector = Connector(endpoint, settings, os.urandom(12).hex())
    return forward(connector, handshake_cache(settings, environ), sys.stdin.buffer)


def _command(endpoint: Endpoint, settings: ThinSettings, command: list[str]) -> int | None:
    """Execute a command in the running server; None if there is none."""
    if "-" in command or "-h" in command or "--help" in command or "NO_COLOR" in os.environ:
        return None
    from mcp_memory.thin.request import Refused, ask_until_answered

    request = {"words": command, "terminal": sys.stdout.isatty(), "columns": _columns()}
    try:
        done = ask_until_answered(endpoint, settings, "command", request)
    except (NoServer, Refused):
        return None
    sys.stderr.write(done["errors"])
    sys.stdout.write(done["output"])
    sys.stdout.flush()
    return int(done["code"])


def _columns() -> int:
    try:
        return os.get_terminal_size().columns
    except OSError:
        return 80
