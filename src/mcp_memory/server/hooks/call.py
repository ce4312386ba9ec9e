"""A hook's call, parsed from the clients' payloads; tolerates any input."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["start", "prompt", "failure", "turn_end", "other"]

KINDS: Mapping[str, Kind] = {
    "sessionstart": "start",
    "userpromptsubmit": "prompt",
    "beforeagent": "prompt",
    "beforesubmitprompt": "prompt",
    "chatmessage": "prompt",
    "posttoolusefailure": "failure",
    "posttooluse": "failure",
    "aftertool": "failure",
    "toolexecuteafter": "failure",
    "stop": "turn_end",
    "afteragent": "turn_end",
    "afteragentresponse": "turn_end",
    "precompact": "turn_end",
    "sessionend": "turn_end",
    "sessionidle": "turn_end",
}
"""By the client's name of an event, without case and separators."""

LONGEST_TEXT = 20_000
MOST_MESSAGES = 200
_EXIT_CODE = re.compile(r"(?:exit(?:ed with)? code|process exited with code)[:\s]*(-?\d+)", re.IGNORECASE)

_COMPLAINS = re.compile(
    r"^(?:\w*(?:error|exception)\b|fatal:|traceback|failed\b|npm err!"
    r"|.*(?:command not found|no such file or directory|permission denied))",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class HookCall:
    """A call in a form that is the same for all clients."""

    kind: Kind
    event: str
    client: str
    session: str = ""
    folder: str = ""
    prompt: str = ""
    transcript: str = ""
    """The path of the file with the conversation so far."""
    messages: tuple[Mapping[str, Any], ...] = ()
    """The conversation itself, from a client that keeps no file."""
    command: str = ""
    error: str = ""
    source: str = ""
    """Why a session starts: `startup`, `resume`, `clear`, `compact`."""


def read_call(event: str, client: str, payload: Mapping[str, Any]) -> HookCall:
    """Parse a call; fields that are missing or of the wrong type become empty."""
    tool_input = payload.get("tool_input")
    return HookCall(
        kind=KINDS.get(re.sub(r"[^a-z]", "", event.lower()), "other"),
        event=event,
        client=_client(client, payload),
        session=_text(payload, "session_id", "sessionId", "sessionID", "conversation_id")[:200],
        folder=_text(payload, "cwd", "workspace", "directory")[:4000] or _first_root(payload),
        prompt=_text(payload, "prompt", "text"),
        transcript=_text(payload, "transcript_path", "transcriptPath")[:4000],
        messages=_messages(payload),
        command=_command(tool_input),
        error=_error(payload),
        source=_text(payload, "source")[:40],
    )


def _client(named: str, payload: Mapping[str, Any]) -> str:
    """Cursor and VS Code run Claude Code's hooks too, with fields of their own."""
    if named not in ("", "claude-code"):
        return named
    if "conversation_id" in payload:
        return "cursor"
    return "vscode" if "sessionId" in payload and "session_id" not in payload else "claude-code"


def _text(payload: Mapping[str, Any], *names: str) -> str:
    for name in names:
        if isinstance(value := payload.get(name), str) and value:
            return value[:LONGEST_TEXT]
    return ""


def _first_root(payload: Mapping[str, Any]) -> str:
    roots = payload.get("workspace_roots")
    return roots[0][:4000] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""


def _messages(payload: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    given = payload.get("messages")
    if not isinstance(given, list):
        return ()
    return tuple(one for one in given[-MOST_MESSAGES:] if isinstance(one, dict))


def _command(tool_input: object) -> str:
    if not isinstance(tool_input, dict):
        return ""
    command = tool_input.get("command") or tool_input.get("cmd") or ""
    return " ".join(map(str, command)) if isinstance(command, list) else str(command)[:LONGEST_TEXT]


def _error(payload: Mapping[str, Any]) -> str:
    """The error message of a tool; empty if it succeeded."""
    if error := _text(payload, "error"):
        return error
    response = payload.get("tool_response")
    text = response if isinstance(response, str) else json.dumps(response, ensure_ascii=False, default=str)
    if isinstance(response, dict):
        shown = (
            response.get("llmContent"),
            response.get("stderr"),
            response.get("output"),
            response.get("error"),
        )
        text = "\n".join(one for one in shown if isinstance(one, str)) or text
    found = _EXIT_CODE.search(text)
    # Codex passes on a command's output, but not its exit code.
    failed = bool(found[1].strip("-0")) if found else isinstance(response, str) and _COMPLAINS.search(text)
    return text[:LONGEST_TEXT] if failed else ""
