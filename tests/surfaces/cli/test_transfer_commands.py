"""Files come in and go out through the command line."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.surfaces.cli.shell import Shell

FILE = (
    '{"type":"entity","name":"Ána","entityType":"person","observations":["likes tea"]}\n'
    '{"type":"entity","name":"Acme","entityType":"company","observations":[]}\n'
    '{"type":"relation","from":"Ána","to":"Acme","relationType":"works_at"}\n'
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_text(FILE, "utf-8")
    return path


def test_a_file_goes_in_and_comes_out_byte_for_byte(shell: Shell, file: Path, tmp_path: Path) -> None:
    assert shell.run("import", str(file)).stdout == "Imported 2 entities and 1 relation.\n"
    assert shell.run("export").stdout_bytes == FILE.encode()
    shell.run("export", str(tmp_path / "out.jsonl"))
    assert (tmp_path / "out.jsonl").read_bytes() == FILE.encode()


def test_standard_input_can_be_imported(shell: Shell) -> None:
    shell.run("import", "-", input=FILE)
    assert shell.json("entities", "list")["total"] == 2


def test_problems_are_told_with_their_lines(shell: Shell, file: Path) -> None:
    file.write_text(f"broken\n{FILE}42\n", "utf-8")
    result = shell.run("import", str(file))
    assert "line 1: this is not JSON" in result.stderr
    assert "2 lines could not be read, 0 skipped." in result.stderr
    told = shell.json("import", str(file))
    assert (told["entities_imported"], told["errors"]) == (2, 2)


def test_a_missing_file_and_a_folder_are_refused(shell: Shell, tmp_path: Path) -> None:
    assert "there is no file" in shell.refused("import", str(tmp_path / "none"), exit_code=2)
    assert "is a folder" in shell.refused("import", str(tmp_path), exit_code=2)


def test_a_full_export_is_known_by_its_first_line(shell: Shell, file: Path, tmp_path: Path) -> None:
    shell.run("import", str(file))
    shell.run("observations", "add", "Ána", "likes coffee", "--supersedes", "likes tea")
    archive = tmp_path / "archive.jsonl"
    shell.run("export", "--format", "full", str(archive))
    other = ("--database", f"sqlite:///{tmp_path / 'other.db'}")
    told = shell.json(*other, "import", str(archive))
    assert (told["entities_imported"], told["records"]["memory"]) == (2, 2)
    shown = shell.json(*other, "entities", "show", "Ána", "--all")["entities"][0]
    assert [one["content"] for one in shown["observations"]] == ["likes tea", "likes coffee"]
    assert shell.json(*other, "import", str(archive))["records"] == {}


def test_a_full_export_goes_into_another_space_of_the_same_database_once(
    shell: Shell, file: Path, tmp_path: Path
) -> None:
    shell.run("import", str(file))
    archive = tmp_path / "archive.jsonl"
    shell.run("export", "--format", "full", str(archive))
    second = ("--space", "second")
    told = shell.json(*second, "import", str(archive))
    assert (told["entities_imported"], told["relations_imported"], told["records"]["memory"]) == (2, 1, 1)
    assert shell.run(*second, "export").stdout_bytes == FILE.encode()
    assert shell.json(*second, "import", str(archive))["records"] == {}
    shell.run(*second, "entities", "delete", "Ána")
    assert shell.run("export").stdout_bytes == FILE.encode()


def test_an_export_does_not_replace_a_file_unasked(shell: Shell, file: Path) -> None:
    assert "--force" in shell.refused("export", str(file), exit_code=1)
    assert file.read_text("utf-8") == FILE
    shell.run("export", "--force", str(file))
    assert file.read_bytes() == b"\n"


def test_an_export_is_its_owners_alone_and_leaves_no_draft(shell: Shell, tmp_path: Path) -> None:
    target = tmp_path / "out" / "memory.jsonl"
    target.parent.mkdir()
    shell.run("export", str(target))
    assert [path.name for path in target.parent.iterdir()] == ["memory.jsonl"]
    assert stat.S_IMODE(target.stat().st_mode) & 0o077 == 0


def test_a_place_that_cannot_be_written_is_refused(shell: Shell, tmp_path: Path) -> None:
    assert "cannot be written" in shell.refused("export", str(tmp_path / "no" / "x"), exit_code=2)


def test_a_forced_format_is_believed(shell: Shell, file: Path) -> None:
    told = shell.json("import", "--format", "full", str(file))
    assert (told["entities_imported"], told["skipped"]) == (0, 3)
    assert json.loads(shell.run("entities", "list", "--json").stdout)["total"] == 0
