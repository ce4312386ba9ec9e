"""Clauses of the specifications that REST keeps."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import pytest

from tests.surfaces.rest.serving import Running
from tests.surfaces.rest.test_memories import create


@pytest.mark.seed("004 §5.6")
@pytest.mark.parametrize("path", ["/api/memories", "/api/memories/search?q=green"])
def test_filters_have_the_names_of_the_specification(client: httpx.Client, path: str) -> None:
    create(client, "the green door", memory_type="fact")
    create(client, "the green gate", memory_type="decision")
    for name in ("memory_types", "types"):
        found = client.get(path, params=_with(path, **{name: "fact"})).json()
        assert [item["content"] for item in found["items"]] == ["the green door"]
    for name, count in (("after_date", 0), ("after", 0), ("before_date", 2), ("before", 2)):
        found = client.get(path, params=_with(path, **{name: "2099-01-01"})).json()
        assert len(found["items"]) == count, name


@pytest.mark.seed("004 §5.6")
def test_an_unknown_filter_is_refused_with_a_suggestion(client: httpx.Client) -> None:
    answer = client.get("/api/memories", params={"afterdate": "2099-01-01"})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {"where": "query.afterdate", "what": "There is no such parameter: did you mean after_date?"}
    ]


@pytest.mark.seed("DESIGN §1")
def test_an_entity_is_read_by_its_name(client: httpx.Client) -> None:
    made = client.post("/api/entities", json={"name": "Alice B", "entity_type": "person"}).json()
    assert client.get("/api/entities/Alice%20B").json()["id"] == made["id"]
    assert client.get("/api/entities/Alice%20B/graph").json()["center"] == made["id"]
    assert client.get("/api/entities/Alice%20B/memories").json()["items"] == []
    changed = client.put("/api/entities/Alice%20B", json={"description": "a friend"})
    assert changed.json()["description"] == "a friend"
    create(client, "Alice B likes tea", entity_names=["Alice B"])
    about = client.get("/api/memories", params={"entity_id": "Alice B"}).json()
    assert [item["content"] for item in about["items"]] == ["Alice B likes tea"]
    assert client.delete("/api/entities/Alice%20B").json()["id"] == made["id"]
    missing = client.get("/api/entities/Alice%20B")
    assert (missing.status_code, missing.json()["detail"]) == (404, "Entity not found: Alice B")


@pytest.mark.seed("DESIGN §5")
def test_the_past_is_read_with_as_of(client: httpx.Client) -> None:
    memory = create(client, "Alice likes tea", entity_names=["Alice"])
    then = datetime.now(UTC).isoformat()
    client.put(f"/api/memories/{memory['id']}", json={"content": "Alice likes coffee"})
    client.post("/api/entities", json={"name": "Bob", "entity_type": "person"})

    def contents(path: str, **more: str) -> list[str]:
        answer = client.get(path, params={**more, "as_of": then})
        assert answer.status_code == 200, answer.text
        return [item["content"] for item in answer.json()["items"]]

    one = client.get(f"/api/memories/{memory['id']}", params={"as_of": then}).json()
    assert (one["content"], one["entities"]) == ("Alice likes tea", ["Alice"])
    assert contents("/api/memories") == ["Alice likes tea"]
    assert contents("/api/entities/Alice/memories") == ["Alice likes tea"]
    assert contents("/api/memories/search", q="tea") == ["Alice likes tea"]
    entity = client.get("/api/entities/Alice", params={"as_of": then}).json()
    assert [one["content"] for one in entity["observations"]] == ["Alice likes tea"]
    graph = client.get("/api/entities/Alice/graph", params={"as_of": then}).json()
    assert [one["content"] for one in graph["nodes"][0]["memories"]] == ["Alice likes tea"]
    listed = client.get("/api/entities", params={"as_of": then}).json()["items"]
    assert [one["name"] for one in listed] == ["Alice"]
    assert client.get("/api/entities/Bob", params={"as_of": then}).status_code == 404
    refused = client.get("/api/memories", params={"as_of": "2999-01-01"})
    assert (refused.status_code, "future" in refused.json()["detail"]) == (422, True)


@pytest.mark.seed("004 §8.1")
def test_consolidation_is_triggered_without_a_body(client: httpx.Client) -> None:
    create(client, "the build takes two minutes")
    assert client.post("/api/memories/consolidate").status_code == 200
    assert client.post("/api/memories/prune").status_code == 200


@pytest.mark.seed("004 §9.1")
def test_a_search_without_a_limit_takes_the_setting(client: httpx.Client, server: Running) -> None:
    for number in range(25):
        create(client, f"green thing number {number} of many, about {number * 7} apples")
    found = client.get("/api/memories/search", params={"q": "green"}).json()
    assert len(found["items"]) == 20
    following = client.get(found["next"]).json()
    assert len(following["items"]) == 5
    assert following["next"] is None


@pytest.mark.seed("004 §2.3")
@pytest.mark.seed("004 §2.4")
def test_relations_and_links_carry_what_the_tables_have(client: httpx.Client) -> None:
    wanted = {"source": "A", "target": "B", "relation_type": "knows", "metadata": {"since": 2019}}
    made = client.post("/api/relations", json=wanted).json()
    assert made["metadata"] == {"since": 2019}
    assert client.get("/api/relations", params={"entity_id": "A"}).json()["items"][0]["id"] == made["id"]
    kept = create(client, "A knows B well", entity_names=["A"], relevance=0.25, pinned=True)
    assert kept["pinned"] is True


def _with(path: str, **params: str) -> dict[str, str]:
    return ({"q": "green"} if "search" in path else {}) | params
