"""The protocol on the shared server's socket: lines of JSON.

The client sends one line with its request:

    {"protocol": 1, "version": "0.2.0", "want": "session", "settings": {…}, "folder": "/home/me/x",
     "pid": 41, "session": "9f…"}

`settings` are those that belong to a connection, complete, with the defaults filled in. `want` is
`session`, or the name of a request; a request brings its arguments as `request`. The server answers with
one line: `{"protocol", "version", "pid", "answer"}`, or `{…, "error", "code"}`. After a request it hangs up.

In a session the MCP messages follow, one a line, in both directions, each after a short prefix. A request
of the client is numbered: `17+0 {"jsonrpc"…`. The number names it within the session, and is its
idempotency key together with the session's name; `+1` says that it may have been received before. Its
answer begins with the same number: `17 {"jsonrpc"…`. All else is prefixed with a dash: `- {"jsonrpc"…`.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROTOCOL = 1
LONGEST_LINE = 64 * 2**20
"""Longest message in bytes."""

LISTEN = "subscriptions/listen"
"""The one request that is answered only when its client stops listening."""


def encoded(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def decoded(line: bytes) -> dict[str, Any]:
    """The JSON object on a line; an empty one if it is something else."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def numbered(number: int, line: bytes, *, again: bool) -> bytes:
    return b"%d+%d %b" % (number, again, line)


def answering(number: int, line: bytes) -> bytes:
    return b"%d %b" % (number, line)


def unnumbered(line: bytes) -> bytes:
    return b"- " + line


def number_of(line: bytes) -> tuple[int | None, bool, bytes]:
    """The number that prefixes a line, whether it is a retry, and the rest of the line."""
    prefix, _, rest = line.partition(b" ")
    number, _, again = prefix.partition(b"+")
    return (int(number) if number.isdigit() else None), again == b"1", rest


def is_newer(version: str, than: str) -> bool:
    return _order(version) > _order(than)


def _order(version: str) -> list[tuple[int, str]]:
    """Sort key of a version: numbers by value; other parts (`1.0rc1`) sort before numbers."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in version.split(".")]
