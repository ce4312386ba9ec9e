"""The thin client's own arithmetic: which server settings lead to, and what it costs to load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs
import pytest

from mcp_memory import config
from mcp_memory.thin import endpoint, wire
from mcp_memory.thin.endpoint import Endpoint, default_folder, peer_uid
from mcp_memory.thin.handshake_cache import HandshakeCache
from mcp_memory.thin.main import parse
from mcp_memory.thin.settings import ThinSettings, Unreadable, cache_folder, default_file, resolve

HOME = {"HOME": "/home/me"}


def resolved(flags: dict[str, str] | None = None, folder: str = "/work", **environ: str) -> ThinSettings:
    return resolve(flags or {}, {**HOME, **environ}, folder)


def test_it_loads_nothing_but_a_little_of_the_standard_library() -> None:
    program = (
        "import sys; before = set(sys.modules); "
        "from mcp_memory.thin import main, forwarding, connection, handshake_cache; "
        "print(*sorted(name for name in set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    names = loaded.stdout.split()
    ours = [name for name in names if name.startswith("mcp_memory")]
    assert all(name == "mcp_memory" or name.startswith("mcp_memory.thin") for name in ours)
    heavy = {"click", "mcp", "anyio", "asyncio", "pydantic", "typing", "dataclasses", "inspect", "pathlib"}
    assert not heavy & {*names}
    tops = {name.partition(".")[0] for name in names} - {"mcp_memory"}
    assert tops <= {*sys.stdlib_module_names}


def test_settings_of_a_connection_do_not_lead_elsewhere_and_those_of_the_process_do() -> None:
    usual = resolved().name
    assert resolved(MCP_MEMORY_TOOLS="graph", MCP_MEMORY_SPACE="work", MAX_ENTITIES="3").name == usual
    assert resolved(API_PORT="4444", MCP_MEMORY_LOG_LEVEL="debug").name == usual
    assert resolved(folder="/elsewhere").name == usual
    assert resolved(DURABILITY="normal").name == usual, "too common a name to be read without our prefix"
    others = [
        resolved({"database_url": "sqlite:////data/memory.db"}),
        resolved(EMBEDDING_MODEL="other"),
        resolved(MCP_MEMORY_DURABILITY="normal"),
        resolved(HOME="/home/you"),
    ]
    assert len({usual, *(one.name for one in others)}) == len(others) + 1


def test_a_default_that_is_written_out_leads_to_the_same_server() -> None:
    assert resolved(EMBEDDING_PROVIDER="local", EMBEDDING_DIMENSIONS="0").name == resolved().name


def test_a_relative_database_is_another_one_in_another_folder() -> None:
    here, there = (resolved(folder=folder, DATABASE_URL="sqlite:///memory.db") for folder in ("/a", "/b"))
    assert here.is_relative
    assert here.name != there.name


def test_values_come_from_where_the_whole_program_takes_them(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('space = "filed"\ntools = ["graph", "agent"]\nmax_entities = 7\nlog_level = "debug"\n')
    environ = {**HOME, "MCP_MEMORY_CONFIG": str(file), "MAX_ENTITIES": "8", "MCP_MEMORY_MAX_ENTITIES": "9"}
    found = resolve({"log_level": "error"}, environ, "/")
    whole = config.load({"log_level": "error"}, environ)
    names = ("space", "tools", "max_entities", "log_level", "database_backend", "api_port", "shared_idle")
    assert {name: found[name] for name in names} == {name: str(getattr(whole, name)) for name in names}


@pytest.mark.parametrize("environ", [{"MCP_MEMORY_SPACES": "x"}, {"MCP_MEMORY_CONFIG": "/no/such/file"}])
def test_what_is_wrong_is_left_for_the_whole_program_to_say(environ: dict[str, str]) -> None:
    with pytest.raises(Unreadable):
        resolve({}, {**HOME, **environ}, "/")


def test_files_are_where_the_platform_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    assert default_file(HOME) == str(config.default_file())
    assert cache_folder(HOME) == platformdirs.user_cache_dir("mcp-memory", appauthor=False)
    assert default_folder({**HOME, "XDG_RUNTIME_DIR": "/"}) == "/mcp-memory"


@pytest.mark.parametrize(
    ("words", "parsed"),
    [
        ("", ({}, [])),
        ("--tools graph --space=work", ({"tools": "graph", "space": "work"}, [])),
        ("--database sqlite:///x --http", ({"database_url": "sqlite:///x", "http": "yes"}, [])),
        ("--space work recall tea --json", ({"space": "work"}, ["recall", "tea", "--json"])),
        ("--version", None),
        ("--tools", None),
        ("--nonsense=1", None),
    ],
)
def test_only_what_it_understands_is_taken_from_the_command_line(
    words: str, parsed: tuple[dict[str, str], list[str]] | None
) -> None:
    assert parse(words.split()) == parsed


def test_lines_carry_a_number_and_come_out_as_they_went_in() -> None:
    line = b'{"jsonrpc": "2.0"}\n'
    assert wire.number_of(wire.numbered(17, line, again=False)) == (17, False, line)
    assert wire.number_of(wire.numbered(17, line, again=True)) == (17, True, line)
    assert wire.number_of(wire.unnumbered(line)) == (None, False, line)


@pytest.mark.parametrize(
    ("one", "other"), [("0.2.0", "0.1.9"), ("0.10.0", "0.9.0"), ("1.0.0", "1.0.0rc1"), ("1.0.1", "1.0")]
)
def test_versions_are_compared_by_number(one: str, other: str) -> None:
    assert wire.is_newer(one, other)
    assert not wire.is_newer(other, one)
    assert not wire.is_newer(one, one)


def test_a_folder_that_others_can_write_to_is_closed_to_them_and_a_link_is_not_followed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    assert Endpoint(str(folder), "name").why_not() is None
    assert folder.stat().st_mode & 0o777 == 0o700
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert "not a folder of this user" in str(Endpoint(str(link), "name").why_not())


def test_a_name_that_is_too_long_for_a_socket_gets_a_short_one_that_is_this_users_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TemporaryDirectory() as short:
        monkeypatch.setattr(endpoint, "SHORT_PARENT", short)
        place = Endpoint(str(tmp_path / ("x" * 100)), "name")
        assert place.why_not() is None
        assert len(place.address) <= endpoint.LONGEST_ADDRESS
        assert Path(place.address).parent.stat().st_mode & 0o777 == 0o700
        assert place.address != Endpoint(str(tmp_path / ("y" * 100)), "name").address


def test_a_short_folder_that_is_not_this_users_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TemporaryDirectory() as short:
        monkeypatch.setattr(endpoint, "SHORT_PARENT", short)
        place = Endpoint(str(tmp_path / ("x" * 100)), "name")
        Path(place.address).parent.symlink_to(tmp_path)
        assert "not a folder of this user" in str(place.why_not())


def test_the_other_end_of_a_socket_is_known_by_its_user() -> None:
    import os
    import socket

    one, other = socket.socketpair()
    assert peer_uid(one) == os.getuid()
    one.close()
    other.close()


def test_a_description_is_learned_kept_and_corrected(tmp_path: Path) -> None:
    folder = str(tmp_path / "descriptions")
    asked = {"id": 3, "method": "tools/list", "params": {"_meta": {"progressToken": 3}}}
    again = {"id": "four", "method": "tools/list", "params": {"_meta": {"progressToken": 4}}}
    learned = HandshakeCache(folder)
    assert learned.answer(asked, "2025-11-25") is None
    said = b'{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}\n'
    assert not learned.learn(asked, "2025-11-25", said), "nobody was told otherwise"
    kept = HandshakeCache(folder)
    assert kept.answer(again, "2025-11-25") == b'{"jsonrpc":"2.0","id":"four","result":{"tools":[]}}\n'
    assert kept.answer(again, "2026-07-28") is None
    assert kept.learn(again, "2025-11-25", said.replace(b"[]", b"[1]")), (
        "somebody may have been told otherwise"
    )
    assert not kept.learn(again, "2025-11-25", b'{"jsonrpc":"2.0","id":3,"error":{"code":1}}\n')
