"""The files of the page: served compressed, cached by name, under a strict policy; missing ones explained."""

from __future__ import annotations

import gzip
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from mcp_memory.server import page


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    for name in ("index.html", "docs.html", "favicon.svg", "assets/index-abc.js"):
        (folder / name).write_text(f"this is {name}", encoding="utf-8")
        (folder / f"{name}.gz").write_bytes(gzip.compress(f"this is {name}".encode()))
    (tmp_path / "secret.txt").write_text("not for the web", encoding="utf-8")
    return folder


@pytest.fixture
def browser(built: Path) -> TestClient:
    app = FastAPI(docs_url=None, redoc_url=None)
    page.install(app, built)
    return TestClient(app)


def test_documents_are_asked_for_again_and_assets_never(browser: TestClient) -> None:
    for path, name in (("/", "index.html"), ("/docs", "docs.html")):
        answer = browser.get(path)
        assert answer.text == f"this is {name}"
        assert answer.headers["cache-control"] == "no-cache"
    asset = browser.get("/assets/index-abc.js")
    assert "immutable" in asset.headers["cache-control"]
    assert asset.headers["content-type"].startswith("text/javascript")


def test_files_travel_compressed_to_those_who_take_it(browser: TestClient) -> None:
    assert browser.get("/").headers["content-encoding"] == "gzip"
    plain = browser.get("/", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.text == "this is index.html"


@pytest.mark.parametrize("name", ["missing.js", "..%2f..%2fsecret.txt", "..%5csecret.txt", ".built"])
def test_nothing_else_is_served(browser: TestClient, name: str) -> None:
    assert browser.get(f"/assets/{name}").status_code == 404


def test_a_server_without_the_built_page_says_how_to_build_it(tmp_path: Path) -> None:
    app = FastAPI(docs_url=None, redoc_url=None)
    page.install(app, tmp_path)
    answer = TestClient(app).get("/")
    assert "make page" in answer.text
    assert "script" not in answer.headers["content-security-policy"]


def test_the_policy_allows_no_inline_script_or_style(client: httpx.Client) -> None:
    policy = client.get("/api/session").headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def test_a_look_makes_nothing_stronger(client: httpx.Client) -> None:
    made = client.post("/api/memories", json={"content": "Ann prefers tea", "confidence": 0.5}).json()
    looking = {"x-memory-record": "no"}
    client.get("/api/memories/search", params={"q": "tea"}, headers=looking)
    client.get(f"/api/memories/{made['id']}", headers=looking)
    seen = client.get(f"/api/memories/{made['id']}").json()
    assert (seen["confidence"], seen["access_count"]) == (0.5, 0)
    assert client.get(f"/api/memories/{made['id']}").json()["access_count"] == 1


def test_a_change_can_be_read_with_what_was_before(client: httpx.Client) -> None:
    made = client.post("/api/memories", json={"content": "Ann prefers tea"}).json()
    client.put(f"/api/memories/{made['id']}", json={"content": "Ann prefers coffee"})
    newest = client.get("/api/changes").json()["items"][0]
    [first, *_] = client.get(f"/api/changes/{newest['change_id']}").json()["items"]
    rows = [row for row in first["before"] if row["table"] == "memory"]
    assert rows[0]["row"]["content"] == "Ann prefers tea"
    assert "seq" not in rows[0]["row"]
    assert client.get(f"/api/changes/{made['id']}").status_code == 404


def test_the_memory_tells_about_itself(client: httpx.Client) -> None:
    client.post("/api/memories", json={"content": "x"}, headers={"x-memory-client": "page"})
    about = client.get("/api/about").json()
    assert about["size_bytes"] > 0
    assert about["half_life_days"] == 30
    assert [(one["name"], one["change_count"]) for one in about["clients"]] == [("page", 1)]


def test_the_graph_is_read_from_its_best_connected_entities(client: httpx.Client) -> None:
    for target in ("a", "b", "c"):
        client.post("/api/relations", json={"source": "hub", "target": target, "relation_type": "knows"})
    client.post("/api/entities", json={"name": "alone", "entity_type": "thing"})
    graph = client.get("/api/graph", params={"limit": 2}).json()
    assert next((node["name"], node["degree"]) for node in graph["nodes"]) == ("hub", 3)
    assert len(graph["edges"]) == 1
    assert graph["total"] == 5
    whole = client.get("/api/graph").json()
    assert whole["nodes"][-1]["name"] == "alone"
    assert len(whole["edges"]) == 3
    assert client.get("/api/graph", params={"min_strength": 0.9}).json()["edges"] == []


def test_an_upload_is_previewed_by_what_it_is_before_it_is_imported(client: httpx.Client) -> None:
    note = b"# Tea\n\n- Ann prefers green tea\n"
    preview = client.post("/api/import/preview", params={"name": "tea.md"}, content=note).json()
    assert preview["format"] == "markdown"
    assert preview["total"]["memory"] >= 1
    assert client.get("/api/memories").json()["total"] == 0
    done = client.post("/api/import", params={"name": "../../tea.md"}, content=note)
    assert done.status_code == 200
    assert client.get("/api/memories/search", params={"q": "green tea"}).json()["items"]


def test_a_split_is_proposed_with_the_parts_that_a_split_takes(client: httpx.Client) -> None:
    texts = [f"The {part} engine test number {n} failed" for n in range(14) for part in ("left", "right")]
    made = client.post(
        "/api/entities", json={"name": "Rocket", "entity_type": "project", "observations": texts}
    ).json()
    proposed = client.get(f"/api/entities/{made['id']}/split").json()
    done = client.post(f"/api/entities/{made['id']}/split", json={"splits": proposed["splits"]})
    assert done.status_code == 200
    assert set(done.json()["new_entities"]) == {split["name"] for split in proposed["splits"]}
