"""A project is known by its remote, else by its folder, however it is opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcp_memory.engine.project import OPT_OUT, project_of, remote_key


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:acme/shop.git",
        "https://github.com/acme/shop",
        "https://me:token@GitHub.com/acme/shop.git/",
        "ssh://git@github.com:22/acme/shop.git",
    ],
)
def test_every_way_of_cloning_gives_the_same_key(url: str) -> None:
    assert remote_key(url) == "github.com/acme/shop"


def repository(root: Path, config: str) -> Path:
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text(config)
    return root


REMOTE = """[core]
	bare = false
[remote "upstream"]
	url = git@x.org:y/z
[remote "origin"]
	url = git@github.com:acme/shop.git
"""


def test_a_folder_inside_belongs_to_the_project(tmp_path: Path) -> None:
    root = repository(tmp_path / "shop", REMOTE)
    (root / "src" / "deep").mkdir(parents=True)
    assert project_of(str(root / "src" / "deep")).key == "github.com/acme/shop"


def test_a_worktree_belongs_to_its_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "shop", REMOTE)
    inner = root / ".git" / "worktrees" / "w"
    inner.mkdir(parents=True)
    (inner / "commondir").write_text("../..\n")
    tree = tmp_path / "w"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {inner}\n")
    assert project_of(str(tree)).key == "github.com/acme/shop"


def test_without_a_remote_the_root_is_the_key(tmp_path: Path) -> None:
    root = repository(tmp_path / "shop", "[core]\n")
    assert project_of(str(root)).key == str(root)


def test_home_and_nowhere_are_no_projects(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in (str(tmp_path), "/", "", "relative", "/nonexistent\0"):
        assert project_of(folder).key == ""


def test_a_project_names_itself_and_opts_out(tmp_path: Path) -> None:
    (tmp_path / OPT_OUT).write_text('project = "shop"\ncapture = false\n')
    found = project_of(str(tmp_path))
    assert (found.key, found.capture, found.recall) == ("shop", False, True)


@pytest.mark.parametrize("name", ["github.com/acme/secret", "/home/ana/secret", "C:\\\\ana\\\\secret"])
def test_a_repository_cannot_call_itself_another_project(tmp_path: Path, name: str) -> None:
    (tmp_path / OPT_OUT).write_text(f'project = "{name}"\n')
    assert project_of(str(tmp_path)).key == str(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes in folders")
def test_a_pipe_in_place_of_the_wishes_keeps_both_away_and_hinders_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / OPT_OUT)
    project = project_of(str(tmp_path))
    assert (project.capture, project.recall) == (False, False)


@pytest.mark.parametrize("text", ["x = " + "[" * 5000, "# " + "long " * 20_000])
def test_wishes_that_cannot_be_read_keep_both_away(tmp_path: Path, text: str) -> None:
    (tmp_path / OPT_OUT).write_text(text)
    project = project_of(str(tmp_path))
    assert (project.capture, project.recall) == (False, False)
