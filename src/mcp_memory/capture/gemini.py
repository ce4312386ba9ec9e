"""Gemini CLI's transcript: `~/.gemini/tmp/<project>/chats/session-*.jsonl`; a repeated id replaces."""

from __future__ import annotations

import re
from typing import Any

from mcp_memory.capture.recording import Record, Recorder, mapping, text_of

_EDITORS = frozenset({"write_file", "replace", "edit"})
_EXIT = re.compile(r"^(?:Exit Code|Error):\s*(?!0\b|\(none\))(\S.*)$", re.MULTILINE)


def read(record: Record, recorder: Recorder) -> bool:
    value = record.value
    kind = value.get("type")
    if "$set" in value or "projectHash" in value:
        return True
    if kind == "user" and "content" in value and "message" not in value:
        text, name = text_of(value["content"]), str(value.get("id", record.start))
        recorder.say(text, id=name, at=value.get("timestamp"), start=record.start)
        return True
    if kind != "gemini":
        return kind in ("info", "error", "warning")
    recorder.reply(text_of(value.get("content")))
    for call in value.get("toolCalls") or []:
        _call(mapping(call), recorder, record.start)
    return True


def _call(call: Any, recorder: Recorder, start: int) -> None:
    given, name = mapping(call.get("args")), str(call.get("id"))
    if call.get("name") == "run_shell_command":
        recorder.use(name, str(given.get("command", "")), start=start)
    elif call.get("name") in _EDITORS:
        path = str(given.get("file_path", ""))
        recorder.use(name, f"edit {path}", edits=path, start=start)
    else:
        return
    output = _output(call)
    failed = call.get("status") in ("error", "cancelled") or bool(_EXIT.search(output))
    recorder.answer(name, output, failed=failed)


def _output(call: Any) -> str:
    shown = call.get("resultDisplay")
    results = call.get("result") if isinstance(call.get("result"), list) else []
    told = [mapping(mapping(mapping(one).get("functionResponse")).get("response")) for one in results]
    texts = [str(one.get("output") or one.get("error") or "") for one in told]
    return "\n".join(filter(None, texts)) or (shown if isinstance(shown, str) else "")
