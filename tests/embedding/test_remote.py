"""An OpenAI-compatible endpoint, spoken to over real HTTP on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from mcp_memory.embedding import NoModel, open_embedder
from mcp_memory.embedding.remote import RemoteEmbedder, open_remote
from mcp_memory.errors import Unavailable
from tests.conftest import EngineMaker
from tests.embedding.loopback import Request, Response, free_address, serving

pytestmark = pytest.mark.unit

KEY = "sk-very-secret-0123456789"


def embedding(text: str) -> list[float]:
    return [float(len(text)), 1.0, 2.0]


def answer(request: Request) -> Response:
    texts = json.loads(request.body)["input"]
    data = [{"index": index, "embedding": embedding(text)} for index, text in enumerate(texts)]
    return Response.json({"data": data[::-1]})


def failing_first(*failures: Response) -> Callable[[Request], Response]:
    waiting = list(failures)
    return lambda request: waiting.pop(0) if waiting else answer(request)


def always(response: Response) -> Callable[[Request], Response]:
    return lambda request: response


def embedder(url: str, pauses: list[float] | None = None, model: str = "some-model") -> RemoteEmbedder:
    opened = open_remote(model, 3, f"{url}/v1", KEY, sleep=(pauses if pauses is not None else []).append)
    assert isinstance(opened, RemoteEmbedder)
    return opened


def test_texts_become_unit_vectors_in_the_order_they_were_given() -> None:
    texts = ["a", "four", "sixsix"]
    with serving(answer) as server:
        vectors = embedder(server.url).embed(texts, "passage")
    expected = np.array([embedding(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32


def test_the_request_is_the_one_openai_documents() -> None:
    with serving(answer) as server:
        embedder(server.url).embed(["hello"], "query")
    [request] = server.requests
    assert (request.method, request.path) == ("POST", "/v1/embeddings")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(request.body) == {"model": "some-model", "input": ["hello"]}


def test_a_shortened_size_is_asked_for_only_where_the_model_knows_how() -> None:
    with serving(answer) as server:
        embedder(server.url, model="text-embedding-3-small").embed(["hello"], "query")
    assert json.loads(server.requests[0].body)["dimensions"] == 3


def test_seventy_texts_are_sent_in_batches_of_thirty_two() -> None:
    with serving(answer) as server:
        vectors = embedder(server.url).embed(["x" * n for n in range(1, 71)], "passage")
    assert [len(json.loads(request.body)["input"]) for request in server.requests] == [32, 32, 6]
    assert vectors.shape == (70, 3)
    assert vectors[69, 0] > vectors[0, 0]


def test_nothing_is_sent_for_no_texts() -> None:
    with serving(answer) as server:
        assert embedder(server.url).embed([], "query").shape == (0, 3)
    assert server.requests == []


def test_text_that_endpoints_refuse_is_made_sendable() -> None:
    with serving(answer) as server:
        embedder(server.url).embed(["", "\0", "\ud800 lone", "長" * 1_000_000], "passage")
    [request] = server.requests
    sent = json.loads(request.body)["input"]
    assert sent[:3] == [".", ".", "\ufffd lone"]
    assert 7_990 < len(sent[3].encode()) <= 8_000


def test_a_busy_endpoint_is_tried_again_after_the_time_it_asks_for() -> None:
    pauses: list[float] = []
    busy = Response.json({"error": {"message": "slow down"}}, 429, Retry_After="7")
    with serving(failing_first(busy, Response(503))) as server:
        assert embedder(server.url, pauses).embed(["hello"], "query").shape == (1, 3)
    assert pauses == [7.0, 1.0]


def test_an_endpoint_that_stays_broken_is_given_up() -> None:
    pauses: list[float] = []
    with (
        serving(always(Response(500, b"oops"))) as server,
        pytest.raises(Unavailable, match="answered 500 to some-model: oops"),
    ):
        embedder(server.url, pauses).embed(["hello"], "query")
    assert pauses == [0.5, 1.0, 2.0, 4.0]
    assert len(server.requests) == 5


@pytest.mark.parametrize(
    "response",
    [
        Response.json({"error": {"message": "come back tomorrow"}}, 429, Retry_After="86400"),
        Response.json({"error": {"message": "You exceeded your current quota"}}, 429),
        Response.json({"error": {"message": "no such model"}}, 404),
        Response(200, b"<html>"),
        Response.json({"data": []}),
        Response.json({"data": "none"}),
        Response.json({"data": [{"index": 0, "embedding": [float("nan"), 1, 2]}]}),
        Response.json({"data": [{"index": 0, "embedding": [10**400, 1, 2]}]}),
        Response(200, b"[" * 200_000),
        Response(404, b"[" * 2_000),
    ],
)
def test_what_waiting_cannot_mend_fails_at_once(response: Response) -> None:
    pauses: list[float] = []
    with serving(always(response)) as server, pytest.raises(Unavailable):
        embedder(server.url, pauses).embed(["hello"], "query")
    assert pauses == []


def test_an_answer_without_end_is_not_taken_into_memory() -> None:
    endless = Response(200, b" " * (17 * 2**20))
    with (
        serving(always(endless)) as server,
        pytest.raises(Unavailable, match="answered more than 16,777,216 bytes"),
    ):
        embedder(server.url).embed(["hello"], "query")


def test_an_answer_that_trickles_is_given_up() -> None:
    minutes = count(step=60.1)
    with serving(answer) as server:
        slow = open_remote(
            "some-model", 3, server.url, KEY, sleep=lambda _: None, clock=lambda: next(minutes)
        )
        assert isinstance(slow, RemoteEmbedder)
        with pytest.raises(Unavailable, match="did not finish its answer within 60 s"):
            slow.embed(["hello"], "query")


def test_an_answer_that_breaks_off_is_asked_for_again() -> None:
    whole = answer(Request("POST", "", {}, b'{"input": ["hello"]}'))
    with serving(failing_first(replace(whole, break_after=20))) as server:
        assert embedder(server.url).embed(["hello"], "query").shape == (1, 3)


def test_a_refused_key_is_named_but_never_shown() -> None:
    refusal = Response.json({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401)
    with (
        serving(always(refusal)) as server,
        pytest.raises(Unavailable, match="check OPENAI_API_KEY") as failure,
    ):
        embedder(server.url).embed(["hello"], "query")
    assert KEY not in str(failure.value)


def test_a_key_repeated_in_a_complaint_is_blotted_out() -> None:
    with (
        serving(always(Response.json({"error": {"message": f"bad {KEY}!"}}, 400))) as server,
        pytest.raises(Unavailable, match="bad …!"),
    ):
        embedder(server.url).embed(["hello"], "query")


def test_the_key_does_not_follow_a_redirect_to_another_host() -> None:
    with serving(always(Response.json({}))) as other:
        elsewhere = Response(302, headers={"Location": f"{other.url}/elsewhere"})
        with serving(always(elsewhere)) as server, pytest.raises(Unavailable):
            embedder(server.url).embed(["hello"], "query")
    [request] = other.requests
    assert "authorization" not in request.headers


def test_vectors_of_another_size_are_refused_with_the_setting_to_change() -> None:
    with serving(answer) as server:
        opened = open_remote("some-model", 5, server.url, KEY)
        assert isinstance(opened, RemoteEmbedder)
        with pytest.raises(Unavailable, match="set EMBEDDING_DIMENSIONS=3"):
            opened.embed(["hello"], "query")


def test_an_endpoint_that_is_not_there_is_unavailable() -> None:
    pauses: list[float] = []
    with pytest.raises(Unavailable, match="cannot be reached"):
        embedder(free_address(), pauses).embed(["hello"], "query")
    assert len(pauses) == 4


def test_the_fingerprint_tells_endpoints_models_and_sizes_apart_and_hides_passwords() -> None:
    opened = open_remote("m", 3, "https://user:password@example.org/v1/", "")
    assert isinstance(opened, RemoteEmbedder)
    assert opened.card.fingerprint == "https://example.org/v1#m@3"


def test_openai_itself_needs_a_key(tmp_path: Path) -> None:
    opened = open_embedder("openai", "text-embedding-3-small", 0, models_dir=tmp_path, cache_dir=tmp_path)
    assert isinstance(opened, NoModel)
    assert "OPENAI_API_KEY" in opened.reason


def test_the_size_of_a_known_model_need_not_be_given(tmp_path: Path) -> None:
    opened = open_embedder(
        "openai", "text-embedding-3-small", 0, models_dir=tmp_path, cache_dir=tmp_path, api_key=KEY
    )
    assert not isinstance(opened, NoModel)
    assert opened.card.dimensions == 1536


def test_the_size_of_an_unknown_model_must_be_given(tmp_path: Path) -> None:
    opened = open_embedder(
        "openai", "m", 0, models_dir=tmp_path, cache_dir=tmp_path, base_url="http://localhost:1"
    )
    assert isinstance(opened, NoModel)
    assert "EMBEDDING_DIMENSIONS" in opened.reason


@pytest.mark.seed("004 §3.2")
def test_the_provider_and_a_key_suffice_for_openai(tmp_path: Path) -> None:
    opened = open_embedder("openai", "", 0, models_dir=tmp_path, cache_dir=tmp_path, api_key=KEY)
    assert not isinstance(opened, NoModel)
    assert (opened.card.name, opened.card.dimensions) == ("text-embedding-3-small", 1536)


@pytest.mark.seed("004 §14.4")
def test_after_a_failure_calls_fail_at_once_until_the_endpoint_is_tried_again() -> None:
    now, pauses = [0.0], list[float]()
    failures = [Response(500, b"oops")] * 6
    with serving(failing_first(*failures)) as server:
        opened = open_remote(
            "some-model", 3, f"{server.url}/v1", KEY, sleep=pauses.append, clock=lambda: now[0]
        )
        assert isinstance(opened, RemoteEmbedder)

        def tried() -> str:
            with pytest.raises(Unavailable) as failed:
                opened.embed(["hello"], "query")
            return str(failed.value)

        assert "answered 500" in tried()
        assert "answered 500" in opened.trouble
        assert "not asked again" in tried()
        assert (len(server.requests), len(pauses)) == (5, 4)
        now[0] = 31.0
        assert "answered 500" in tried()
        assert (len(server.requests), len(pauses)) == (6, 4)
        now[0] = 62.0
        assert opened.embed(["hello"], "query").shape == (1, 3)
        assert opened.trouble == ""


@pytest.mark.seed("004 §14.4")
def test_a_provider_that_is_down_is_noticed_at_the_start_and_said(make_engine: EngineMaker) -> None:
    down = embedder(free_address(), [])
    engine = make_engine(model=down)
    assert engine.scheduled_maintenance.probe_model()
    condition = engine.inventory.condition()
    assert condition.mode.startswith("keyword only")
    assert engine.recall.recall("tea").mode.startswith("keyword only")
