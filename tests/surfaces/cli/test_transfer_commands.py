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
    assert shell.run("import", str(file)).stdout == "Imported 1 memory, 2 entities, 1 relation.\n"
    assert shell.run("export", "--format", "anthropic").stdout_bytes == FILE.encode()
    shell.run("export", "--format", "anthropic", str(tmp_path / "out.jsonl"))
    assert (tmp_path / "out.jsonl").read_bytes() == FILE.encode()


def test_standard_input_can_be_imported(shell: Shell) -> None:
    shell.run("import", "-", input=FILE)
    assert shell.json("entities", "list")["total"] == 2


def test_problems_are_told_with_their_lines(shell: Shell, file: Path) -> None:
    file.write_text(f"broken\n{FILE}42\n", "utf-8")
    result = shell.run("import", str(file))
    assert "line 1: this is not JSON" in result.stderr
    assert "Skipped 2 lines; 2 could not be read." in result.stderr
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
    assert shell.run(*second, "export", "--format", "anthropic").stdout_bytes == FILE.encode()
    assert shell.json(*second, "import", str(archive))["records"] == {}
    shell.run(*second, "entities", "delete", "Ána")
    assert shell.run("export", "--format", "anthropic").stdout_bytes == FILE.encode()


def test_an_export_does_not_replace_a_file_unasked(shell: Shell, file: Path) -> None:
    assert "--force" in shell.refused("export", str(file), exit_code=1)
    assert file.read_text("utf-8") == FILE
    shell.run("export", "--force", str(file))
    assert json.loads(file.read_text("utf-8"))["record"] == "space"


def test_an_export_is_its_owners_alone_and_leaves_no_draft(shell: Shell, tmp_path: Path) -> None:
    target = tmp_path / "out" / "memory.jsonl"
    target.parent.mkdir()
    shell.run("export", str(target))
    assert [path.name for path in target.parent.iterdir()] == ["memory.jsonl"]
    assert stat.S_IMODE(target.stat().st_mode) & 0o077 == 0


def test_a_place_that_cannot_be_written_is_refused(shell: Shell, tmp_path: Path) -> None:
    assert "cannot be written" in shell.refused("export", str(tmp_path / "no" / "x"), exit_code=2)


def test_a_forced_format_is_believed(shell: Shell, file: Path) -> None:
    told = shell.json("import", "--format", "full", str(file), exit_code=1)
    assert (told["entities_imported"], told["skipped"]) == (0, 3)
    assert json.loads(shell.run("entities", "list", "--json").stdout)["total"] == 0


DATA = Path(__file__).parents[2] / "data" / "imports"


@pytest.mark.parametrize(
    ("place", "format", "memories", "entities"),
    [
        ("mem0.json", "mem0", 2, 0),
        ("chatgpt.json", "chatgpt", 2, 0),
        ("claude", "claude", 5, 1),
        ("vault", "markdown", 5, 2),
    ],
)
def test_other_programs_memories_are_detected_imported_once_and_undone(
    shell: Shell, place: str, format: str, memories: int, entities: int
) -> None:
    previewed = shell.json("import", "--preview", str(DATA / place))
    assert (previewed["format"], previewed["total"]["memory"], previewed["known"]) == (format, memories, {})
    assert shell.json("stats")["total_memories"] == 0
    told = shell.json("import", str(DATA / place))
    assert (told["format"], told["records"]["memory"], told["records"].get("entity", 0)) == (
        format,
        memories,
        entities,
    )
    assert told["known"] == {}
    again = shell.json("import", str(DATA / place))
    assert (again["records"], again["known"]["memory"]) == ({}, memories)
    assert shell.json("import", "--preview", str(DATA / place))["known"]["memory"] == memories
    assert shell.json("stats")["total_memories"] == memories
    shell.run("undo")
    assert shell.json("stats")["total_memories"] == 0


def test_what_was_noted_long_ago_has_not_faded_on_the_day_it_is_imported(shell: Shell) -> None:
    shell.run("import", str(DATA / "mem0.json"))
    [hit, *_] = shell.json("recall", "window seats")["memories"]
    assert hit["created_at"].startswith("2025-03-08")
    assert hit["effective_confidence"] > 0.99


@pytest.mark.parametrize("content", ["", "not json\n", '{"some": "object"}\n', "[]"])
def test_a_file_with_nothing_usable_fails(shell: Shell, tmp_path: Path, content: str) -> None:
    file = tmp_path / "file"
    file.write_text(content)
    assert "Nothing could be imported." in shell.run("import", str(file), exit_code=1).stderr
    assert "can be imported" in shell.run("import", "--preview", str(file), exit_code=1).stderr


def test_known_data_is_counted_as_known(shell: Shell, file: Path) -> None:
    shell.run("import", str(file))
    told = shell.json("import", str(file))
    assert (told["records"], told["known"]) == ({}, {"entity": 2, "memory": 1, "relation": 1})
    assert "Nothing new.\nKnown already: 1 memory, 2 entities, 1 relation." in shell.said("import", str(file))


def test_an_export_holds_everything_and_a_narrower_format_says_what_it_leaves_out(
    shell: Shell, tmp_path: Path
) -> None:
    shell.run("remember", "about nothing in particular")
    shell.run("remember", "about tea", "--about", "Tea")
    shell.run("export", str(tmp_path / "all.jsonl"))
    other = ("--database", f"sqlite:///{tmp_path / 'other.db'}")
    assert shell.json(*other, "import", str(tmp_path / "all.jsonl"))["records"]["memory"] == 2
    assert "Left out: 1 memory about no entity" in shell.run("export", "--format", "anthropic").stderr
    assert "Left out" not in shell.run("export").stderr
