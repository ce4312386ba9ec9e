"""`mcp-memory hook EVENT`: passes a client's hook to the shared server, and prints its answer.

A hook must never hold up or disturb a conversation: it has a hard timeout, writes nothing to standard error,
and always exits with 0. If no server runs, one is started for the next call, and nothing is printed.
"""

from __future__ import annotations

import os
import signal
import sys

from mcp_memory.thin.endpoint import NoServer, endpoint_of
from mcp_memory.thin.request import Refused, ask_at
from mcp_memory.thin.settings import Unreadable, resolve
from mcp_memory.thin.wire import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

    from mcp_memory.thin.endpoint import Endpoint
    from mcp_memory.thin.settings import ThinSettings

LIMIT = 0.3
"""Total timeout in seconds, from the start of the command."""

MOST_BYTES = 4_000_000
"""Most bytes that are read from standard input."""

PROMPTS = frozenset({"UserPromptSubmit", "BeforeAgent"})

LONGEST = 20_000
"""Most characters of a text that are passed on."""


def run(words: Sequence[str], flags: Mapping[str, str], environ: Mapping[str, str]) -> NoReturn:
    """Ends the process with 0, whatever happens."""
    _end_after(LIMIT)
    try:  # noqa: SIM105 loading contextlib takes longer than all else here
        _say(_answer(words, flags, environ))
    except BaseException:  # noqa: S110
        pass  # any error means no output
    # The interpreter would try again to write what nobody takes, and complain.
    os._exit(0)


def _say(text: str) -> None:
    if text and sys.stdout is not None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _end_after(seconds: float) -> None:
    """Exits the process on timeout: reads and connections may hang beyond their own timeouts."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return
    import threading  # slower to import than everything else here

    guard = threading.Timer(seconds, os._exit, [0])
    guard.daemon = True
    guard.start()


def _answer(words: Sequence[str], flags: Mapping[str, str], environ: Mapping[str, str]) -> str:
    event, client = _arguments(words)
    given = sys.stdin.buffer.read(MOST_BYTES) if sys.stdin is not None else b""
    payload = _shortened(decoded(given) if given.strip() else {})
    event = event or str(payload.get("hook_event_name") or "")
    try:
        settings = resolve(dict(flags), environ, os.getcwd())
        return "" if settings["shared"] == "no" else _asked(event, client, payload, settings, environ)
    except (Unreadable, Refused, OSError):
        return ""


def _asked(
    event: str,
    client: str,
    payload: Mapping[str, object],
    settings: ThinSettings,
    environ: Mapping[str, str],
) -> str:
    """The server's answer. Without one, prints the kept digest, and starts a server if none runs."""
    endpoint = endpoint_of(settings, environ)
    start = _Start(endpoint, payload)
    request = {"event": event, "client": client, "payload": payload, "start": start.state(event)}
    try:
        said, runs = ask_at(endpoint, settings, "hook", request, timeout=LIMIT), True
    except NoServer:
        said, runs = None, False
    if said is not None:
        start.settle(event)
        return str(said)
    if endpoint.why_not() is None:
        kept = _kept(event, client, payload, settings, environ)
        start.note(event, "shown" if kept else "missed")
        # Starting a process may take longer than the remaining time.
        _say(kept)
        if not runs:
            from mcp_memory.thin.launch import start_server

            start_server(endpoint, settings)
    return ""


def _kept(
    event: str,
    client: str,
    payload: Mapping[str, object],
    settings: ThinSettings,
    environ: Mapping[str, str],
) -> str:
    """The digest that the last server kept for a session that starts while none runs."""
    if event.lower() != "sessionstart":
        return ""
    from mcp_memory.thin.hook_output import rendered
    from mcp_memory.thin.kept_digest import kept_digest

    text = kept_digest(settings, environ, str(payload.get("cwd") or ""))
    return rendered(client, event, text) if text else ""


class _Start:
    """Records what a session got that started without a server; its first prompt makes up for it."""

    def __init__(self, endpoint: Endpoint, payload: Mapping[str, object]) -> None:
        session = payload.get("session_id") or payload.get("sessionId") or payload.get("conversation_id")
        named = "".join(one for one in str(session or "") if one.isalnum() or one in "-_")[:80]
        self._file = os.path.join(endpoint.folder, f"start-{named}") if named else ""

    def note(self, event: str, state: str) -> None:
        if self._file and event.lower() == "sessionstart":
            with open(os.open(self._file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
                file.write(state)

    def state(self, event: str) -> str:
        """`missed`, `shown`, or empty if there is nothing to make up for."""
        if not self._file or event not in PROMPTS:
            return ""
        try:
            with open(self._file) as file:
                return file.read(10)
        except OSError:
            return ""

    def settle(self, event: str) -> None:
        """Clear the record, because a server has answered a prompt of the session."""
        if self._file and event in PROMPTS:
            try:
                os.unlink(self._file)
            except OSError:
                return


def _arguments(words: Sequence[str]) -> tuple[str, str]:
    event, client, rest = "", "", list(words)
    while rest:
        word = rest.pop(0)
        if word == "--client" and rest:
            client = rest.pop(0)
        elif word.startswith("--client="):
            client = word.partition("=")[2]
        elif not event:
            event = word
    return event, client


def _shortened(value: object, depth: int = 0) -> dict[str, object]:
    """The payload with long texts cut: a tool's output may be megabytes."""
    return {str(key): _short(one, depth) for key, one in value.items()} if isinstance(value, dict) else {}


def _short(value: object, depth: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[: LONGEST // 2]}\n{value[-LONGEST // 2 :]}"
    if depth > 8:
        return None
    if isinstance(value, dict):
        return _shortened(value, depth + 1)
    if isinstance(value, list):
        return [_short(one, depth + 1) for one in value[-200:]]
    return value
