"""Commands about the house itself: settings, info, doctor, models, vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from mcp_memory import wiring
from mcp_memory.config import load
from tests.surfaces.cli.shell import Shell


def problems(found: list[dict[str, Any]]) -> dict[str, str]:
    return {one["subject"]: one["detail"] for one in found if not one["is_well"]}


def spoil(file: Path, sql: str) -> None:
    connection = apsw.Connection(str(file))
    connection.execute(sql)
    connection.close()


def test_settings_are_shown_with_their_source_and_without_secrets(shell: Shell) -> None:
    environment = {"OPENAI_API_KEY": "sk-hunter2", "DATABASE_URL": "postgresql://me:hunter2@host/db"}
    shown = shell.run("settings", environment=environment).stdout
    assert "hunter2" not in shown
    assert "DATABASE_URL\tpostgresql://me:•••@host/db\tDATABASE_URL\t" in shown
    told = {one["name"]: one for one in shell.json("settings", environment=environment)}
    assert told["embedding_provider"]["source"] == "EMBEDDING_PROVIDER"
    assert told["log_level"] == {
        "name": "log_level", "variable": "LOG_LEVEL", "value": "info", "source": "default",
        "help": "Lowest level that is logged, to standard error.",
    }  # fmt: skip
    assert "hunter2" not in str(told)


def test_the_journal_is_kept_as_long_as_the_setting_says(shell: Shell) -> None:
    environment = {"TRASH_DAYS": "0", "JOURNAL_DAYS": "0"}
    shell.run("entities", "create", "Ana")
    assert shell.json("history")
    engine = wiring.build(load(environ={**shell.environment, **environment}))
    engine.history.age_journal()
    engine.close()
    assert shell.json("history") == []


def test_info_says_where_what_and_how(shell: Shell) -> None:
    shell.run("entities", "create", "Ana", "-o", "likes tea")
    told = shell.json("info")
    assert told["database"] == f"sqlite:///{shell.file}"
    assert told["bytes"] > 0
    assert (told["entities"], told["observations"], told["memories"], told["relations"]) == (1, 1, 1, 0)
    assert told["search"].startswith("keyword only: EMBEDDING_PROVIDER is none")
    assert (told["vectors"], told["vectors_missing"]) == (0, 2)
    assert "MB" in shell.run("info").stdout


def test_a_sound_database_has_no_problem_also_without_a_model(shell: Shell) -> None:
    shell.run("entities", "create", "Ana", "-o", "likes tea")
    found = shell.json("doctor")
    assert not problems(found)
    assert {
        "disk",
        "access",
        "schema",
        "integrity",
        "references",
        "rows",
        "locks",
        "words of memories",
        "vectors",
    } <= {one["subject"] for one in found}


def test_with_its_model_all_is_well(shell: Shell) -> None:
    shell.run("entities", "create", "Ana", "-o", "likes tea")
    if not any(one["here"] for one in shell.json("model", "list")["models"]):
        pytest.skip("the model is not installed")
    result = shell.run("doctor", environment={"EMBEDDING_PROVIDER": "local"})
    assert "PROBLEM" not in result.stdout
    assert "model: all-MiniLM-L6-v2 runs" in result.stdout


def test_the_doctor_makes_no_database(shell: Shell) -> None:
    found = shell.json("doctor")
    assert "does not exist yet" in next(one["detail"] for one in found if one["subject"] == "database")
    assert not shell.file.exists()


def test_a_file_that_is_no_database_is_found(shell: Shell) -> None:
    shell.file.write_bytes(b"this is no database, " * 100)
    found = problems(shell.json("doctor", exit_code=1))
    assert "not a database" in found["database"]
    assert "damaged" in found["program"]


def test_a_damaged_page_is_found(shell: Shell) -> None:
    shell.run("entities", "create", "Ana", *(word for n in range(90) for word in ("-o", f"{n} " * 400)))
    content = bytearray(shell.file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4096] = bytes(4096)
    shell.file.write_bytes(content)
    found = problems(shell.json("doctor", exit_code=1))
    assert {"integrity", "database", "texts", "words of memories"} & found.keys()


def test_a_row_without_its_words_is_found(shell: Shell) -> None:
    shell.run("entities", "create", "Ana", "-o", "likes tea")
    spoil(shell.file, "DELETE FROM shared_words WHERE owner = 'memory' AND seq = 1")
    found = problems(shell.json("doctor", exit_code=1))
    assert found["words of memories"] == "1 rows are missing, 0 too many, 0 differ from their text"


def test_a_broken_reference_is_found(shell: Shell) -> None:
    shell.run("entities", "create", "Ana", "-o", "likes tea")
    spoil(shell.file, "PRAGMA foreign_keys = OFF; DELETE FROM entity")
    assert "refer to a deleted row" in problems(shell.json("doctor", exit_code=1))["references"]


def test_a_file_of_another_program_is_found(shell: Shell) -> None:
    spoil(shell.file, "CREATE TABLE somebody (elses)")
    found = problems(shell.json("doctor", exit_code=1))
    assert found["schema"] == "this file belongs to another program"


def test_a_file_of_a_newer_release_is_found(shell: Shell) -> None:
    shell.run("entities", "create", "Ana")
    spoil(shell.file, "PRAGMA user_version = 9999")
    assert "9999" in problems(shell.json("doctor", exit_code=1))["schema"]


def test_a_process_that_keeps_the_file_is_found(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_memory.storage.sqlite.diagnostics.LOCK_PATIENCE_MS", 10)
    shell.run("entities", "create", "Ana")
    other = apsw.Connection(str(shell.file))
    other.execute("BEGIN IMMEDIATE")
    found = problems(shell.json("doctor", exit_code=1))
    other.execute("ROLLBACK")
    other.close()
    assert "another process" in found["locks"]


def test_reembedding_without_a_model_is_refused(shell: Shell) -> None:
    assert "EMBEDDING_PROVIDER is none" in shell.refused("reembed", exit_code=3)


def test_missing_vectors_are_made_with_the_model(shell: Shell) -> None:
    shell.run("entities", "create", "Ana", "-o", "likes tea")
    local = {"EMBEDDING_PROVIDER": "local"}
    if not any(one["here"] for one in shell.json("model", "list")["models"]):
        pytest.skip("the model is not installed")
    assert (
        "2 vectors to be made by all-MiniLM-L6-v2"
        in shell.run("reembed", "--dry-run", environment=local).stdout
    )
    assert shell.json("reembed", environment=local) == {"model": "all-MiniLM-L6-v2", "made": 2}
    assert shell.json("info", environment=local)["vectors_missing"] == 0


def test_the_model_is_tried(shell: Shell) -> None:
    assert "EMBEDDING_PROVIDER is none" in shell.refused("model", "test", exit_code=3)
    if not any(one["here"] for one in shell.json("model", "list")["models"]):
        pytest.skip("the model is not installed")
    told = shell.json("model", "test", environment={"EMBEDDING_PROVIDER": "local"})
    assert told["alike"] == pytest.approx(0.9325, abs=0.001)
    assert told["unlike"] < 0.2


def test_models_that_were_pulled_are_listed(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "models" / "someone--their-model"
    folder.mkdir(parents=True)
    (folder / "model.onnx").touch()
    told = shell.json("model", "list", environment={"MCP_MEMORY_MODELS_DIR": str(tmp_path / "models")})
    assert {"name": "someone/their-model", "here": True, "dimensions": None} in told["models"]


def test_a_model_that_no_hub_has_is_refused(shell: Shell) -> None:
    assert "ORGANISATION/NAME" in shell.refused("model", "pull", "no such model", exit_code=2)
