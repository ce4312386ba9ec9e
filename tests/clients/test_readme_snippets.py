"""The README's instructions for each assistant, followed with the assistant itself."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.assistants import Home, why_not

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
REASON = why_not()

pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    person = Home(tmp_path)
    yield person
    person.leave()


def command_of(assistant: str) -> list[str]:
    [found] = re.findall(rf"\| {re.escape(assistant)} \| `(.+?)` \|", README)
    return shlex.split(found)


def json_after(heading: str) -> str:
    [found] = re.findall(rf"\*\*{re.escape(heading)}\*\*.*?```json\n(.*?)```", README, re.DOTALL)
    assert json.loads(found)
    return str(found)


def test_claude_code_connects(home: Home) -> None:
    assert home.run(*command_of("Claude Code")).returncode == 0
    assert "memory: mcp-memory  - ✔ Connected" in home.run("claude", "mcp", "list").stdout


def test_gemini_cli_connects(home: Home) -> None:
    assert home.run(*command_of("Gemini CLI")).returncode == 0
    home.trust_folder()
    connected = "memory: mcp-memory  (stdio) - Connected"
    assert connected in home.run_until(connected, "gemini", "mcp", "list").stdout


def test_codex_takes_the_configuration(home: Home) -> None:
    assert home.run(*command_of("Codex")).returncode == 0
    [server] = json.loads(home.run("codex", "mcp", "list", "--json").stdout)
    assert (server["name"], server["enabled"]) == ("memory", True)
    assert server["transport"]["command"] == "mcp-memory"


def test_opencode_connects(home: Home) -> None:
    home.configure_opencode(json_after("OpenCode"))
    listed = home.run("opencode", "mcp", "list").stdout
    assert re.search(r"memory\s+connected", listed), listed


def test_the_object_for_other_assistants_is_what_they_expect() -> None:
    [shown] = re.findall(r"most others:\n\n```json\n(.*?)```", README, re.DOTALL)
    assert json.loads(shown) == {"mcpServers": {"memory": {"command": "mcp-memory"}}}
