"""The space as a whole over HTTP: figures, changes, spaces, export and import, health and metrics."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from tests.surfaces.rest.conftest import engine_on
from tests.surfaces.rest.serving import Running, running
from tests.surfaces.rest.test_memories import create


@pytest.mark.seed("004 §8.4")
def test_the_overview_has_counts_and_averages(client: httpx.Client) -> None:
    create(client, "chose React over Vue", memory_type="decision", confidence=0.8, entity_names=["React"])
    create(client, "the deploy failed for want of a variable", memory_type="error", confidence=0.4)
    answer = client.get("/api/analytics/overview")
    assert answer.status_code == 200
    found = answer.json()
    assert (found["total_memories"], found["total_entities"], found["total_relations"]) == (2, 1, 0)
    assert found["memories_by_type"] == {"decision": 1, "error": 1}
    assert found["average_confidence"] == pytest.approx(0.6, abs=0.01)


@pytest.mark.parametrize("period", ["day", "week", "month"])
@pytest.mark.seed("004 §8.4")
def test_growth_counts_the_memories_of_each_period(client: httpx.Client, period: str) -> None:
    create(client, "one")
    create(client, "another thing entirely")
    found = client.get("/api/analytics/growth", params={"period": period, "limit": 3}).json()
    assert [one["added"] for one in found["items"]] == [0, 0, 2]
    assert found["items"][-1]["total"] == 2


@pytest.mark.seed("004 §8.4")
def test_types_tags_and_confidence_are_counted(client: httpx.Client) -> None:
    create(client, "one fact about cats", memory_type="fact", tags=["cats"])
    create(client, "a dog barks", memory_type="fact", tags=["dogs", "cats"], confidence=0.25)
    assert client.get("/api/analytics/types").json()["items"] == [{"memory_type": "fact", "count": 2}]
    assert client.get("/api/analytics/tags").json()["items"] == [
        {"tag": "cats", "count": 2},
        {"tag": "dogs", "count": 1},
    ]
    bins = client.get("/api/analytics/confidence", params={"bins": 4}).json()["items"]
    assert [one["count"] for one in bins] in ([1, 0, 0, 1], [0, 1, 0, 1])
    assert (bins[0]["low"], bins[-1]["high"]) == (0.0, 1.0)


def test_a_change_is_listed_undone_and_done_again(client: httpx.Client) -> None:
    made = create(client, "to be undone")
    gone = client.delete(f"/api/memories/{made['id']}").json()
    [latest, first] = client.get("/api/changes").json()["items"]
    assert (latest["change_id"], latest["undoable"]) == (gone["change_id"], True)
    assert first["undone"] is False
    undone = client.post(f"/api/changes/{gone['change_id']}/undo").json()
    assert undone["restored"] == [made["id"]]
    assert client.get(f"/api/memories/{made['id']}").status_code == 200
    assert client.post(f"/api/changes/{gone['change_id']}/undo").status_code == 409
    client.post(f"/api/changes/{undone['change_id']}/undo")
    assert client.get(f"/api/memories/{made['id']}").status_code == 404


def test_the_latest_change_is_undone_without_naming_it(client: httpx.Client) -> None:
    made = create(client, "a slip")
    assert client.post("/api/changes/undo").status_code == 200
    assert client.get(f"/api/memories/{made['id']}").status_code == 404
    assert client.post("/api/changes/undo").status_code == 404


def test_changes_come_in_parts(client: httpx.Client) -> None:
    for number in range(3):
        create(client, f"change number {number} {'abc'[number] * 5}")
    part = client.get("/api/changes", params={"limit": 2}).json()
    rest = client.get(part["next"]).json()
    ids = [one["change_id"] for one in (*part["items"], *rest["items"])]
    assert len(set(ids)) == 3


def test_each_space_is_apart_and_listed(client: httpx.Client, server: Running, space: str) -> None:
    create(client, "only here")
    with server.client(**{"X-Memory-Space": f"{space} beside"}) as beside:
        assert beside.get("/api/memories").json()["total"] == 0
    spaces = {one["name"]: one["current"] for one in client.get("/api/spaces").json()["items"]}
    assert spaces[space] is True


def test_what_is_exported_is_whole_when_imported_elsewhere(client: httpx.Client, tmp_path: Path) -> None:
    create(client, "Alice likes tea", entity_names=["Alice"], tags=["drinks"])
    client.post("/api/relations", json={"source": "Alice", "target": "Bob", "relation_type": "knows"})
    exported = client.get("/api/export")
    assert exported.headers["content-type"] == "application/x-ndjson"
    with running(engine_on(tmp_path / "copy.db")) as elsewhere, elsewhere.client() as copy:
        came_in = copy.post("/api/import", content=exported.content)
        assert came_in.status_code == 200
        assert (came_in.json()["entities_imported"], came_in.json()["relations_imported"]) == (2, 1)
        [memory] = copy.get("/api/memories").json()["items"]
    assert (memory["content"], memory["tags"], memory["entities"]) == (
        "Alice likes tea",
        ["drinks"],
        ["Alice"],
    )


def test_an_import_tells_how_far_it_is(client: httpx.Client) -> None:
    lines = [
        json.dumps({"type": "entity", "name": f"e{number}", "entityType": "t", "observations": ["o"]})
        for number in range(700)
    ]
    body = "\n".join(lines).encode()
    answer = client.post("/api/import", content=body, headers={"accept": "application/x-ndjson"})
    told = [json.loads(line) for line in answer.text.splitlines()]
    assert [one["done"] for one in told[:-1]] == sorted(one["done"] for one in told[:-1])
    assert told[-2] == {"done": len(body), "total": len(body)}
    assert told[-1]["imported"]["entities_imported"] == 700
    assert client.get("/api/entities").json()["total"] == 700
    again = client.get("/api/export", params={"format": "anthropic"}).text.splitlines()
    assert json.loads(again[0])["name"] == "e0"


def test_a_broken_archive_is_refused_with_its_lines(client: httpx.Client) -> None:
    head = json.dumps({"record": "space", "program": "mcp-memory", "format": 1, "space": "x", "at": "now"})
    body = f'{head}\n{{"record": "memory"}}\n'
    assert client.post("/api/import", content=body).status_code == 422
    told = client.post("/api/import", content=body, headers={"accept": "application/x-ndjson"}).text
    assert json.loads(told.splitlines()[-1])["problem"]["status"] == 422


def test_health_tells_how_searches_run_and_what_is_pending(client: httpx.Client) -> None:
    create(client, "something to count")
    found = client.get("/health").json()
    assert (found["status"], found["database"], found["mode"]) == ("ok", "sqlite", "hybrid")
    assert found["model"] == "hashed-words"
    assert found["pending_vectors"] >= 0
    assert found["background"]["leads"] in (True, False)


def test_metrics_count_things_and_requests(client: httpx.Client, space: str) -> None:
    create(client, "counted")
    client.get("/api/nowhere")
    text = client.get("/metrics").text
    figures = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert figures[f'mcp_memory_things{{space="{space}",kind="memories"}}'] == "1"
    posts = 'mcp_memory_http_request_seconds_count{method="POST",route="/api/memories"}'
    assert int(figures[posts]) >= 1
    fastest = 'mcp_memory_http_request_seconds_bucket{method="POST",route="/api/memories",le="+Inf"}'
    assert figures[fastest] == figures[posts]
    assert any('route="unmatched",status="404"' in name for name in figures)
    assert "mcp_memory_event_followers" in figures


def test_times_are_utc(client: httpx.Client) -> None:
    made = create(client, "now")
    at = datetime.fromisoformat(made["created_at"])
    assert at.utcoffset() == datetime.now(UTC).utcoffset()
    assert made["created_at"].endswith("Z")
