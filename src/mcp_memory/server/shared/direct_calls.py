"""Reads calls of tools from the wire and writes their answers, without the protocol library.

The library parses and validates a message four times on its way in and out, in several tasks: 1.5 ms, more
than most tools take. A plain call in a session whose handshake is done needs none of that. Everything else
goes through the library: the handshake, calls of tools that report progress, those of the newer era of the
protocol, and whatever looks wrong, so that errors are the library's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mcp_types as types
from pydantic_core import from_json, to_json

VERSIONS = frozenset({"2025-06-18", "2025-11-25"})
"""Of the protocol, in which an answer holds all that a tool answers."""

_MESSAGE = {"jsonrpc", "id", "method", "params"}
_PARAMS = {"name", "arguments", "_meta"}
_RESERVED = "io.modelcontextprotocol/"
"""What the names begin with that have a meaning in `_meta`, beside the token for progress."""
_TOKEN = "progressToken"


@dataclass(frozen=True, slots=True)
class DirectCall:
    id: types.RequestId
    tool: str
    arguments: dict[str, Any]
    wants_progress: bool = False


def read_call(text: str) -> DirectCall | None:
    """The call on a line; None if it is anything else, or asks for more than the tool's answer."""
    if '"tools/call"' not in text:
        return None
    try:
        message = from_json(text)
    except ValueError:
        return None
    if not isinstance(message, dict) or message.keys() != _MESSAGE or message["jsonrpc"] != "2.0":
        return None
    id, params = message["id"], message["params"]
    if message["method"] != "tools/call" or not isinstance(params, dict) or not params.keys() <= _PARAMS:
        return None
    name, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    about = params.get("_meta", {})
    if type(id) not in (int, str) or not _is_plain(about):
        return None
    return DirectCall(id, name, arguments, wants_progress=_TOKEN in about)


def _is_plain(about: object) -> bool:
    """Whether `_meta` asks for nothing but progress. Clients also put names of their own there."""
    if not isinstance(about, dict) or any(name.startswith(_RESERVED) for name in about):
        return False
    return type(about.get(_TOKEN, "")) in (int, str)


def answer_line(id: types.RequestId, result: types.CallToolResult) -> bytes:
    """The answer, byte by byte as the library would write it."""
    said: dict[str, Any] = {"content": [_content(one) for one in result.content], "isError": result.is_error}
    if result.structured_content is not None:
        said["structuredContent"] = result.structured_content
    return to_json({"jsonrpc": "2.0", "id": id, "result": said}, inf_nan_mode="null") + b"\n"


def _content(one: types.ContentBlock) -> dict[str, Any]:
    if isinstance(one, types.TextContent):
        return {"text": one.text, "type": one.type}
    return one.model_dump(by_alias=True, mode="json", exclude_none=True)
