"""The guard before every route: names, origins, tokens, spaces, sizes and rates."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import NoReturn

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from mcp_memory.config import Config, load
from mcp_memory.engine import Engine
from mcp_memory.errors import Conflict, Invalid, Unavailable
from mcp_memory.model import EVERY_SPACE
from mcp_memory.server.app import build_app
from mcp_memory.server.browsers import BrowserRules
from mcp_memory.server.guard import Gatekeeper, Guard, Policy, policy
from mcp_memory.server.lazy import LazyEngine
from mcp_memory.server.principal import principal_of
from tests.fakes import Clock

Client = Callable[..., TestClient]


async def who(request: Request) -> JSONResponse:
    principal = principal_of(request)
    size = len(await request.body())
    return JSONResponse({"space": principal.caller.space, "client": principal.caller.client,
                         "rights": principal.rights, "size": size})  # fmt: skip


@pytest.fixture
def client(engine: Engine) -> Client:
    def make(
        clock: Callable[[], float] = time.monotonic,
        gatekeeper: Callable[[], Gatekeeper] = lambda: engine.access,
        **changes: object,
    ) -> TestClient:
        paths = ("/", "/health", "/api/memories", "/api/import", "/mcp")
        app = Starlette(routes=[Route(path, who, methods=["GET", "POST", "DELETE"]) for path in paths])
        rules = replace(Policy(space="default"), **changes)  # type: ignore[arg-type]
        guarded = Guard(app, rules, gatekeeper, clock)
        return TestClient(guarded, base_url="http://127.0.0.1:3333", raise_server_exceptions=False)

    return make


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


def test_on_this_machine_everyone_comes_in_until_there_are_tokens(client: Client, engine: Engine) -> None:
    here = client()
    assert here.get("/api/memories").json()["rights"] == "write"
    engine.access.create_token("script")
    refused = here.get("/api/memories")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert "Authorization: Bearer" in refused.json()["detail"]
    assert refused.json()["code"] == "unauthorized"


def test_a_database_that_is_away_is_told_like_every_failure(client: Client) -> None:
    def away() -> NoReturn:
        raise Unavailable("the database is away")

    refused = client(gatekeeper=away).get("/api/memories")
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "1"
    assert refused.headers["content-type"] == "application/problem+json"
    problem = refused.json()
    assert (problem["code"], problem["detail"]) == ("unavailable", "the database is away")
    assert problem["errors"] == []


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example:3333",
        "",
        "10.0.0.1",
        "[::1].evil.com",
        "[::1",
        "::1",
        "a@localhost",
    ],
)
def test_a_foreign_name_is_refused_on_every_path(client: Client, host: str) -> None:
    for path in ("/", "/health", "/api/memories", "/mcp"):
        assert client().get(path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:3333", "127.0.0.1:1", "[::1]:3333"])
def test_this_machines_own_names_will_do_on_any_port(client: Client, host: str) -> None:
    assert client().get("/api/memories", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:9999", "null"])
def test_a_page_of_another_origin_is_refused(client: Client, origin: str) -> None:
    assert client().post("/mcp", headers={"origin": origin}).status_code == 403


def test_our_own_page_and_those_that_are_allowed_come_in(client: Client) -> None:
    here = client(browsers=BrowserRules(origins=frozenset({"https://app.example"})))
    for origin in ("http://127.0.0.1:3333", "https://app.example"):
        assert here.post("/api/memories", headers={"origin": origin}).status_code == 200


def test_a_token_leads_to_its_space_under_its_name(client: Client, engine: Engine) -> None:
    _, secret = engine.access.create_token("team", spaces=("work", "play"))
    here = client()
    assert here.get("/api/memories", headers=bearer(secret)).json()["space"] == "work"
    chosen = here.get("/api/memories", headers={**bearer(secret), "x-memory-space": "play"}).json()
    assert (chosen["space"], chosen["client"]) == ("play", "team")
    other = here.get("/api/memories", headers={**bearer(secret), "x-memory-space": "secret"})
    assert other.status_code == 403


def test_a_token_for_every_space_may_go_anywhere(client: Client, engine: Engine) -> None:
    _, secret = engine.access.create_token("boss", spaces=(EVERY_SPACE,))
    headers = {**bearer(secret), "x-memory-space": "any"}
    assert client().get("/api/memories", headers=headers).json()["space"] == "any"


def test_a_token_that_may_only_read_cannot_write(client: Client, engine: Engine) -> None:
    _, secret = engine.access.create_token("reader", rights="read")
    here = client()
    assert here.get("/api/memories", headers=bearer(secret)).json()["rights"] == "read"
    assert here.post("/api/memories", headers=bearer(secret)).status_code == 403
    assert here.post("/mcp", headers=bearer(secret)).json()["rights"] == "read"


def test_a_wrong_or_revoked_token_is_refused(client: Client, engine: Engine) -> None:
    _, secret = engine.access.create_token("gone")
    engine.access.revoke_token("gone")
    for wrong in (secret, "mcpm_nonsense", ""):
        assert client(token_needed=True).get("/api/memories", headers=bearer(wrong)).status_code == 401


def test_the_token_of_the_settings_opens_every_space(client: Client) -> None:
    here = client(api_token="s3cret", token_needed=True)
    assert here.get("/api/memories").status_code == 401
    assert here.get("/api/memories", headers=bearer("s3cret")).status_code == 200
    assert here.get("/health").status_code == 200


def test_secrets_are_kept_only_as_digests(engine: Engine) -> None:
    _, secret = engine.access.create_token("t")
    with engine._context.reading() as tx:
        rows = tx.scope.run("tokens")
    assert secret not in str(rows)
    assert engine.access.token_of(secret) is not None


def test_a_body_that_is_too_long_is_refused_whether_or_not_it_says_so(client: Client) -> None:
    here = client(body_limit=100)
    assert here.post("/api/memories", content=b"x" * 100).json()["size"] == 100
    assert here.post("/api/memories", content=b"x" * 101).status_code == 413
    unsaid = here.post("/api/memories", content=iter([b"x" * 60, b"x" * 60]))
    assert unsaid.status_code == 413
    assert here.post("/api/import", content=b"x" * 500).json()["size"] == 500


def test_too_many_requests_are_told_when_to_come_back(client: Client) -> None:
    now = [0.0]
    here = client(clock=lambda: now[0], rate_limit=60)
    codes = [here.get("/api/memories").status_code for _ in range(11)]
    assert codes == [200] * 10 + [429]
    assert here.get("/api/memories").headers["retry-after"] == "1"
    now[0] += 1.0
    assert here.get("/api/memories").status_code == 200


def test_every_answer_carries_headers_that_keep_browsers_out(client: Client) -> None:
    for path in ("/api/memories", "/nothing/here"):
        headers = client().get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert client().get("/api/memories").headers["cache-control"] == "no-store"


def test_an_address_beyond_this_machine_needs_a_token() -> None:
    with pytest.raises(Invalid, match="API_TOKEN"):
        policy(load({"api_host": "0.0.0.0"}, environ={}))
    assert policy(load({"api_host": "0.0.0.0", "api_token": "x" * 32}, environ={})).token_needed
    assert not policy(load({}, environ={})).token_needed


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        (b"host", b"[", 421),
        (b"host", b"127.0.0.1:x[", 421),
        (b"origin", b"http://[", 403),
        (b"authorization", b"Bearer gehe\xedm", 401),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(
    client: Client, header: bytes, value: bytes, status: int
) -> None:
    refused = client(api_token="right").post("/api/memories", headers={header: value})
    assert refused.status_code == status
    assert refused.json()["detail"]


def test_revoking_the_last_token_does_not_open_the_server(client: Client, engine: Engine) -> None:
    engine.access.create_token("only")
    engine.access.revoke_token("only")
    assert client().get("/api/memories").status_code == 401
    engine.access.stop_asking_for_tokens()
    assert client().get("/api/memories").status_code == 200


def test_tokens_stay_needed_while_there_are_any(engine: Engine) -> None:
    engine.access.create_token("one")
    with pytest.raises(Conflict, match="revoke them all first"):
        engine.access.stop_asking_for_tokens()


def test_a_token_expires(client: Client, engine: Engine, clock: Clock) -> None:
    _, secret = engine.access.create_token("short", lifetime=timedelta(days=1))
    assert client().get("/api/memories", headers=bearer(secret)).status_code == 200
    clock.advance(days=1)
    assert client().get("/api/memories", headers=bearer(secret)).status_code == 401


def test_guessing_tokens_is_slowed_and_holders_of_right_ones_are_not(client: Client, engine: Engine) -> None:
    _, secret = engine.access.create_token("right")
    here = client(clock=lambda: 0.0)
    assert here.get("/api/memories", headers=bearer(secret)).status_code == 200
    codes = [here.get("/api/memories", headers=bearer(f"wrong{n}")).status_code for n in range(30)]
    assert codes == [401] * 10 + [429] * 20
    assert here.get("/api/memories", headers=bearer(secret)).status_code == 200


@pytest.mark.parametrize("credential", ["token", "code"])
def test_guessing_in_the_page_s_login_is_slowed_too(engine: Engine, credential: str) -> None:
    engine.access.create_token("right")
    app = build_app(Config(), LazyEngine(lambda: engine))
    guarded = Guard(app, Policy(space="default"), lambda: engine.access, lambda: 0.0)
    with TestClient(guarded, base_url="http://127.0.0.1:3333") as here:
        codes = [here.post("/api/session", json={credential: f"w{n}"}).status_code for n in range(30)]
        assert codes == [403] * 10 + [429] * 20
        assert here.get("/api/memories", headers=bearer("wrong")).status_code == 429, (
            "one limit for both ways"
        )


def test_another_user_agent_is_not_another_caller(client: Client) -> None:
    here = client(clock=lambda: 0.0, rate_limit=60)
    codes = [here.get("/api/memories", headers={"user-agent": f"a{n}"}).status_code for n in range(11)]
    assert codes == [200] * 10 + [429]


def test_programs_on_this_machine_are_not_limited_unless_asked_for() -> None:
    usual = policy(load({}, environ={}))
    assert (usual.rate_limit, usual.local_rate_limit) == (1200, 0)
    asked = policy(load({"api_rate_limit": 60}, environ={}))
    assert (asked.rate_limit, asked.local_rate_limit) == (60, 60)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_that_can_be_guessed_is_refused(host: str) -> None:
    with pytest.raises(Invalid, match="could be guessed"):
        policy(load({"api_host": host, "api_token": "x"}, environ={}))


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_sites_get_no_answer(client: Client, site: str) -> None:
    headers = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}
    assert client().get("/api/memories", headers=headers).status_code == 403
    assert client().get("/api/memories", headers={"sec-fetch-site": "same-origin"}).status_code == 200
    link = {"sec-fetch-site": site, "sec-fetch-mode": "navigate"}
    assert client().get("/", headers=link).status_code == 200
    assert client().get("/api/memories", headers=link).status_code == 403


def test_an_allowed_origin_may_read_the_answers(client: Client, engine: Engine) -> None:
    engine.access.create_token("page")
    here = client(browsers=BrowserRules(origins=frozenset({"https://app.example"})))
    page = {"origin": "https://app.example", "sec-fetch-site": "cross-site"}
    asking = {
        **page,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
    }
    preflight = here.options("/api/memories", headers=asking)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "https://app.example"
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    refused = here.get("/api/memories", headers=page)
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://app.example"
    other = {**asking, "origin": "https://evil.example"}
    assert here.options("/api/memories", headers=other).status_code == 403
    for answer in (preflight, refused, here.get("/api/memories"), here.get("/")):
        assert "origin" in answer.headers["vary"].lower()
        assert "access-control-allow-credentials" not in answer.headers
    assert "vary" not in client().get("/api/memories").headers


def test_settings_show_no_secrets() -> None:
    shown = repr(load({"api_token": "s3cret" * 4, "openai_api_key": "k3y"}, environ={}))
    assert "s3cret" not in shown
    assert "k3y" not in shown
