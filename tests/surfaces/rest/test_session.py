"""Logging in on the page: cookies, one-time codes, and what another origin cannot do with them."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from mcp_memory.config import Config
from mcp_memory.engine import Engine
from mcp_memory.model import Caller
from tests.fakes import Clock
from tests.surfaces.rest.serving import Running, running

API_TOKEN = "a-long-random-word-from-the-settings"


@pytest.fixture(params=["sqlite"])
def database(request: pytest.FixtureRequest) -> object:
    """One database is enough for what HTTP adds."""
    from tests.conftest import open_database

    return open_database(request.param, request, request.getfixturevalue("tmp_path"))


@pytest.fixture
def server(engine: Engine) -> Iterator[Running]:
    with running(engine) as here:
        yield here


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def log_in(client: httpx.Client, **how: str) -> dict[str, str]:
    """The headers that changes need from then on; the client keeps the cookie."""
    answer = client.post("/api/session", json=how)
    assert answer.status_code == 200, answer.text
    return {"x-csrf-token": answer.json()["csrf_token"]}


def test_a_server_without_tokens_asks_for_no_login(client: httpx.Client) -> None:
    session = client.get("/api/session", headers={"x-memory-client": "page"}).json()
    assert (session["status"], session["client"], session["rights"]) == ("open", "page", "write")


def test_a_token_opens_a_session_with_a_strict_cookie(client: httpx.Client, engine: Engine) -> None:
    _, secret = engine.access.create_token("ann")
    assert client.get("/api/session").json()["status"] == "login_needed"
    assert client.get("/api/memories").status_code == 401
    answer = client.post("/api/session", json={"token": secret})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert secret not in cookie
    assert client.get("/api/memories").status_code == 200
    assert client.get("/api/session").json()["client"] == "page (ann)"


def test_a_change_with_the_cookie_alone_is_refused(client: httpx.Client, engine: Engine) -> None:
    _, secret = engine.access.create_token("ann")
    proof = log_in(client, token=secret)
    body = {"content": "Ann prefers tea"}
    refused = client.post("/api/memories", json=body)
    assert refused.status_code == 403
    assert "x-csrf-token" in refused.json()["detail"]
    assert client.post("/api/memories", json=body, headers={"x-csrf-token": "guessed"}).status_code == 403
    assert client.post("/api/memories", json=body, headers=proof).status_code == 201
    assert engine.history.recent()[0].client == "page (ann)"


def test_a_page_of_another_port_cannot_use_the_login(client: httpx.Client, engine: Engine) -> None:
    _, secret = engine.access.create_token("ann")
    log_in(client, token=secret)
    assert client.get("/api/memories", headers={"sec-fetch-site": "same-site"}).status_code == 403
    assert client.get("/api/memories", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_a_wrong_token_opens_nothing(client: httpx.Client, engine: Engine) -> None:
    engine.access.create_token("ann")
    answer = client.post("/api/session", json={"token": "wrong"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert client.post("/api/session", json={}).status_code == 422


def test_a_code_logs_in_once(client: httpx.Client, engine: Engine) -> None:
    engine.access.create_token("somebody")
    code = engine.page_sessions.invite()
    log_in(client, code=code)
    assert client.get("/api/memories").status_code == 200
    again = client.post("/api/session", json={"code": code}, headers={"cookie": ""})
    assert again.status_code == 403
    assert "mcp-memory open" in again.json()["detail"]


def test_a_code_expires(client: httpx.Client, engine: Engine, clock: Clock) -> None:
    code = engine.page_sessions.invite()
    clock.advance(minutes=3)
    assert client.post("/api/session", json={"code": code}).status_code == 403


def test_a_session_ends_with_its_token_with_time_and_on_request(
    client: httpx.Client, engine: Engine, clock: Clock
) -> None:
    engine.access.create_token("another")
    _, token = engine.access.create_token("ann")
    log_in(client, token=token)
    engine.access.revoke_token("ann")
    assert client.get("/api/memories").status_code == 401
    log_in(client, code=engine.page_sessions.invite())
    clock.advance(hours=13)
    assert client.get("/api/memories").status_code == 401
    proof = log_in(client, code=engine.page_sessions.invite())
    [(name, secret)] = client.cookies.items()
    assert client.delete("/api/session", headers=proof).status_code == 200
    assert client.get("/api/memories").status_code == 401
    assert client.get("/api/memories", headers={"cookie": f"{name}={secret}"}).status_code == 401


def test_a_session_has_the_rights_and_spaces_of_its_token(client: httpx.Client, engine: Engine) -> None:
    engine.acting_for(Caller("work")).graph.create_entities([])
    _, secret = engine.access.create_token("reader", spaces=("work",), rights="read")
    proof = log_in(client, token=secret)
    assert client.get("/api/session").json()["space"] == "work"
    assert client.post("/api/memories", json={"content": "x"}, headers=proof).status_code == 403
    assert client.get("/api/memories", headers={"x-memory-space": "default"}).status_code == 403
    assert client.delete("/api/session", headers=proof).status_code == 200


def test_the_token_of_the_settings_logs_in_until_it_is_changed(engine: Engine) -> None:
    with running(engine, Config(tools="graph", api_token=API_TOKEN)) as server, server.client() as client:
        log_in(client, token=API_TOKEN)
        assert client.get("/api/memories").status_code == 200
        [secret] = client.cookies.values()
        assert engine.page_sessions.who(secret, API_TOKEN) is not None
        assert engine.page_sessions.who(secret, "another-long-word") is None
