"""Memory that arrives by itself, with the real clients and a model that records what reaches it."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tools.assistants import HomeWithModel, _program, why_not

from tests.clients.fake_model import Model, fake_model, offered_tools

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")

CLIENTS = ("claude-code", "codex", "gemini", "opencode")
FACT = "The staging database runs on db-stg-2, port 5433."
RULE = "Never deploy on Fridays"
RELATED = "Which port does the staging database listen on?"
UNRELATED = "What is the capital of Australia?"
TRIES = 4
"""A hook that has not been answered after 300 ms says nothing, which a busy machine makes it do."""


class Person(HomeWithModel):
    """Somebody whose clients are connected to the memory, and to a model that is not real."""

    def connect(self, address: str) -> None:
        for folder in (".claude", ".codex", ".gemini", ".config/opencode", "work"):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / ".codex/config.toml").write_text(
            'model = "mock"\nmodel_provider = "mock"\n\n[model_providers.mock]\nname = "mock"\n'
            f'base_url = "{address}/v1"\nwire_api = "responses"\n'
        )
        auth = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
        (self.folder / ".gemini/settings.json").write_text(json.dumps({"security": auth}))
        mock = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{address}/v1", "apiKey": "x"},
            "models": {"m": {"tool_call": True}},
        }
        self.configure_opencode(
            json.dumps({"model": "mock/m", "provider": {"mock": mock}, "permission": "allow"})
        )
        done = self.run("mcp-memory", "install", "--yes", *CLIENTS)
        assert done.stdout.count(": connected.") == len(CLIENTS), done.stdout

    def trust_codex_hooks(self) -> None:
        """What a person does in Codex with /hooks."""
        asked: list[dict[str, Any]] = [
            {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "0"}}},
            {"method": "initialized"},
            {"id": 2, "method": "hooks/list", "params": {"cwds": [str(self.folder)]}},
        ]
        with subprocess.Popen(
            [str(Path(self.node) / "node"), str(_program("codex")), "app-server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=self.environment, cwd=self.folder,
        ) as server:  # fmt: skip
            assert server.stdin
            assert server.stdout
            for one in asked:
                server.stdin.write(json.dumps(one) + "\n")
                server.stdin.flush()
            answers = (json.loads(line) for line in server.stdout)
            listed = next(answer for answer in answers if answer.get("id") == 2)
            server.terminate()
        hooks = [hook for place in listed["result"]["data"] for hook in place["hooks"]]
        assert hooks
        with (self.folder / ".codex/config.toml").open("a") as file:
            for hook in hooks:
                file.write(f'\n[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n')

    @property
    def node(self) -> str:
        from tools.npm_tools import node_folder

        return str(node_folder())

    def asks(self, client: str, prompt: str, address: str) -> str:
        """One turn, without anybody at the keyboard."""
        words = {
            "claude-code": (
                "claude", "-p", prompt, "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions",
            ),
            "codex": (
                "codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
                prompt,
            ),
            "gemini": ("gemini", "-p", prompt, "-m", "gemini-2.5-flash", "--yolo"),
            "opencode": ("opencode", "run", prompt),
        }[client]  # fmt: skip
        return self.run(*words).stdout

    def warm_up(self) -> None:
        """Wait until the shared server answers prompts within a hook's limit."""
        for number in range(300):
            call = json.dumps({"session_id": f"warm-{number}", "prompt": RELATED})
            if (
                "5433"
                in self.run("mcp-memory", "hook", "UserPromptSubmit", "--client", "codex", input=call).stdout
            ):
                return
        pytest.fail("the shared server never answered a hook")


@pytest.fixture
def model() -> Iterator[tuple[str, Model]]:
    with fake_model() as started:
        yield started


@pytest.fixture
def person(model: tuple[str, Model]) -> Iterator[Person]:
    address, _ = model
    # A test's own folder has so long a name that no socket fits into it.
    folder = tempfile.TemporaryDirectory(prefix="arr", ignore_cleanup_errors=True)
    home = Person(Path(folder.name), address)
    home.connect(address)
    home.trust_codex_hooks()
    # A digest holds rules; an observation is injected when a prompt calls for it.
    home.run("mcp-memory", "remember", RULE, "--type", "preference")
    home.run("mcp-memory", "remember", FACT, "--type", "observation")
    yield home
    home.leave()
    folder.cleanup()


def sent(model: Model, person: Person, client: str, prompt: str, address: str) -> str:
    """Everything that reached the model in one turn."""
    model.requests.clear()
    person.asks(client, prompt, address)
    assert model.requests, f"{client} has not asked the model"
    return json.dumps(model.requests, ensure_ascii=False)


@pytest.mark.parametrize("client", CLIENTS)
def test_the_start_and_a_related_prompt_bring_memories_and_another_prompt_does_not(
    person: Person, model: tuple[str, Model], client: str
) -> None:
    address, recording = model
    person.warm_up()
    for _ in range(TRIES):
        at_start = sent(recording, person, client, UNRELATED, address)
        if RULE in at_start:
            break
    assert RULE in at_start
    assert "5433" not in at_start
    for _ in range(TRIES):
        related = sent(recording, person, client, RELATED, address)
        if "5433" in related:
            break
    assert "5433" in related


def test_what_is_said_in_one_client_is_known_in_the_next(person: Person, model: tuple[str, Model]) -> None:
    address, recording = model
    person.warm_up()
    cities = {"claude-code": "Ghent", "codex": "Turin", "gemini": "Lyon", "opencode": "Graz"}
    for client, city in cities.items():
        for _ in range(TRIES):
            person.asks(
                client, f"Our {client} cluster is called {city.lower()}-1 and runs in {city}.", address
            )
            if city in person.run("mcp-memory", "captured").stdout:
                break
        assert city in person.run("mcp-memory", "captured").stdout, client
    for client in reversed(CLIENTS):
        for _ in range(TRIES):
            reached = sent(recording, person, client, "In which city does our codex cluster run?", address)
            if "turin-1" in reached:
                break
        assert "turin-1" in reached, client


SHELLS: Mapping[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "claude-code": ("Bash", lambda command: {"command": command}),
    "codex": ("exec_command", lambda command: {"cmd": command}),
    "gemini": ("run_shell_command", lambda command: {"command": command}),
    "opencode": ("bash", lambda command: {"command": command, "description": "runs it"}),
}
"""By client, the tool that runs a command, and what it takes."""


def test_a_failed_command_is_answered_with_what_helped_before(
    person: Person, model: tuple[str, Model]
) -> None:
    address, recording = model
    person.warm_up()
    marker = person.folder / "mended"
    check = f"test -e {marker} || {{ echo 'Error: the frobnicator is not calibrated'; exit 3; }}"
    script = person.folder / "frob.sh"
    script.write_text(f"{check}\necho fine\n")

    def runs(client: str, command: str) -> dict[str, Any]:
        name, given = SHELLS[client]
        return {"tool": (name,), "input": given(command)}

    run, mend = runs("claude-code", f"sh {script}"), runs("claude-code", f"touch {marker}")
    recording.script = [run, mend, run, {"text": "Done."}]
    for _ in range(TRIES):
        marker.unlink(missing_ok=True)
        person.asks("claude-code", "run frob.sh", address)
        if "frobnicator" in person.run("mcp-memory", "captured").stdout:
            break
    assert "What helped" in person.run("mcp-memory", "captured").stdout
    for client in CLIENTS:
        recording.script = [runs(client, f"sh {script}"), {"text": "Done."}]
        for _ in range(TRIES):
            marker.unlink(missing_ok=True)
            reached = sent(recording, person, client, "run it please", address)
            if "This was seen before" in reached:
                break
        assert "This was seen before" in reached, client


def test_a_session_that_begins_without_a_server_is_told_its_digest(
    person: Person, model: tuple[str, Model]
) -> None:
    address, recording = model
    person.warm_up()
    for _ in range(TRIES):
        if RULE in sent(recording, person, "claude-code", UNRELATED, address):
            break
    pid = int(json.loads(person.run("mcp-memory", "status", "--json").stdout)["pid"])
    person.run("mcp-memory", "stop")
    while Path(f"/proc/{pid}/statm").exists() and Path(f"/proc/{pid}/statm").read_text().split()[0] != "0":
        person.run("mcp-memory", "--version")
    assert RULE in sent(recording, person, "claude-code", UNRELATED, address)


def test_the_model_is_offered_the_few_tools_of_the_default(person: Person, model: tuple[str, Model]) -> None:
    address, recording = model
    person.warm_up()
    offered: set[str] = set()
    for _ in range(TRIES):
        recording.requests.clear()
        person.asks("claude-code", UNRELATED, address)
        for request in recording.requests:
            offered |= {name for _, name in offered_tools(request) if name.startswith("mcp__memory__")}
        if offered:
            break
    assert {name.removeprefix("mcp__memory__") for name in offered} >= {
        "memory_save",
        "memory_recall",
        "undo_change",
    }
    assert len(offered) <= 9


def test_uninstalling_leaves_no_trace_in_the_clients_files(person: Person) -> None:
    said = person.run("mcp-memory", "uninstall").stdout
    assert said.count("disconnected") == len(CLIENTS)
    for file in (".claude/settings.json", ".codex/hooks.json", ".config/opencode/plugin/mcp-memory.js"):
        assert not (person.folder / file).exists()
    for file in (
        ".claude.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".config/opencode/opencode.json",
    ):
        path = person.folder / file
        assert not path.exists() or "mcp-memory" not in path.read_text()
