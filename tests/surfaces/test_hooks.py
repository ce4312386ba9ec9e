"""Hooks of clients: what they are told, what is captured afterwards, and what strangers cannot do."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_memory.embedding import Embedder
from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.engine.project import OPT_OUT
from mcp_memory.server.hooks import Hooks
from mcp_memory.storage import Store
from mcp_memory.storage.sqlite.database import SqliteDatabase
from tests.conftest import EngineMaker

PORT = "The staging database runs on db-stg-2, port 5433."
ASKED = "Which port does the staging database listen on?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(SqliteDatabase(tmp_path / "memory.db", "NORMAL")).open()
    yield store
    store.close()


@pytest.fixture
def engine(make_engine: EngineMaker, minilm: Embedder) -> Engine:
    engine = make_engine(model=minilm)
    engine.memories.remember(NewMemory(content=PORT, type="fact"))
    return engine


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


class Client:
    """A client with a transcript in a folder of its own."""

    def __init__(self, hooks: Hooks, engine: Engine, folder: Path, name: str = "claude-code") -> None:
        self.hooks, self.engine, self.folder, self.name = hooks, engine, folder, name
        self.transcript = folder / "s1.jsonl"
        self.session = "s1"

    def call(self, event: str, **payload: Any) -> str:
        payload = {
            "session_id": self.session,
            "cwd": str(self.folder),
            "transcript_path": str(self.transcript),
            **payload,
        }
        return self.hooks.answer(self.engine, {"event": event, "client": self.name, "payload": payload})

    def says(self, *texts: str) -> None:
        with self.transcript.open("a") as file:
            for text in texts:
                said = {"type": "user", "uuid": text[:40], "message": {"role": "user", "content": text}}
                file.write(json.dumps(said) + "\n")

    def ends_turn(self) -> None:
        assert self.call("Stop") == ""
        self.hooks.drain()

    def captured(self) -> list[str]:
        return [memory.content for memory in self.engine.captures.find().memories]


@pytest.fixture
def client(hooks: Hooks, engine: Engine, tmp_path: Path) -> Client:
    folder = tmp_path / "work"
    folder.mkdir()
    return Client(hooks, engine, folder)


def test_a_related_prompt_is_answered_in_the_clients_words(client: Client) -> None:
    told = json.loads(client.call("UserPromptSubmit", prompt=ASKED))["hookSpecificOutput"]
    assert told["hookEventName"] == "UserPromptSubmit"
    assert "5433" in told["additionalContext"]


@pytest.mark.parametrize(
    ("name", "event", "silence"),
    [
        ("claude-code", "UserPromptSubmit", ""),
        ("gemini", "BeforeAgent", "{}"),
        ("opencode", "chat.message", ""),
    ],
)
def test_an_unrelated_prompt_gets_silence(client: Client, name: str, event: str, silence: str) -> None:
    client.name = name
    assert client.call(event, prompt="What is the capital of Australia?") == silence


def test_a_start_brings_the_digest(client: Client) -> None:
    assert "5433" in client.call("SessionStart", source="startup")


def test_a_start_that_was_missed_comes_with_the_first_prompt(client: Client, engine: Engine) -> None:
    payload = {"session_id": "late", "cwd": "/", "prompt": "hello there"}
    request = {"event": "UserPromptSubmit", "client": "claude-code", "payload": payload, "start": "missed"}
    assert "5433" in client.hooks.answer(engine, request)


def test_what_a_kept_digest_has_shown_is_not_said_again(client: Client, engine: Engine) -> None:
    payload = {"session_id": "cold", "cwd": "/", "prompt": ASKED}
    request = {"event": "UserPromptSubmit", "client": "claude-code", "payload": payload, "start": "shown"}
    assert client.hooks.answer(engine, request) == ""


def test_what_was_said_is_captured_once_however_often_it_is_read(client: Client) -> None:
    client.says("We never deploy on Fridays.")
    client.ends_turn()
    client.ends_turn()
    client.call("SessionEnd", reason="other")
    client.hooks.drain()
    assert client.captured() == ["We never deploy on Fridays."]


def test_a_captured_memory_knows_the_client_and_the_hook_it_came_through(
    client: Client, engine: Engine
) -> None:
    client.says("From now on, write all commit messages in English.")
    client.ends_turn()
    [captured] = engine.captures.find().memories
    assert captured.provenance == {"client": "claude-code", "via": "capture", "tool": "hook Stop"}
    assert captured.type == "preference"
    assert engine.history.recent()[0].client == "claude-code"


def test_only_what_is_new_is_read(client: Client) -> None:
    client.says("We never deploy on Fridays.", "thanks")
    client.ends_turn()
    client.says("My name is Ines.")
    client.ends_turn()
    assert client.captured() == ["My name is Ines.", "We never deploy on Fridays."]
    assert client.engine.captures.cursor("s1") > 0


def test_what_one_client_hears_another_is_told(client: Client, engine: Engine) -> None:
    client.says("Our production cluster is called walrus and runs in Frankfurt.")
    client.ends_turn()
    client.name, client.session = "codex", "s2"
    assert "walrus" in client.call("UserPromptSubmit", prompt="Where does our production cluster run?")


def test_codex_says_what_a_command_printed_and_not_how_it_ended(client: Client, engine: Engine) -> None:
    fix = (
        "`pytest -q` failed with ModuleNotFoundError: No module named 'yaml'. What helped: pip install pyyaml"
    )
    engine.memories.remember(NewMemory(content=fix, type="learning"))
    client.name = "codex"
    failed = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
    said = client.call("PostToolUse", **failed, tool_response="ModuleNotFoundError: No module named 'yaml'\n")
    assert "pip install pyyaml" in said
    assert client.call("PostToolUse", **failed, tool_response="12 passed\n") == ""


def test_one_prompt_that_two_hooks_report_is_served_once(client: Client) -> None:
    assert client.call("UserPromptSubmit", prompt=ASKED)
    assert client.call("UserPromptSubmit", prompt=ASKED) == ""


def test_clients_that_cannot_inject_are_not_told(client: Client) -> None:
    client.name = "cursor"
    assert client.call("beforeSubmitPrompt", prompt=ASKED) == ""
    assert json.loads(client.call("sessionStart"))["additional_context"]


@pytest.mark.parametrize(
    ("name", "own_event", "session"),
    [("cursor", "sessionStart", "conversation_id"), ("vscode", "SessionStart", "sessionId")],
)
def test_claude_codes_hooks_that_an_editor_runs_too_serve_nobody_twice(
    hooks: Hooks, engine: Engine, tmp_path: Path, name: str, own_event: str, session: str
) -> None:
    def call(event: str, client: str, **more: str) -> str:
        payload = {session: "e1", "cwd": str(tmp_path), **more}
        return hooks.answer(engine, {"event": event, "client": client, "payload": payload})

    starts = [call(own_event, name), call("SessionStart", "claude-code")]
    assert [bool(said) for said in starts] == [True, False]
    own_prompt = "beforeSubmitPrompt" if name == "cursor" else "UserPromptSubmit"
    for event, client in ((own_prompt, name), ("UserPromptSubmit", "claude-code")):
        assert call(event, client, prompt="We never deploy on Fridays.") == ""
    hooks.drain()
    [memory] = engine.captures.find().memories
    assert (memory.content, memory.source) == ("We never deploy on Fridays.", name)


def test_a_failed_command_is_answered_with_the_earlier_fix(client: Client) -> None:
    run = [
        ("pytest -q", "ModuleNotFoundError: No module named 'yaml'", True),
        ("pip install pyyaml", "ok", False),
        ("pytest -q", "1 passed", False),
    ]
    client.says("run the tests")
    with client.transcript.open("a") as file:
        for n, (command, output, failed) in enumerate(run):
            use = {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": command}}
            result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": output, "is_error": failed}
            file.write(json.dumps({"type": "assistant", "message": {"content": [use]}}) + "\n")
            file.write(json.dumps({"type": "user", "uuid": f"r{n}", "message": {"content": [result]}}) + "\n")
    client.ends_turn()
    client.session = "s2"
    told = client.call(
        "PostToolUseFailure",
        tool_name="Bash",
        tool_input={"command": "pytest -q"},
        error="Exit code 1\nModuleNotFoundError: No module named 'yaml'",
    )
    assert "pip install pyyaml" in told


def test_a_tool_that_went_well_gets_silence(client: Client) -> None:
    assert (
        client.call("PostToolUse", tool_name="Bash", tool_response="Exit code: 0\nstaging database 5433")
        == ""
    )


def test_a_project_can_opt_out(client: Client) -> None:
    (client.folder / OPT_OUT).write_text("capture = false\nrecall = false\n")
    client.says("We never deploy on Fridays.")
    client.ends_turn()
    assert client.captured() == []
    assert client.call("UserPromptSubmit", prompt=ASKED) == ""


def test_an_opt_out_that_cannot_be_read_counts(client: Client) -> None:
    (client.folder / OPT_OUT).write_text("capture = maybe?")
    assert client.call("UserPromptSubmit", prompt=ASKED) == ""


def test_an_injected_memory_that_is_acted_upon_was_used(client: Client, engine: Engine) -> None:
    client.call("UserPromptSubmit", prompt=ASKED)
    client.says(ASKED)
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "psql -h db-stg-2 -p 5433"}}
    with client.transcript.open("a") as file:
        file.write(json.dumps({"type": "assistant", "message": {"content": [use]}}) + "\n")
    client.ends_turn()
    [memory] = [one.memory for one in engine.recall.recall(PORT).hits if one.memory.content == PORT]
    assert memory.access_count == 1


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        {"session_id": 7, "prompt": ["x"], "cwd": {}},
        {"session_id": "s", "cwd": "relative", "prompt": "\0\ud800 staging database port"},
        {"session_id": "s" * 9999, "prompt": "x" * 100_000, "cwd": "/nonexistent/\0"},
        {"session_id": "s", "transcript_path": "/etc/passwd", "messages": [1, None, {"info": 3}]},
        {"tool_response": {"a": {"b": [1]}}, "tool_input": "x"},
        {"tool_response": "exit code: " + "1" * 10_000, "tool_input": {"command": "make"}},
    ],
)
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop", "PostToolUse", "", "Ünknown"])
def test_strangers_input_is_harmless(hooks: Hooks, engine: Engine, event: str, payload: object) -> None:
    said = hooks.answer(engine, {"event": event, "client": "", "payload": payload})
    hooks.drain()
    assert said == "" or json.loads(said)


def test_a_transcript_that_is_no_file_is_passed_over(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    os.mkfifo(client.transcript)
    client.ends_turn()
    client.transcript.unlink()
    client.transcript.mkdir()
    client.ends_turn()
    for nowhere in ("/\0.jsonl", "/\ud800.jsonl"):
        client.call("Stop", transcript_path=nowhere)
        client.hooks.drain()
    assert client.captured() == []
    assert [record for record in caplog.records if record.exc_info] == []


def test_a_huge_transcript_is_read_from_its_end(client: Client) -> None:
    filler = json.dumps({"type": "progress", "data": "x" * 10_000}) + "\n"
    with client.transcript.open("w") as file:
        for _ in range(1200):
            file.write(filler)
    client.says("We never deploy on Fridays.")
    client.ends_turn()
    assert client.captured() == ["We never deploy on Fridays."]


def test_a_transcript_that_was_written_anew_is_read_from_its_start(client: Client) -> None:
    client.says("one", "two " * 50, "three")
    client.ends_turn()
    client.transcript.unlink()
    client.says("My name is Ines.")
    client.ends_turn()
    assert client.captured() == ["My name is Ines."]
