"""Claude Code's transcript: `~/.claude/projects/<folder>/<session>.jsonl`."""

from __future__ import annotations

from typing import Any

from mcp_memory.capture.recording import Record, Recorder, mapping, text_of

_EDITORS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_OTHERS = frozenset(
    {"attachment", "system", "summary", "file-history-snapshot", "queue-operation", "progress"}
)


def read(record: Record, recorder: Recorder) -> bool:
    value = record.value
    kind, message = value.get("type"), mapping(value.get("message"))
    if kind not in ("user", "assistant") or not message:
        return kind in _OTHERS
    # A subagent's prompt is by the assistant, and a summary by compaction: neither is by a person.
    if value.get("isSidechain") or value.get("isMeta") or value.get("isCompactSummary"):
        return True
    content = message.get("content")
    if kind == "user":
        _results(content, recorder)
        recorder.say(
            text_of(content),
            id=str(value.get("uuid", record.start)),
            at=value.get("timestamp"),
            start=record.start,
        )
    else:
        recorder.reply(text_of(content))
        _uses(content, recorder, record.start)
    return True


def _uses(content: Any, recorder: Recorder, start: int) -> None:
    for part in content if isinstance(content, list) else []:
        part = mapping(part)
        if part.get("type") != "tool_use":
            continue
        given = mapping(part.get("input"))
        if part.get("name") == "Bash":
            recorder.use(str(part.get("id")), str(given.get("command", "")), start=start)
        elif part.get("name") in _EDITORS:
            path = str(given.get("file_path") or given.get("notebook_path") or "")
            recorder.use(str(part.get("id")), f"edit {path}", edits=path, start=start)


def _results(content: Any, recorder: Recorder) -> None:
    for part in content if isinstance(content, list) else []:
        part = mapping(part)
        if part.get("type") == "tool_result":
            recorder.answer(
                str(part.get("tool_use_id")), text_of(part.get("content")), failed=bool(part.get("is_error"))
            )
