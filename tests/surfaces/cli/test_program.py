"""The program as a whole: how it starts, how it refuses, and what it imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from mcp_memory import __version__
from mcp_memory.cli import COMMANDS, main
from tests.surfaces.cli.shell import CLEAN, Shell
from tests.surfaces.speaking import INITIALIZE

HEAVY = (
    "numpy",
    "onnxruntime",
    "tokenizers",
    "apsw",
    "psycopg",
    "rich",
    "mcp_memory.engine",
    "mcp_memory.storage",
)
SHOWS_NOTHING = {
    "export", "model install", "model pull", "serve", "memories pin", "memories unpin", "token revoke",
    "token none", "stop", "shared-server", "open", "completion",
    "captured drop", "captured accept", "captured purge", "backup verify", "backup restore", "pause",
    "resume", "digest", "install", "uninstall",
}  # fmt: skip


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        return [(" ".join(path), command)]
    context = click.Context(command)
    found = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    return [leaf for name, inner in found if inner for leaf in leaves(inner, (*path, name))]


def test_starting_imports_nothing_heavy() -> None:
    code = f"import sys, mcp_memory.cli; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=CLEAN)
    assert done.stdout.strip() == b"[]"


@pytest.mark.seed("001 lazy")
def test_initialize_is_answered_before_anything_heavy_is_imported(shell: Shell) -> None:
    done = shell.start(
        "--tools", "graph", python=("-X", "importtime"), input=json.dumps(INITIALIZE).encode() + b"\n"
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "mcp-memory"
    imported = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert "mcp_memory.thin.main" in imported
    assert imported.isdisjoint({*HEAVY, "mcp_memory.cli", "click"})


def test_the_server_ends_when_its_client_hangs_up(shell: Shell) -> None:
    done = shell.start("--tools", "graph", input=b"")
    assert (done.returncode, done.stdout) == (0, b"")


def test_every_command_in_the_table_loads_and_explains_itself(shell: Shell) -> None:
    for name in COMMANDS:
        assert shell.run(name, "--help").output.startswith(f"Usage: main {name}")
    shown = shell.run("--help").output
    assert {name for name in COMMANDS if f"  {name} " not in shown} == {"shared-server"}
    _, _, listed = shown.partition("Remember and recall:")
    assert "..." not in listed  # each fits its line


def test_every_command_that_shows_something_can_print_json() -> None:
    without = {
        path
        for path, command in leaves(main)
        if not any("--json" in option.opts for option in command.params)
    }
    assert without <= SHOWS_NOTHING


def test_the_version_is_told(shell: Shell) -> None:
    assert __version__ in shell.run("--version").output


def test_an_unknown_command_is_refused(shell: Shell) -> None:
    assert "No such command" in shell.run("remembr", exit_code=2).stderr


def test_an_invalid_setting_is_one_sentence_and_exit_code_2(shell: Shell) -> None:
    message = shell.refused("--space", " ", "info", exit_code=2)
    assert message.startswith("SPACE: the name of a space has no control characters, and no blank")


def test_what_is_not_found_is_exit_code_1(shell: Shell) -> None:
    assert shell.refused("observations", "add", "Nobody", "x", exit_code=1) == "Entity not found: Nobody"


def test_a_database_that_cannot_be_used_is_exit_code_3(shell: Shell) -> None:
    shell.file.write_bytes(b"this is no database, " * 100)
    assert "damaged" in shell.refused("info", exit_code=3)


def test_an_unexpected_failure_is_a_sentence_too(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_memory.wiring.build", lambda *_: 1 / 0)
    message = shell.refused("stats", exit_code=1)
    assert message.startswith("mcp-memory failed unexpectedly (ZeroDivisionError")


def test_flags_choose_database_space_and_settings_file(shell: Shell, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    settings = tmp_path / "other.toml"
    settings.write_text('space = "from the file"')
    at_other = ("--database", f"sqlite:///{other}")
    shell.run(*at_other, "--config", str(settings), "entities", "create", "Ana")
    assert shell.json("entities", "list")["total"] == 0
    assert shell.json(*at_other, "--space", "from the file", "entities", "list")["total"] == 1
    assert shell.json(*at_other, "spaces", "list") == {"spaces": ["from the file"]}


def test_a_pipe_that_is_closed_early_is_no_failure(shell: Shell) -> None:
    shell.run("entities", "create", "Ana", *(word for n in range(50) for word in ("-o", f"{n} " * 500)))
    running = subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", "export"],
        env={**CLEAN, **shell.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.read(10)
    running.stdout.close()
    assert b"Traceback" not in running.stderr.read()
    running.stderr.close()
    running.wait()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo terminals")
def test_a_terminal_gets_a_table_and_a_pipe_gets_tabs(shell: Shell) -> None:
    shell.run("entities", "create", "Ana", "--type", "person")
    assert "Ana\tperson\tactive\t0\t" in shell.run("entities", "list").stdout
    terminal, end = os.openpty()
    program_on_terminal = subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", "entities", "list"],
        env={**CLEAN, **shell.environment, "TERM": "xterm", "COLUMNS": "100"},
        stdout=end,
        stdin=end,
    )
    program_on_terminal.wait()
    os.close(end)
    shown = os.read(terminal, 100_000).decode()
    os.close(terminal)
    assert "─" in shown
    assert "\t" not in shown
    assert "Ana" in shown


def test_a_stored_text_cannot_steer_the_terminal(shell: Shell) -> None:
    shell.run("entities", "create", "Ana", "-o", "\x1b[2Jgone \x07 [red]markup[/red]")
    shown = shell.run("entities", "show", "Ana").stdout
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "[red]markup[/red]" in shown
