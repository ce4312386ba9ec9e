"""Two web servers and an assistant's own server on one PostgreSQL: one memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner
from psycopg.conninfo import conninfo_to_dict

from mcp_memory import wiring
from mcp_memory.cli import main
from mcp_memory.config import Config
from mcp_memory.engine import Context, Engine
from mcp_memory.model import Caller
from mcp_memory.storage import Store
from mcp_memory.storage.postgres.database import PostgresDatabase
from tests.fakes import HashEmbedder
from tests.postgres_between import BreakingLine, standing_between
from tests.surfaces.cli.shell import Shell
from tests.surfaces.rest.serving import Running, listening, running
from tests.surfaces.speaking import conversation


@contextmanager
def served(url: str) -> Iterator[Running]:
    engine = Engine(
        Context(
            store=Store(PostgresDatabase(url)).open(),
            embedder=HashEmbedder(),
            clock=wiring.now,
            new_id=wiring.new_id,
            caller=Caller(client="test"),
        )
    )
    with running(engine, Config(tools="graph,memory,agent")) as here:
        yield here


def test_what_is_written_at_one_server_is_told_and_found_at_the_other(postgres_url: str) -> None:
    with (
        served(postgres_url) as one,
        served(postgres_url) as two,
        one.client() as here,
        two.client() as there,
    ):
        with listening(there) as listener:
            made = here.post("/api/memories", json={"content": "the ferry leaves at ten"}).json()
            [told] = listener.take(1)
        assert (told.name, told.data["id"]) == ("memory_created", made["id"])
        found = there.get("/api/memories/search", params={"q": "when does the ferry leave"}).json()
        assert [item["id"] for item in found["items"]] == [made["id"]]


def test_what_an_assistant_tells_its_own_server_is_told_and_found_on_the_web(
    postgres_url: str, tmp_path: Path
) -> None:
    ana = {"name": "Ana", "entityType": "person", "observations": ["keeps the harbour light"]}
    with (
        served(postgres_url) as web,
        web.client() as client,
        listening(client) as listener,
        conversation(
            tmp_path, "--tools", "all", DATABASE_URL=postgres_url, EMBEDDING_PROVIDER="none"
        ) as assistant,
    ):
        assistant.call("create_entities", entities=[ana])
        assert {told.name for told in listener.take(2)} == {"entity_created", "memory_created"}
        found = client.get("/api/memories/search", params={"q": "harbour light"}).json()
        assert [item["content"] for item in found["items"]] == ["keeps the harbour light"]
        saved = assistant.call("memory_save", content="the bell rings at six", memory_type="fact")
        assert client.get(f"/api/memories/{saved['memory_id']}").json()["content"] == "the bell rings at six"


def test_what_was_kept_though_its_answer_was_lost_is_not_done_twice(postgres_url: str) -> None:
    line = BreakingLine(postgres_url)
    key = {"Idempotency-Key": "the first"}
    asked = {"target_type": "global", "content": "the harbour is the heart of the town"}
    with standing_between(postgres_url, line) as url, served(url) as web, web.client() as client:
        line.loses_commit = 2  # that of the reflection; the one before claims the key
        failed = client.post("/api/reflections", json=asked, headers=key)
        assert failed.status_code == 503
        assert "Check whether the change was saved" in failed.json()["detail"]
        assert (
            client.post("/api/reflections", json=asked, headers=key, follow_redirects=True).status_code == 200
        )
        assert client.get("/api/reflections").json()["total"] == 1


@pytest.mark.parametrize("words", [("info",), ("doctor",), ("settings",), ("remember", "x"), ("spaces",)])
@pytest.mark.parametrize("spoiling", [{}, {"dbname": "nothing"}, {"host": "/nowhere"}])
def test_no_command_shows_the_password(
    postgres_url: str, tmp_path: Path, words: tuple[str, ...], spoiling: dict[str, str]
) -> None:
    told = conninfo_to_dict(postgres_url, password="s3cret", **spoiling)
    url = f"postgresql:///?{urlencode(told)}"
    environment = {**Shell(tmp_path).environment, "DATABASE_URL": url, "LOG_LEVEL": "debug"}
    result = CliRunner(env=environment).invoke(main, words)
    assert result.output
    assert "s3cret" not in result.output
