"""Each client's transcript is read as turns, whatever else is in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_memory.capture import read_transcript
from mcp_memory.capture.transcripts import read_messages

CLAUDE: list[dict[str, Any]] = [
    {"type": "file-history-snapshot", "messageId": "x"},
    {
        "type": "user",
        "uuid": "u1",
        "timestamp": "2026-11-16T10:00:00Z",
        "message": {"role": "user", "content": "Run it"},
    },
    {
        "type": "assistant",
        "message": {
            "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}]
        },
    },
    {
        "type": "user",
        "uuid": "u2",
        "message": {
            "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "no rule"}]
        },
    },
    {"type": "user", "uuid": "s", "isSidechain": True, "message": {"content": "My name is Sub."}},
    {"type": "user", "uuid": "u3", "message": {"content": [{"type": "text", "text": "thanks"}]}},
]

CODEX: list[dict[str, Any]] = [
    {"type": "session_meta", "payload": {"id": "s"}},
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": "<environment_context>"},
    },
    {
        "type": "response_item",
        "ordinal": 7,
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Run it"}]},
    },
    {
        "type": "response_item",
        "payload": {
            "type": "function_call",
            "call_id": "c",
            "arguments": '{"command": ["bash", "-lc", "make"]}',
        },
    },
    {
        "type": "response_item",
        "payload": {
            "type": "function_call_output",
            "call_id": "c",
            "output": "Exit code: 2\nOutput:\nno rule",
        },
    },
    {"type": "event_msg", "payload": {"type": "task_complete"}},
]

GEMINI: list[dict[str, Any]] = [
    {"sessionId": "s", "projectHash": "p"},
    {"id": "1", "type": "user", "content": [{"text": "Run"}]},
    {"id": "1", "type": "user", "content": [{"text": "Run it"}]},
    {
        "id": "2",
        "type": "gemini",
        "content": "",
        "toolCalls": [
            {
                "id": "c",
                "name": "run_shell_command",
                "args": {"command": "make"},
                "status": "success",
                "result": [{"functionResponse": {"response": {"output": "no rule\nExit Code: 2"}}}],
            }
        ],
    },
    {"$set": {"summary": "x"}},
]

OPENCODE: list[dict[str, Any]] = [
    {
        "info": {"role": "user", "id": "m1", "time": {"created": 1}},
        "parts": [
            {"type": "text", "text": "Run it"},
            {"type": "text", "text": "We never", "synthetic": True},
        ],
    },
    {
        "info": {"role": "assistant", "id": "m2"},
        "parts": [
            {
                "type": "tool",
                "tool": "bash",
                "callID": "c",
                "state": {
                    "status": "completed",
                    "input": {"command": "make"},
                    "output": "no rule",
                    "metadata": {"exit": 2},
                },
            }
        ],
    },
]


def lines(records: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_every_client_tells_the_same_turn() -> None:
    readings = [read_transcript(lines(records)) for records in (CLAUDE, CODEX, GEMINI)]
    for reading in [*readings, read_messages(OPENCODE)]:
        first = reading.turns[0]
        assert first.text == "Run it"
        assert [(call.command, call.failed) for call in first.calls] == [("make", True)]
        assert "no rule" in first.calls[0].output
        assert reading.unknown_count == 0


def test_subagents_and_what_clients_put_in_a_users_name_are_not_read() -> None:
    assert [turn.text for turn in read_transcript(lines(CLAUDE)).turns] == ["Run it", "thanks"]
    assert [turn.text for turn in read_transcript(lines(CODEX)).turns] == ["Run it"]


def test_the_next_look_begins_at_the_last_turn() -> None:
    data = lines(CLAUDE)
    first = read_transcript(data)
    more = data + lines([{"type": "user", "uuid": "u4", "message": {"content": "My name is Ines."}}])
    second = read_transcript(more[first.cursor :], first.cursor)
    assert [turn.text for turn in second.turns] == ["thanks", "My name is Ines."]
    assert more[second.cursor :].startswith(b'{"type": "user", "uuid": "u4"')


def test_a_line_that_is_still_being_written_is_left_for_later() -> None:
    data = lines(CLAUDE[:2])
    reading = read_transcript(data + b'{"type": "user", "uuid": "u9", "mess')
    assert [turn.text for turn in reading.turns] == ["Run it"]


def test_rubbish_is_passed_over() -> None:
    data = (
        b"\xff\xfe\n[1]\nnull\n"
        + b'{"type": "brand-new", "x": 1}\n'
        + lines(CLAUDE[:2])
        + b"{" * 5000
        + b"\n"
    )
    reading = read_transcript(data)
    assert [turn.text for turn in reading.turns] == ["Run it"]
    assert reading.unknown_count == 1


def test_an_empty_transcript_has_no_turns() -> None:
    assert read_transcript(b"").turns == ()


@pytest.mark.parametrize("output", ["[" * 5_000, "Exit code: " + "2" * 10_000, "Exit code: -00"])
def test_a_tools_output_cannot_stop_the_reading(output: str) -> None:
    *before, call, answer, _ = CODEX
    poisoned = {**answer, "payload": {**answer["payload"], "output": output}}
    asked = {**call, "payload": {**call["payload"], "arguments": "[" * 5_000}}
    data = lines([*before, call, poisoned, asked])
    [turn] = read_transcript(data).turns
    assert turn.text == "Run it"
    assert turn.calls[0].failed is output.startswith("Exit code: 2")
