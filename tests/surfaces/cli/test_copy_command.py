"""Moving to another database from the command line."""

from __future__ import annotations

import psycopg

from tests.postgres_server import PostgresDatabases
from tests.surfaces.cli.shell import Shell


def test_everything_moves_to_postgresql_and_back(shell: Shell, postgres_url: str) -> None:
    shell.run("remember", "the harbour closes at nine")
    here, back = f"sqlite:///{shell.file}", f"sqlite:///{shell.folder / 'back.db'}"
    there = {"DATABASE_URL": postgres_url}
    said = shell.said("copy", "--from", here, "--to", postgres_url)
    assert "Copied 1 memory with all that belongs to them" in said
    assert "Every row was compared and is the same." in said
    assert "harbour closes" in shell.run("recall", "harbour", environment=there).stdout
    shell.run("remember", "the ferry leaves at ten", environment=there)
    assert shell.json("copy", "--from", postgres_url, "--to", back)["counts"]["memory"] == 2
    assert "ferry leaves" in shell.run("recall", "ferry", environment={"DATABASE_URL": back}).stdout


def test_a_database_in_use_is_not_overwritten(shell: Shell) -> None:
    shell.run("remember", "the harbour closes at nine")
    here = f"sqlite:///{shell.file}"
    assert "holds memories already" in shell.complaint("copy", "--from", here, "--to", here)


def test_a_mistyped_original_makes_no_database(shell: Shell, postgres: PostgresDatabases) -> None:
    typo, target = shell.folder / "typo.db", shell.folder / "new.db"
    assert "nothing to copy" in shell.complaint(
        "copy", "--from", f"sqlite:///{typo}", "--to", f"sqlite:///{target}"
    )
    with postgres.empty() as url:
        assert "nothing to copy" in shell.complaint("copy", "--from", url, "--to", f"sqlite:///{target}")
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT to_regnamespace('mcp_memory')").fetchall() == [(None,)]
    assert not typo.exists()
    assert not target.exists()
