"""Settings: where they come from, and what is said about wrong ones."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest

import mcp_memory
from mcp_memory.config import Config, explain, load, masked, sqlite_path
from mcp_memory.errors import Invalid


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A settings file that says nothing."""
    path = tmp_path / "config.toml"
    path.write_text("")
    return path


def test_without_anything_given_the_defaults_hold(file: Path) -> None:
    assert load(environ={}, file=file) == Config()


def test_a_flag_wins_over_the_environment_and_the_environment_over_the_file(file: Path) -> None:
    file.write_text("api_port = 1\nworkers = 2\nmax_entities = 3\n")
    environ = {"API_PORT": "10", "MCP_MEMORY_WORKERS": "20"}
    config = load({"api_port": 100, "space": None}, environ, file)
    assert (config.api_port, config.workers, config.max_entities) == (100, 20, 3)


def test_the_prefixed_variable_wins_over_the_plain_one(file: Path) -> None:
    environ = {"API_PORT": "1", "MCP_MEMORY_API_PORT": "2"}
    assert load(environ=environ, file=file).api_port == 2


def test_common_words_are_read_only_with_the_prefix(file: Path) -> None:
    assert load(environ={"SPACE": "elsewhere", "WORKERS": "many"}, file=file) == Config()
    assert load(environ={"MCP_MEMORY_SPACE": "work"}, file=file).space == "work"


def test_an_empty_variable_counts_as_not_given(file: Path) -> None:
    assert load(environ={"DATABASE_URL": "", "MCP_MEMORY_NONSENSE": ""}, file=file) == Config()


def test_an_unknown_variable_is_refused_with_the_nearest_name(file: Path) -> None:
    with pytest.raises(Invalid, match=r"MCP_MEMORY_DATABSE_URL.*Did you mean MCP_MEMORY_DATABASE_URL\?"):
        load(environ={"MCP_MEMORY_DATABSE_URL": "sqlite:///x.db"}, file=file)


def test_an_unknown_key_in_the_file_is_refused_with_the_file_and_the_nearest_name(file: Path) -> None:
    file.write_text("api_prot = 1\n")
    with pytest.raises(Invalid, match=rf"'api_prot' \({file}\)\. Did you mean api_port\?"):
        load(environ={}, file=file)


def test_what_resembles_no_setting_is_sent_to_the_list(file: Path) -> None:
    with pytest.raises(Invalid, match="`mcp-memory settings` lists them all"):
        load(environ={"MCP_MEMORY_QQQQ": "1"}, file=file)


def test_the_file_can_be_named_by_a_variable(file: Path) -> None:
    file.write_text('space = "work"')
    assert load(environ={"MCP_MEMORY_CONFIG": str(file)}).space == "work"


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="does not exist"):
        load(environ={}, file=tmp_path / "missing.toml")


@pytest.mark.parametrize("content", [b"not toml at all =", b"space = '\xff'"])
def test_a_file_that_is_not_toml_is_refused_with_its_name(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(Invalid, match=rf"{file} cannot be read"):
        load(environ={}, file=file)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("API_PORT", "http", "API_PORT must be a whole number, not 'http'"),
        ("API_PORT", "3.5", "API_PORT must be a whole number"),
        ("API_PORT", "70000", "API_PORT must be between 0 and 65535, not 70000"),
        ("MAX_ENTITIES", "0", "MAX_ENTITIES must be at least 1, not 0"),
        ("HYBRID_KEYWORD_WEIGHT", "1.1", "must be between 0 and 1"),
        ("HYBRID_KEYWORD_WEIGHT", "nan", "must be between 0 and 1"),
        ("CONFIDENCE_HALF_LIFE_DAYS", "inf", "must be between"),
        ("LOG_LEVEL", "loud", "LOG_LEVEL must be one of debug, info, warning, error, not 'loud'"),
        ("MCP_MEMORY_TOOLS", "graf", "no tool set 'graf': choose from essentials, graph, memory, agent"),
        ("MCP_MEMORY_TOOLS", ",", "at least one tool set"),
        ("MCP_MEMORY_TOOLS", "graph,anthropic", "cannot be combined"),
        ("MCP_MEMORY_SPACE", " ", "SPACE: .*no blank at either end"),
        ("MCP_MEMORY_SPACE", "s" * 101, "1 to 100 characters"),
        ("DATABASE_URL", "memory.db", "write sqlite:///memory.db"),
        ("DATABASE_URL", "mysql://me:secret@host/db", "must begin with sqlite:/// or postgresql://, not mysql://"),
        ("DATABASE_URL", "sqlite:///", "names no file"),
        ("DATABASE_READ_URL", "postgresql://host/db", "DATABASE_URL is SQLite"),
        ("DATABASE_URL", "sqlite:///:memory:", "names no file"),
        ("DATABASE_BACKEND", "postgres", "set DATABASE_URL to postgresql://"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_with_what_would_do(name: str, value: str, message: str, file: Path) -> None:
    with pytest.raises(Invalid, match=message):
        load(environ={name: value}, file=file)


def test_backend_and_address_must_agree(file: Path) -> None:
    environ = {"DATABASE_BACKEND": "sqlite", "DATABASE_URL": "postgresql://host/db"}
    with pytest.raises(Invalid, match="change one of them"):
        load(environ=environ, file=file)


@pytest.mark.parametrize("line", ["api_port = 80.5", "api_port = true", "api_port = [1]", "space = 7"])
def test_a_file_must_give_values_of_the_right_kind(line: str, file: Path) -> None:
    file.write_text(line)
    with pytest.raises(Invalid, match="must be"):
        load(environ={}, file=file)


def test_a_file_may_give_tool_sets_as_a_list(file: Path) -> None:
    file.write_text('tools = ["graph", "agent"]')
    assert load(environ={}, file=file).tool_sets == ("graph", "agent")


def test_choices_are_taken_in_any_case(file: Path) -> None:
    assert load(environ={"LOG_LEVEL": "WARNING"}, file=file).log_level == "warning"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///memory.db", "memory.db"),
        ("sqlite:////data/memory.db", "/data/memory.db"),
        ("sqlite://memory.db", "memory.db"),
    ],
)
def test_an_address_names_a_file(url: str, path: str) -> None:
    assert sqlite_path(url) == Path(path)


def test_every_setting_is_explained_with_its_source(file: Path) -> None:
    file.write_text("workers = 2\n")
    environ = {"OPENAI_API_KEY": "sk-very-secret", "MCP_MEMORY_API_PORT": "1"}
    found = {setting.name: setting for setting in explain({"space": "work"}, environ, file)}
    assert found["workers"].source == str(file)
    assert found["api_port"].source == "MCP_MEMORY_API_PORT"
    assert found["space"].source == "flag"
    assert found["log_level"].source == "default"
    assert found["openai_api_key"].shown == "•••"
    assert "secret" not in found["openai_api_key"].shown
    assert all(setting.help for setting in found.values())


def test_the_default_database_is_shown_by_its_full_address(file: Path) -> None:
    [database] = [one for one in explain(environ={}, file=file) if one.name == "database_url"]
    assert database.shown.startswith("sqlite:///")
    assert database.shown.endswith("memory.db")


def test_a_password_is_left_out_of_an_address() -> None:
    assert masked("postgresql://me:s3cret@host/db") == "postgresql://me:•••@host/db"
    assert masked("sqlite:///memory.db") == "sqlite:///memory.db"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@host/db",
        "postgresql://me:x@s3cret@host/db",
        "postgresql://me:x/s3cret@host/db",
        "postgresql://me:x?s3cret@host/db",
        "postgresql://host/db?user=me&password=s3cret&sslmode=require",
        "postgresql://host/db?sslpassword=s3cret",
        "host=db user=me password=s3cret",
        "host=db user=me password='x s3cret'",
    ],
)
def test_a_password_is_shown_nowhere(url: str, file: Path) -> None:
    assert "s3cret" not in masked(url)
    environ = {"DATABASE_URL": url}
    try:
        shown = [one.shown for one in explain(environ=environ, file=file)]
    except Invalid as error:
        shown = [str(error)]
    assert "s3cret" not in " ".join(shown)


@pytest.mark.seed("004 §9.1")
def test_the_variable_shown_for_a_setting_is_read(file: Path) -> None:
    for setting in explain(environ={}, file=file):
        name = setting.variable
        value = "sqlite:///x.db" if setting.name == "database_url" else str(setting.value)
        given = {one.name: one for one in explain(environ={name: value}, file=file)}
        assert not value or given[setting.name].source == name


def test_every_setting_is_read_by_some_part() -> None:
    """One that was declared and not handed on would be documented, accepted, and change nothing."""
    files = Path(mcp_memory.__file__).parent.rglob("*.py")
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8"))))
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    by_the_thin_client = {"runtime_dir", "shared"}
    assert {field.name for field in dataclasses.fields(Config)} - read == by_the_thin_client
