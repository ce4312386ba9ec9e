"""Exports can be encrypted with a passphrase, and a purge can reach into backups."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_memory.engine.backups import is_encrypted
from tests.surfaces.cli.shell import Shell

TEXT = "the harbour opens at seven"


@pytest.fixture
def secret(tmp_path: Path) -> str:
    file = tmp_path / "passphrase"
    file.write_text("correct horse\n")
    return str(file)


@pytest.fixture
def exported(shell: Shell, secret: str, tmp_path: Path) -> Path:
    pytest.importorskip("pyrage", reason="the extra `encryption` is not installed")
    shell.run("remember", TEXT)
    shell.run("export", str(tmp_path / "out.age"), "--encrypt", "--passphrase-file", secret)
    return tmp_path / "out.age"


def elsewhere(tmp_path: Path) -> dict[str, str]:
    return {"DATABASE_URL": f"sqlite:///{tmp_path / 'other.db'}"}


def test_an_encrypted_export_is_unreadable_and_comes_back(
    shell: Shell, exported: Path, secret: str, tmp_path: Path
) -> None:
    assert exported.read_bytes().startswith(b"age-encryption.org/v1")
    assert b"harbour" not in exported.read_bytes()
    assert [path.name for path in tmp_path.glob("*.tmp")] == []
    other = elsewhere(tmp_path)
    shell.run("import", str(exported), "--passphrase-file", secret, environment=other)
    assert TEXT in shell.run("memories", "list", environment=other).stdout


def test_the_passphrase_may_come_from_the_environment(shell: Shell, exported: Path, tmp_path: Path) -> None:
    other = {**elsewhere(tmp_path), "MCP_MEMORY_PASSPHRASE": "correct horse"}
    shell.run("import", str(exported), environment=other)
    assert TEXT in shell.run("memories", "list", environment=other).stdout


def test_a_wrong_passphrase_says_so_and_imports_nothing(shell: Shell, exported: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("battery staple")
    before = shell.run("memories", "list").stdout
    assert "passphrase" in shell.refused(
        "import", str(exported), "--passphrase-file", str(wrong), exit_code=2
    )
    assert shell.run("memories", "list").stdout == before


def test_a_damaged_encrypted_export_imports_nothing(shell: Shell, exported: Path, secret: str) -> None:
    content = bytearray(exported.read_bytes())
    content[-20] ^= 1
    exported.write_bytes(content)
    assert "decrypted" in shell.refused("import", str(exported), "--passphrase-file", secret, exit_code=2)


def test_without_a_passphrase_nothing_is_written(shell: Shell, tmp_path: Path) -> None:
    said = shell.refused("export", str(tmp_path / "out.age"), "--encrypt", exit_code=2)
    assert "MCP_MEMORY_PASSPHRASE" in said
    assert not (tmp_path / "out.age").exists()


def holding(folder: Path, text: bytes) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


def test_a_purge_can_reach_into_the_backups(shell: Shell) -> None:
    shell.run("remember", TEXT)
    shell.run("remember", "the lamp stays")
    shell.run("backup")
    [found] = [one for one in shell.json("memories", "list")["memories"] if one["content"] == TEXT]
    told = shell.run("purge", found["id"], "--yes")
    assert "--backups" in told.output
    assert len(holding(shell.file.parent, b"harbour opens")) == 1  # the backup alone
    shell.run("remember", "another harbour opens")
    [found] = [one for one in shell.json("memories", "list")["memories"] if "another" in one["content"]]
    shell.run("purge", found["id"], "--yes", "--backups")
    assert holding(shell.file.parent, b"harbour opens") == []
    assert len(holding(shell.file.parent, b"lamp stays")) == 2  # the database and its new backup


def test_a_purge_can_reach_into_encrypted_backups(shell: Shell) -> None:
    pytest.importorskip("pyrage", reason="the extra `encryption` is not installed")
    key = {"MCP_MEMORY_PASSPHRASE": "correct horse"}
    shell.run("remember", TEXT)
    shell.run("backup", environment=key)
    [old] = backups(shell)
    [found] = shell.json("memories", "list")["memories"]
    told = shell.run("purge", found["id"], "--yes", environment=key)
    assert "--backups" in told.output, "it says that the text may still be in the backups"
    assert backups(shell) == [old]
    shell.run("remember", "the lamp stays")
    [found] = shell.json("memories", "list")["memories"]
    shell.run("purge", found["id"], "--yes", "--backups", environment=key)
    [new] = backups(shell)
    assert new != old
    assert is_encrypted(new)


def backups(shell: Shell) -> list[Path]:
    return sorted(shell.file.with_name(f"{shell.file.name}.backups").glob("*.age"))
