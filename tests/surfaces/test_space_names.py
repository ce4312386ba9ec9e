"""A space has a name that every surface can show, or a sentence says why not."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from mcp_memory.engine import Engine
from mcp_memory.engine.drafts import NewMemory
from mcp_memory.errors import Invalid
from mcp_memory.model import EVERY_SPACE, SPACE_LENGTH, Caller
from tests.surfaces.cli.shell import Shell
from tests.surfaces.mcp.test_watching import over_http
from tests.surfaces.rest.conftest import engine_on
from tests.surfaces.rest.serving import running

GOOD = ["x", "Project X (2026)", "caffè 日本", "a,b", "s" * SPACE_LENGTH]
BAD = ["", " ", " x", "x ", "a\nb", "a\tb", "a\0b", "a\u200bb", EVERY_SPACE, "s" * (SPACE_LENGTH + 1)]


@pytest.mark.parametrize("name", GOOD)
def test_a_space_may_have_any_name_that_can_be_shown(engine: Engine, name: str) -> None:
    there = engine.acting_for(Caller(name))
    there.memories.remember(NewMemory(content="here"))
    assert engine.inventory.spaces() == [name]
    engine.access.create_token("t", spaces=(name,))


@pytest.mark.parametrize("name", BAD)
def test_another_name_is_refused_before_anything_is_read_or_written(engine: Engine, name: str) -> None:
    with pytest.raises(Invalid, match="space"):
        engine.acting_for(Caller(name))
    if name != EVERY_SPACE:
        with pytest.raises(Invalid, match="the name of a space"):
            engine.access.create_token("t", spaces=("good", name))
    assert not engine.inventory.spaces()
    assert not engine.access.tokens()


def test_over_http_a_bad_name_is_refused_on_every_route(tmp_path: Path) -> None:
    name = "s" * (SPACE_LENGTH + 1)
    with running(engine_on(tmp_path / "memory.db")) as server:
        with server.client(**{"X-Memory-Space": name}) as client:
            for path in ("/api/memories", "/api/entities", "/api/events", "/api/export"):
                answer = client.get(path)
                assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), path
                assert "1 to 100 characters, not 101" in answer.json()["detail"]
        with over_http(server, name) as assistant:
            refused = assistant.portal.call(assistant.client.call_tool, "read_graph", {})
            assert refused.is_error
            assert "1 to 100 characters" in str(refused.content)


def test_a_name_beyond_ascii_is_the_same_space_in_a_header_and_on_the_command_line(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.run("--space", "caffè 日本", "remember", "the espresso is good")
    with running(engine_on(shell.file)) as server:
        headers = httpx.Headers({"X-Memory-Space": "caffè 日本"}, encoding="utf-8")
        found = httpx.get(f"{server.url}/api/memories", headers=headers)
    assert [one["content"] for one in found.json()["items"]] == ["the espresso is good"]


def test_the_command_line_refuses_a_bad_name(shell: Shell) -> None:
    assert "no blank at either end" in shell.refused("--space", " x", "spaces", "list", exit_code=2)
    assert "1 to 100" in shell.refused("token", "create", "t", "--space", "s" * 101, exit_code=2)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)
