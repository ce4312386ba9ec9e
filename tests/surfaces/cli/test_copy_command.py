"""Moving to another database from the command line."""

from __future__ import annotations

import re
from contextlib import closing

import psycopg
import pytest

from mcp_memory.config import Config
from mcp_memory.storage import copying
from mcp_memory.wiring import open_store
from tests.postgres_server import PostgresDatabases
from tests.surfaces.cli.shell import Shell


def test_everything_moves_to_postgresql_and_back(shell: Shell, postgres_url: str) -> None:
    shell.run("remember", "the harbour closes at nine")
    here, back = f"sqlite:///{shell.file}", f"sqlite:///{shell.folder / 'back.db'}"
    there = {"DATABASE_URL": postgres_url}
    said = shell.said("copy", "--from", here, "--to", postgres_url)
    assert re.search(r"Copied \d+ rows, 1 memory among them", said)
    assert "Every row was compared and is equal." in said
    assert "harbour closes" in shell.run("recall", "harbour", environment=there).stdout
    shell.run("remember", "the ferry leaves at ten", environment=there)
    assert shell.json("copy", "--from", postgres_url, "--to", back)["counts"]["memory"] == 2
    assert "ferry leaves" in shell.run("recall", "ferry", environment={"DATABASE_URL": back}).stdout


def test_a_database_in_use_is_not_overwritten(shell: Shell) -> None:
    shell.run("remember", "the harbour closes at nine")
    here = f"sqlite:///{shell.file}"
    assert "is not empty" in shell.complaint("copy", "--from", here, "--to", here)


def test_a_mistyped_original_makes_no_database(shell: Shell, postgres: PostgresDatabases) -> None:
    typo, target = shell.folder / "typo.db", shell.folder / "new.db"
    assert "no database of mcp-memory" in shell.complaint(
        "copy", "--from", f"sqlite:///{typo}", "--to", f"sqlite:///{target}"
    )
    with postgres.empty() as url:
        assert "no database of mcp-memory" in shell.complaint(
            "copy", "--from", url, "--to", f"sqlite:///{target}"
        )
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT to_regnamespace('mcp_memory')").fetchall() == [(None,)]
    assert not typo.exists()
    assert not target.exists()


def test_a_copy_that_was_broken_off_is_not_worked_with(shell: Shell, postgres_url: str) -> None:
    shell.run("remember", "the harbour closes at nine")
    here, there = f"sqlite:///{shell.file}", {"DATABASE_URL": postgres_url}
    with (
        closing(open_store(Config(), here)) as original,
        closing(open_store(Config(), postgres_url)) as made,
        pytest.raises(KeyboardInterrupt),
    ):
        copying.copy(original, made, break_off)
    assert "was interrupted" in shell.run("info", exit_code=3, environment=there).output
    shell.run("copy", "--from", here, "--to", postgres_url)
    assert "harbour closes" in shell.run("recall", "harbour", environment=there).stdout


def break_off(what: str, done: int, total: int | None) -> None:
    if what == "copying memory":
        raise KeyboardInterrupt
