"""OpenCode's messages, as its plugin hands them over: `{"info": {…}, "parts": [{…}]}`."""

from __future__ import annotations

from typing import Any

from mcp_memory.capture.recording import Record, Recorder, mapping

_EDITORS = frozenset({"edit", "write", "patch"})


def read(record: Record, recorder: Recorder) -> bool:
    info, parts = mapping(record.value.get("info")), record.value.get("parts")
    if not info or not isinstance(parts, list):
        return False
    if info.get("role") == "user":
        said = [
            part for part in map(mapping, parts) if part.get("type") == "text" and not part.get("synthetic")
        ]
        recorder.say(
            _unquoted("\n".join(str(part.get("text", "")) for part in said)),
            id=str(info.get("id", record.start)),
            at=mapping(info.get("time")).get("created"),
            start=record.start,
        )
    else:
        recorder.reply(
            "\n".join(str(part.get("text", "")) for part in map(mapping, parts) if part.get("type") == "text")
        )
        for part in map(mapping, parts):
            _call(part, recorder, record.start)
    return True


def _call(part: Any, recorder: Recorder, start: int) -> None:
    state = mapping(part.get("state"))
    given, name = mapping(state.get("input")), str(part.get("callID") or part.get("id"))
    if part.get("type") != "tool" or not state:
        return
    if part.get("tool") == "bash":
        recorder.use(name, str(given.get("command", "")), start=start)
    elif part.get("tool") in _EDITORS:
        path = str(given.get("filePath", ""))
        recorder.use(name, f"edit {path}", edits=path, start=start)
    else:
        return
    failed = state.get("status") == "error" or mapping(state.get("metadata")).get("exit") not in (None, 0)
    recorder.answer(name, str(state.get("output") or state.get("error") or ""), failed=failed)


def _unquoted(text: str) -> str:
    """`opencode run` puts a message of several words into quotes."""
    bare = text.strip()
    is_quoted = len(bare) > 2 and bare[0] == bare[-1] == '"' and '"' not in bare[1:-1].replace('\\"', "")
    return bare[1:-1].replace('\\"', '"') if is_quoted else text
