"""Clients are connected with care: nothing of theirs is lost, and all of it can be taken back."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from mcp_memory.cli.clients import jsonc
from mcp_memory.cli.clients.catalogue import CLIENTS, Machine, stable_command
from tests.surfaces.cli.shell import Shell

BEFORE = {
    ".claude/settings.json": '{\n  "model": "opus",\n  "hooks": {\n    "Stop": '
    '[{"hooks": [{"type": "command", "command": "say done"}]}]\n  }\n}\n',
    ".claude.json": '{"numStartups": 4, "mcpServers": {"other": {"command": "x"}}}',
    ".codex/config.toml": '# mine\nmodel = "gpt"\n\n[mcp_servers.other]\ncommand = "x"\n',
    ".cursor/mcp.json": "{}\n",
    ".gemini/settings.json": '{\n\t"theme": "dark" // at night\n}\n',
    ".config/opencode/opencode.jsonc": '// my settings\n{\n  "theme": "x", /* nice */\n}\n',
    ".config/Claude/claude_desktop_config.json": '{\n    "mcpServers": {}\n}',
    ".config/Code/User/mcp.json": '{"servers": {}, "inputs": []}\n',
    ".codeium/windsurf/mcp_config.json": "",
    ".config/zed/settings.json": '// Zed settings\n{\n  "vim_mode": true,\n  // the end\n}\n',
}


@pytest.fixture
def home(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    for name, text in BEFORE.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setenv("HOME", str(home))
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(variable, raising=False)
    return home


def everything(home: Path) -> dict[str, bytes]:
    kept = home / ".local"
    return {
        str(file.relative_to(home)): file.read_bytes()
        for file in sorted(home.rglob("*"))
        if file.is_file() and kept not in file.parents
    }


def test_all_nine_are_connected_and_put_back_exactly(shell: Shell, home: Path) -> None:
    before = everything(home)
    said = shell.said("install", "--yes")
    for client in CLIENTS.values():
        assert f"{client.title}: connected." in said
    assert everything(home) != before
    said = shell.said("uninstall")
    for client in CLIENTS.values():
        assert f"{client.title}: disconnected." in said
    assert everything(home) == before
    assert not (home / ".config/opencode/plugin").exists()


def test_doing_it_twice_changes_nothing(shell: Shell, home: Path) -> None:
    shell.run("install", "--yes")
    once = everything(home)
    assert "connected already" in shell.said("install", "--yes")
    assert everything(home) == once


def test_what_was_there_stays_with_its_comments(shell: Shell, home: Path) -> None:
    shell.run("install", "--yes")
    zed = (home / ".config/zed/settings.json").read_text()
    assert "// Zed settings" in zed
    assert "// the end" in zed
    assert jsonc.parsed(zed).value["context_servers"]["memory"]["command"]
    claude = json.loads((home / ".claude/settings.json").read_text())
    assert claude["hooks"]["Stop"][0]["hooks"][0]["command"] == "say done"
    assert "hook Stop --client claude-code" in claude["hooks"]["Stop"][1]["hooks"][0]["command"]
    state = json.loads((home / ".claude.json").read_text())
    assert set(state["mcpServers"]) == {"other", "memory"}
    codex = tomllib.loads((home / ".codex/config.toml").read_text())
    assert set(codex["mcp_servers"]) == {"other", "memory"}
    assert "// at night" in (home / ".gemini/settings.json").read_text()


def test_the_difference_is_shown_first_and_print_only_shows(shell: Shell, home: Path) -> None:
    before = everything(home)
    said = shell.said("install", "--print")
    assert '+  "context_servers": {' in said
    assert everything(home) == before


def test_it_asks_and_a_no_changes_nothing(shell: Shell, home: Path) -> None:
    before = everything(home)
    said = shell.run("install", "claude-code", input="n\n").stdout
    assert "captured by rules" in said
    assert "Connect Claude Code?" in said
    assert everything(home) == before


def test_where_nobody_answers_it_says_how_to_go_on(shell: Shell, home: Path) -> None:
    before = everything(home)
    said = shell.run("install", "claude-code", input="", exit_code=2).output
    assert "--yes connects without asking" in said
    assert everything(home) == before


def test_a_file_that_was_edited_since_loses_only_our_entries(shell: Shell, home: Path) -> None:
    shell.run("install", "--yes", "claude-code")
    settings = home / ".claude/settings.json"
    settings.write_text(settings.read_text().replace('"opus"', '"sonnet"'))
    shell.run("uninstall", "claude-code")
    assert settings.read_text() == BEFORE[".claude/settings.json"].replace('"opus"', '"sonnet"')


def test_without_hooks_or_capture_they_are_not_there(shell: Shell, home: Path) -> None:
    shell.run("install", "--yes", "--recall-only", "claude-code")
    hooks = json.loads((home / ".claude/settings.json").read_text())["hooks"]
    assert "UserPromptSubmit" in hooks
    assert "SessionEnd" not in hooks
    shell.run("install", "--yes", "--no-hooks", "claude-code")
    assert (home / ".claude/settings.json").read_text() == BEFORE[".claude/settings.json"]
    shell.run("uninstall", "claude-code")
    assert (home / ".claude.json").read_text() == BEFORE[".claude.json"]


def test_a_file_that_cannot_be_read_is_left_alone(shell: Shell, home: Path) -> None:
    (home / ".claude.json").write_text("{ not json")
    assert "left as it is" in shell.said("install", "--yes", "claude-code")
    assert (home / ".claude.json").read_text() == "{ not json"
    assert (home / ".claude/settings.json").read_text() == BEFORE[".claude/settings.json"]


def test_an_unknown_client_is_refused(shell: Shell, home: Path) -> None:
    assert "there is no client emacs" in shell.complaint("install", "emacs")


def test_vscode_and_cursor_get_hooks_in_their_own_form(shell: Shell, home: Path) -> None:
    shell.run("install", "--yes", "vscode", "cursor")
    hooks = json.loads((home / ".copilot/hooks/mcp-memory.json").read_text())["hooks"]
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "Stop"}
    [start] = hooks["SessionStart"]
    assert start["type"] == "command"
    assert start["command"].endswith("hook SessionStart --client vscode")
    cursor = json.loads((home / ".cursor/hooks.json").read_text())
    assert cursor["version"] == 1
    assert set(cursor["hooks"]) == {"sessionStart", "beforeSubmitPrompt"}
    [start] = cursor["hooks"]["sessionStart"]
    assert start["command"].endswith("hook sessionStart --client cursor")
    shell.run("install", "--yes", "--recall-only", "vscode", "cursor")
    assert set(json.loads((home / ".copilot/hooks/mcp-memory.json").read_text())["hooks"]) == {"SessionStart"}
    assert set(json.loads((home / ".cursor/hooks.json").read_text())["hooks"]) == {"sessionStart"}


def test_codex_is_given_no_hook_of_a_kind_that_disables_the_file(shell: Shell, home: Path) -> None:
    assert "trust them" in shell.said("install", "--yes", "codex")
    hooks = json.loads((home / ".codex/hooks.json").read_text())["hooks"]
    assert {hook["type"] for groups in hooks.values() for group in groups for hook in group["hooks"]} == {
        "command"
    }


def test_a_path_that_outlives_an_update_is_preferred(tmp_path: Path) -> None:
    around = Machine(home=tmp_path, environ={})
    assert stable_command(around, "/x/uv/archive-v0/abc/bin/mcp-memory") == ("uvx", "mcp-one-memory")
    assert stable_command(around, "/venv/bin/mcp-memory") == ("/venv/bin/mcp-memory",)
    (tmp_path / ".local/bin").mkdir(parents=True)
    (tmp_path / ".local/bin/mcp-memory").touch()
    assert stable_command(around, "/venv/bin/mcp-memory") == (str(tmp_path / ".local/bin/mcp-memory"),)


def test_the_doctor_says_which_clients_are_connected(
    shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = home / ".local/bin/mcp-memory"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    shell.run("install", "--yes", "claude-code", "codex")
    found = {one["subject"]: one for one in json.loads(shell.run("doctor", "--json").stdout)}
    assert found["Claude Code"]["is_well"]
    assert "its hook answers; it has not called yet" in found["Claude Code"]["detail"]
    assert "it has not called yet. Codex runs hooks only once you trust them" in found["Codex"]["detail"]
    assert "not connected" in found["Zed"]["detail"]
    program.write_text("#!/bin/sh\nexit 7\n")
    found = {one["subject"]: one for one in json.loads(shell.run("doctor", "--json", exit_code=1).stdout)}
    assert "does not start" in found["Claude Code"]["detail"]


@pytest.mark.parametrize(
    ("client", "title", "settings"),
    [
        ("codex", "Codex", ".codex/config.toml"),
        ("gemini", "Gemini CLI", ".gemini/settings.json"),
        ("zed", "Zed", ".config/zed/settings.json"),
    ],
)
def test_the_doctor_tries_the_command_that_the_client_would_start(
    shell: Shell, home: Path, client: str, title: str, settings: str
) -> None:
    program = home / ".local/bin/mcp-memory"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    shell.run("install", "--yes", client)
    file = home / settings
    file.write_text(file.read_text().replace(str(program), "/gone/mcp-memory"))
    found = {one["subject"]: one for one in json.loads(shell.run("doctor", "--json", exit_code=1).stdout)}
    assert "/gone/mcp-memory" in found[title]["detail"]
    assert f"mcp-memory install {client}" in found[title]["advice"]
