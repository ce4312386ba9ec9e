"""Every failure has one shape; a repeated create is done once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from mcp_memory.errors import (
    Conflict,
    Forbidden,
    Invalid,
    MemoryServerError,
    NotFound,
    Stale,
    Unavailable,
    Unequipped,
)
from mcp_memory.server import problems
from tests.surfaces.rest.conftest import engine_on
from tests.surfaces.rest.serving import running

MISSING = "00000000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"/api/memories/{MISSING}", 404),
        ("PUT", f"/api/memories/{MISSING}", 404),
        ("DELETE", f"/api/memories/{MISSING}", 404),
        ("GET", f"/api/entities/{MISSING}", 404),
        ("GET", f"/api/entities/{MISSING}/graph", 404),
        ("GET", f"/api/relations/{MISSING}", 404),
        ("POST", f"/api/changes/{MISSING}/undo", 404),
        ("GET", "/api/memories/no-uuid", 404),
        ("PUT", "/api/memories/search", 405),
        ("GET", "/api/memories?limit=0", 422),
        ("GET", "/api/memories?offset=-1", 422),
        ("GET", "/api/memories/search", 422),
        ("GET", "/api/memories?source=%00", 422),
        ("GET", "/api/nowhere", 404),
        ("PATCH", "/api/memories", 405),
        ("POST", "/api/events", 405),
    ],
)
def test_a_failure_is_a_problem_with_its_details(
    client: httpx.Client, method: str, path: str, status: int
) -> None:
    answer = client.request(method, path, json={} if method in ("PUT", "PATCH") else None)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert {"type", "title", "detail", "instance", "code"} <= problem.keys()


def test_a_method_that_is_not_there_is_answered_with_those_that_are(client: httpx.Client) -> None:
    answer = client.request("PATCH", "/api/memories")
    assert answer.headers["allow"] == "GET, POST"


@pytest.mark.parametrize("body", ['{"content": ', "", "{'content': 'x'}"])
def test_what_is_not_json_is_malformed(client: httpx.Client, body: str) -> None:
    answer = client.post("/api/memories", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"
    assert body == "" or (answer.status_code, answer.json()["code"]) == (400, "malformed")


@pytest.mark.parametrize(
    "content",
    ['{"content": "\\ud800"}', '{"content": "\\u0000"}', '{"content": "x", "metadata": {"a": NaN}}'],
)
def test_text_that_cannot_be_kept_is_refused(client: httpx.Client, content: str) -> None:
    answer = client.post("/api/memories", content=content, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize("depth", [50, 300, 900, 5000, 200_000])
def test_metadata_however_deep_does_no_harm(client: httpx.Client, depth: int) -> None:
    content = f'{{"content": "deep {depth}", "metadata": {{"a": {"[" * depth}{"]" * depth}}}}}'
    answer = client.post("/api/memories", content=content, headers={"content-type": "application/json"})
    assert answer.status_code in (201, 400, 422)
    assert client.get("/api/memories").status_code == 200


def test_each_kind_of_failure_has_its_status() -> None:
    app = FastAPI()
    problems.install(app)
    errors: dict[str, tuple[MemoryServerError, int]] = {
        "invalid": (Invalid("no"), 422),
        "not_found": (NotFound("no"), 404),
        "conflict": (Conflict("no"), 409),
        "stale": (Stale("no"), 412),
        "forbidden": (Forbidden("no"), 403),
        "unavailable": (Unavailable("later"), 503),
        "unequipped": (Unequipped("without a model, never"), 409),
    }

    @app.get("/{kind}")
    def fail(kind: str) -> None:
        raise errors[kind][0] if kind in errors else RuntimeError("a secret in a traceback")

    client = TestClient(app, raise_server_exceptions=False)
    for kind, (_, status) in errors.items():
        answer = client.get(f"/{kind}")
        assert (answer.status_code, answer.json()["code"]) == (status, kind)
    assert client.get("/unavailable").headers["retry-after"]
    assert "retry-after" not in client.get("/unequipped").headers
    bug = client.get("/bug")
    assert (bug.status_code, bug.json()["code"]) == (500, "internal")
    assert "secret" not in bug.text


def test_a_repeated_key_gets_the_same_answer(client: httpx.Client) -> None:
    new = {"content": "only once", "entity_names": ["Alice"]}
    first = client.post("/api/memories", json=new, headers={"idempotency-key": "k1"})
    again = client.post("/api/memories", json=new, headers={"idempotency-key": "k1"})
    assert (again.status_code, again.json()) == (first.status_code, first.json()) == (201, first.json())
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    events = client.get(f"/api/memories/{first.json()['id']}/history").json()["items"]
    assert [event["name"] for event in events] == ["memory_created"]


def test_a_key_of_another_request_is_refused(client: httpx.Client) -> None:
    headers = {"idempotency-key": "k2"}
    client.post("/api/memories", json={"content": "one thing"}, headers=headers)
    other = client.post("/api/memories", json={"content": "another thing"}, headers=headers)
    elsewhere = client.post("/api/entities", json={"name": "A", "entity_type": "t"}, headers=headers)
    assert (other.status_code, elsewhere.status_code) == (422, 422)
    assert client.get("/api/memories").json()["total"] == 1


def test_a_failed_request_may_be_made_again_with_its_key(client: httpx.Client) -> None:
    headers = {"idempotency-key": "k3"}
    new = {"target_type": "entity", "target_id": MISSING, "content": "?"}
    for _ in range(2):
        assert client.post("/api/reflections", json=new, headers=headers).status_code == 404


def test_one_key_in_many_hands_at_once_makes_one_reflection(client: httpx.Client) -> None:
    new = {"target_type": "global", "content": "all at once"}

    def post(_: int) -> httpx.Response:
        return client.post("/api/reflections", json=new, headers={"idempotency-key": "k4"})

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(post, range(16)))
    # 409 while it is being done, 303 in the moment between that and its answer.
    assert {answer.status_code for answer in answers} <= {201, 303, 409}
    made = [answer.headers["location"] for answer in answers if answer.status_code != 409]
    assert len(set(made)) == 1
    assert client.get("/api/reflections").json()["total"] == 1


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[dict[str, httpx.Client]]:
    engine = engine_on(tmp_path / "memory.db")
    secrets = {
        "writer": engine.access.create_token("writer", spaces=("a",))[1],
        "reader": engine.access.create_token("reader", spaces=("a", "b"), rights="read")[1],
    }
    with running(engine) as server, ExitStack() as clients:
        bearers = {name: {"authorization": f"Bearer {secret}"} for name, secret in secrets.items()}
        yield {
            name: clients.enter_context(server.client(**headers))
            for name, headers in {**bearers, "stranger": {}}.items()
        }


def test_tokens_hold_for_every_route(guarded: dict[str, httpx.Client]) -> None:
    writer, reader, stranger = guarded["writer"], guarded["reader"], guarded["stranger"]
    assert writer.post("/api/memories", json={"content": "in a"}).status_code == 201
    assert reader.get("/api/memories").json()["total"] == 1
    assert reader.post("/api/memories", json={"content": "no"}).status_code == 403
    assert stranger.get("/api/memories").status_code == 401
    assert stranger.get("/api/events").status_code == 401
    assert stranger.get("/metrics").status_code == 401
    assert stranger.get("/health").status_code == 200
    assert writer.get("/api/memories", headers={"x-memory-space": "b"}).status_code == 403


def test_a_token_sees_only_its_spaces_in_the_list(guarded: dict[str, httpx.Client]) -> None:
    guarded["writer"].post("/api/memories", json={"content": "in a"})
    names = [one["name"] for one in guarded["writer"].get("/api/spaces").json()["items"]]
    assert names == ["a"]
