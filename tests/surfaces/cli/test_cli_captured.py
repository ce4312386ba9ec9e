"""What was captured can be listed, explained, accepted, dropped and purged from the command line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_memory.capture import Candidate
from mcp_memory.config import load
from mcp_memory.engine.captures import Heard
from mcp_memory.wiring import build
from tests.surfaces.cli.shell import Shell


@pytest.fixture
def captured(shell: Shell) -> Shell:
    """A shell on a database with two captured memories."""
    engine = build(
        load({"database_url": f"sqlite:///{shell.file}", "embedding_provider": "none"}, environ={})
    )
    said = [
        Candidate(text=text, type="preference", rule="preference", turn="t1")
        for text in ("We never deploy on Fridays.", "We always squash before merging.")
    ]
    engine.captures.take_in(Heard(session="s1", client="codex", project="", candidates=tuple(said)))
    engine.close()
    return shell


def test_what_is_on_trial_is_listed_and_explained(captured: Shell) -> None:
    listed = captured.json("captured")
    assert len(listed) == 2
    said = captured.said("captured", "--why", listed[0]["id"])
    assert "always or never" in said
    assert "codex" in said


def test_it_is_accepted_or_dropped_with_one_key_for_all(captured: Shell) -> None:
    first = captured.json("captured")[0]["id"]
    assert "Accepted 1" in captured.said("captured", "accept", first)
    assert "Dropped 1" in captured.said("captured", "drop", "--all")
    assert captured.json("captured") == []
    captured.run("undo")
    assert len(captured.json("captured")) == 1


def test_a_session_is_undone_or_purged(captured: Shell) -> None:
    assert "Purged 2" in captured.run("captured", "purge", "--session", "s1", "--yes").stdout
    assert captured.json("captured") == []


def test_without_saying_which_nothing_happens(captured: Shell) -> None:
    assert "nothing says which" in captured.complaint("captured", "drop")
    assert len(captured.json("captured")) == 2


def test_capture_is_paused_and_resumed(captured: Shell) -> None:
    captured.run("pause")
    assert "Paused" in captured.said("captured")
    assert captured.said("resume").startswith("Resumed: ")


def test_a_digest_is_kept_in_a_file_beside_what_people_wrote(captured: Shell, tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_text("# Ours\n\nKeep this.\n")
    captured.run("digest", "--write", str(file))
    once = file.read_text()
    assert once.startswith("# Ours\n\nKeep this.\n")
    assert "never deploy on Fridays" in once
    captured.run("digest", "--write", str(file))
    assert file.read_text() == once
    captured.run("captured", "drop", "--all")
    captured.run("digest", "--write", str(file))
    assert file.read_text() == "# Ours\n\nKeep this.\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has other links, and no pipes in folders")
@pytest.mark.parametrize("kind", ["a link outward", "a dangling link", "a folder", "a pipe", "bytes"])
def test_a_digest_is_not_written_into_what_a_repository_has_prepared(
    captured: Shell, tmp_path: Path, kind: str
) -> None:
    repository, outside = tmp_path / "repository", tmp_path / "profile"
    repository.mkdir()
    outside.write_text("mine\n")
    file = repository / "AGENTS.md"
    make: dict[str, Callable[[], object]] = {
        "a link outward": lambda: file.symlink_to(outside),
        "a dangling link": lambda: file.symlink_to(tmp_path / "nowhere"),
        "a folder": file.mkdir,
        "a pipe": lambda: os.mkfifo(file),
        "bytes": lambda: file.write_bytes(b"\xff\xfe\x00"),
    }
    make[kind]()
    captured.refused("digest", "--write", str(file), exit_code=2)
    assert outside.read_text() == "mine\n"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(os.name == "nt", reason="making links needs a right there")
def test_a_digest_follows_a_link_to_another_file_of_the_folder(captured: Shell, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    captured.run("digest", "--write", str(tmp_path / "CLAUDE.md"))
    assert "never deploy on Fridays" in (tmp_path / "AGENTS.md").read_text()
