"""Codex's transcript: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from mcp_memory.capture.recording import Record, Recorder, mapping, text_of

_KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
_EXIT = re.compile(r"(?:exit(?:ed with)? code:?|Exit code:?)\s*(-?\d+)", re.IGNORECASE)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
# Messages that the client itself sends as the user.
_NOT_SAID = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md",
    "<turn_aborted>",
    "<INSTRUCTIONS>",
)


def read(record: Record, recorder: Recorder) -> bool:
    value, payload = record.value, mapping(record.value.get("payload"))
    if value.get("type") not in _KINDS or not payload:
        return False
    if value["type"] != "response_item":
        return True
    kind = payload.get("type")
    if kind == "message" and payload.get("role") == "user":
        text = text_of(payload.get("content"))
        if not text.lstrip().startswith(_NOT_SAID):
            name = str(value.get("ordinal") or record.start)
            recorder.say(text, id=name, at=value.get("timestamp"), start=record.start)
    elif kind == "message" and payload.get("role") == "assistant":
        recorder.reply(text_of(payload.get("content")))
    elif kind in _CALLS:
        _use(payload, recorder, record.start)
    elif kind in _OUTPUTS:
        _answer(payload, recorder)
    return True


def _use(payload: Mapping[str, Any], recorder: Recorder, start: int) -> None:
    given = _arguments(payload)
    name = str(payload.get("call_id") or payload.get("id"))
    patch = given.get("input") or given.get("patch") or ""
    touched = _PATCHED.search(str(patch))
    if touched:
        recorder.use(name, f"edit {touched[1]}", edits=touched[1], start=start)
        return
    command = given.get("command") or given.get("cmd") or ""
    if command:
        recorder.use(name, _joined(command), start=start)


def _arguments(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    action = mapping(payload.get("action"))
    if action:
        return action
    text = payload.get("arguments") or payload.get("input") or ""
    try:
        return mapping(json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return {"input": text}


def _joined(command: Any) -> str:
    """A command as people type it; `["bash", "-lc", "ls"]` is `ls`."""
    if not isinstance(command, list):
        return str(command)
    words = [str(word) for word in command]
    return words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)


def _answer(payload: Mapping[str, Any], recorder: Recorder) -> None:
    output = payload.get("output")
    text = (
        text_of(output)
        if isinstance(output, list)
        else output
        if isinstance(output, str)
        else json.dumps(output)
    )
    code = 0
    try:
        parsed = mapping(json.loads(text))
    except (ValueError, RecursionError):
        parsed = {}
    if parsed:
        code = mapping(parsed.get("metadata")).get("exit_code", 0)
        text = str(parsed.get("output", text))
    elif found := _EXIT.search(text):
        code = int(bool(found[1].strip("-0")))
    recorder.answer(str(payload.get("call_id")), text.partition("Output:\n")[2] or text, failed=code != 0)
