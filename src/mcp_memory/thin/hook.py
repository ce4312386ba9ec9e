"""`mcp-memory hook EVENT`: carries a client's hook to the shared server, and its answer back.

A hook must never hold up or disturb a conversation: it has a hard time limit, writes nothing to standard
error, and always ends well. Where no server runs, one is started for the next time, and nothing is said.
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

    from mcp_memory.thin.endpoint import Endpoint

LIMIT = 0.3
"""Seconds for all of it, from the start of the command."""

MOST_BYTES = 4_000_000
"""Of what the client says on standard input."""

PROMPTS = frozenset({"UserPromptSubmit", "BeforeAgent"})

LONGEST = 20_000
"""Characters of one text in it that are passed on."""


def run(words: Sequence[str], flags: Mapping[str, str], environ: Mapping[str, str]) -> int:
    """Always 0."""
    _end_after(LIMIT)
    try:
        said = _answer(words, flags, environ)
        if said:
            sys.stdout.write(said)
            sys.stdout.flush()
    except BaseException:  # noqa: S110
        pass  # silence is the answer to every fault
    return 0


def _end_after(seconds: float) -> None:
    """A read of standard input, or a connection, may hang in ways that no time limit of theirs covers."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return
    import threading  # takes longer to load than all else here

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
        if settings["shared"] == "no":
            return ""
        endpoint = endpoint_of(settings, environ)
        missed = _Missed(endpoint, payload)
        request = {"event": event, "client": client, "payload": payload, "missed_start": missed.take(event)}
        try:
            return str(ask_at(endpoint, settings, "hook", request, timeout=LIMIT) or "")
        except NoServer:
            missed.note(event)
            if endpoint.why_not() is None:
                from mcp_memory.thin.launch import start_server

                start_server(endpoint, settings)
    except (Unreadable, Refused, OSError):
        pass
    return ""


class _Missed:
    """A session that began before the server ran gets its digest with the first prompt."""

    def __init__(self, endpoint: Endpoint, payload: Mapping[str, object]) -> None:
        session = payload.get("session_id") or payload.get("sessionId") or payload.get("conversation_id")
        named = "".join(one for one in str(session or "") if one.isalnum() or one in "-_")[:80]
        self._file = os.path.join(endpoint.folder, f"missed-{named}") if named else ""

    def note(self, event: str) -> None:
        if self._file and event.lower() == "sessionstart":
            os.close(os.open(self._file, os.O_CREAT | os.O_WRONLY, 0o600))

    def take(self, event: str) -> bool:
        if not self._file or event not in PROMPTS:
            return False
        try:
            os.unlink(self._file)
        except OSError:
            return False
        return True


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
    """The payload with texts of a bounded length: a tool may have answered with megabytes."""
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
