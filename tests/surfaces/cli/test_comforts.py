"""What makes the command line pleasant: suggestions, short ids, completion, plain failures."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.cli.shell import CLEAN, Shell

pty = pytest.importorskip("pty", reason="this system has no pseudo terminals")

PROGRAM = [sys.executable, "-m", "mcp_memory"]


def environment(shell: Shell) -> dict[str, str]:
    return {**CLEAN, **shell.environment, "MCP_MEMORY_SHARED": "no"}


def on_a_terminal(shell: Shell, *words: str, **more: str) -> str:
    """What a person would see."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment(shell), "TERM": "xterm", **more},
    )
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 65_536):
            seen += piece
    except OSError:
        pass  # how a terminal says that nobody writes to it any more
    process.wait()
    os.close(ours)
    return seen.decode()


def test_a_bare_start_on_a_terminal_explains_itself(shell: Shell) -> None:
    seen = on_a_terminal(shell)
    assert "claude mcp add" in seen
    assert str(shell.file) in seen
    assert not shell.file.exists()


@pytest.mark.parametrize(
    ("words", "hint"),
    [(("rember", "x"), "Did you mean 'remember'?"), (("entities", "lst"), "Did you mean 'list'?")],
)
def test_a_mistyped_command_is_answered_with_the_nearest(
    shell: Shell, words: tuple[str, ...], hint: str
) -> None:
    assert hint in shell.complaint(*words)


def test_a_mistyped_entity_is_answered_with_the_nearest(shell: Shell) -> None:
    shell.run("entities", "create", "Alice")
    assert "Did you mean 'Alice'?" in shell.complaint("entities", "show", "Alcie")
    assert "Did you mean Alice?" in shell.complaint("entity-graph", "Alicia")
    assert "Did you mean" not in shell.complaint("entities", "show", "Zebra")


def test_the_end_of_an_id_is_enough(shell: Shell) -> None:
    id = shell.said("remember", "tea at four")
    assert shell.json("memories", "show", id[-8:])[0]["content"] == "tea at four"
    shell.run("forget", id[-8:])
    assert "tea at four" in shell.said("restore", id[-8:])
    change = shell.json("history")[0]["act"]
    assert shell.said("undo", change[-8:]).startswith("Undone")


def test_a_deleted_memory_is_restored_by_the_end_of_its_id(shell: Shell) -> None:
    id = shell.said("remember", "tea at four")
    shell.run("delete", id, "--yes")
    assert "tea at four" in shell.said("restore", id[-8:])


def test_a_part_of_several_ids_is_refused(shell: Shell) -> None:
    first, second = shell.said("remember", "one"), shell.said("remember", "two")
    shared = first[:6]  # the time, in units of about an hour
    assert second.startswith(shared)
    assert "several ids begin or end with" in shell.complaint("memories", "show", shared)


def test_ids_are_short_on_a_terminal_and_whole_in_a_pipe(shell: Shell) -> None:
    id = shell.said("remember", "tea at four")
    seen = on_a_terminal(shell, "memories", "list")
    assert id[-8:] in seen
    assert id not in seen
    assert id in shell.said("memories", "list")


def test_times_are_understood_as_people_write_them(shell: Shell) -> None:
    shell.run("remember", "tea at four")
    assert len(shell.json("memories", "list", "--after", "yesterday")["memories"]) == 1
    assert shell.json("memories", "list", "--before", "2 weeks ago")["memories"] == []
    assert "2 weeks ago" in shell.complaint("memories", "list", "--before", "sometime")


def test_superseded_memories_are_marked(shell: Shell) -> None:
    shell.run("entities", "create", "Ann", "-o", "likes tea")
    shell.run("observations", "add", "Ann", "likes coffee", "--supersedes", "likes tea")
    listed = shell.said("memories", "list")
    assert "likes tea (superseded)" in listed
    assert "likes coffee (superseded)" not in listed


def test_only_what_people_pinned_counts_as_pinned(shell: Shell) -> None:
    shell.run("entities", "create", "Ann", "-o", "likes tea")
    shell.run("remember", "I am Ann", "--type", "identity")
    shell.run("memories", "pin", shell.said("remember", "tea at four"))
    assert shell.json("stats")["pinned_memories"] == 1


def test_looking_at_a_database_that_does_not_exist_creates_none(shell: Shell, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'mistyped' / 'memory.db'}"
    assert "There is no database at" in shell.said("--database", url, "info")
    assert shell.json("--database", url, "info")["exists"] is False
    assert not (tmp_path / "mistyped").exists()


def test_colour_ends_with_no_color(shell: Shell) -> None:
    assert "\x1b[32m" in on_a_terminal(shell, "doctor", "--quick")
    assert "\x1b[32m" not in on_a_terminal(shell, "doctor", "--quick", NO_COLOR="1")


def test_settings_are_named_as_they_work(shell: Shell) -> None:
    shown = {one["name"]: one["variable"] for one in shell.json("settings")}
    assert (shown["space"], shown["api_port"]) == ("MCP_MEMORY_SPACE", "API_PORT")


def test_the_shell_completes_commands_and_names_of_entities(shell: Shell) -> None:
    shell.run("entities", "create", "Alice")

    def completions(*words: str) -> list[str]:
        asked = environment(shell) | {
            "_MCP_MEMORY_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(("mcp-memory", *words)),
            "COMP_CWORD": str(len(words)),
        }
        done = subprocess.run(
            PROGRAM, env=environment(shell) | asked, capture_output=True, text=True, check=True
        )
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert "remember" in completions("rem")
    assert completions("entities", "show", "Al") == ["Alice"]
    for kind in ("bash", "zsh", "fish"):
        assert "_MCP_MEMORY_COMPLETE" in shell.said("completion", kind)


def test_a_busy_port_is_one_line_and_nothing_was_announced(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = shell.start("serve", "--port", str(port))
    assert done.returncode == 3
    [line] = done.stderr.decode().splitlines()
    assert line.startswith(f"Error: port {port} of 127.0.0.1 is in use")


def test_an_address_that_is_not_ours_is_one_line(shell: Shell) -> None:
    [line] = (
        shell.start("serve", "--host", "no.such.host.invalid", "--port", "0").stderr.decode().splitlines()
    )
    assert line.startswith("Error: ")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C to the whole console")
def test_the_server_says_where_it_is_once_it_answers_and_stops_with_one_line(shell: Shell) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0"], env=environment(shell), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    announced = process.stderr.readline()
    port = int(announced.partition("127.0.0.1:")[2].split()[0])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1].splitlines() == ["Stopped."]
    assert process.returncode == 0
