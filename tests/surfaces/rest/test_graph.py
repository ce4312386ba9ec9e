"""Entities and relations over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest


def entity(client: httpx.Client, name: str, type: str = "person", **more: Any) -> dict[str, Any]:
    answer = client.post("/api/entities", json={"name": name, "entity_type": type, **more})
    assert answer.status_code in (200, 201), answer.text
    made: dict[str, Any] = answer.json()
    return made


def relate(
    client: httpx.Client, source: str, target: str, type: str = "knows", **more: Any
) -> dict[str, Any]:
    answer = client.post(
        "/api/relations", json={"source": source, "target": target, "relation_type": type, **more}
    )
    assert answer.status_code in (200, 201), answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_an_entity_is_made_and_says_where_it_is(client: httpx.Client) -> None:
    answer = client.post(
        "/api/entities",
        json={
            "name": "Alice",
            "entity_type": "person",
            "description": "Software engineer",
            "metadata": {"team": 3},
            "observations": ["likes tea"],
        },
    )
    assert answer.status_code == 201
    made = client.get(answer.headers["location"]).json()
    assert (made["name"], made["entity_type"], made["description"]) == (
        "Alice",
        "person",
        "Software engineer",
    )
    assert made["metadata"] == {"team": 3}
    assert [one["content"] for one in made["observations"]] == ["likes tea"]


def test_the_same_name_and_type_again_fills_the_entity_in(client: httpx.Client) -> None:
    first = entity(client, "Alice")
    again = client.post(
        "/api/entities", json={"name": "Alice", "entity_type": "person", "description": "an engineer"}
    )
    assert again.status_code == 200
    assert (again.json()["id"], again.json()["description"]) == (first["id"], "an engineer")
    assert entity(client, "Alice", "boat")["id"] != first["id"]


@pytest.mark.seed("004 §8.2")
def test_entities_are_listed_in_parts_by_type(client: httpx.Client) -> None:
    for name in "abc":
        entity(client, name, "letter", observations=[f"{name} is a letter"])
    entity(client, "1", "digit")
    part = client.get("/api/entities", params={"entity_type": "letter", "limit": 2}).json()
    assert part["total"] == 3
    assert [one["observation_count"] for one in part["items"]] == [1, 1]
    rest = client.get(part["next"]).json()
    assert ([one["name"] for one in rest["items"]], rest["next"]) == (["c"], None)


@pytest.mark.seed("004 §8.2")
def test_an_entity_comes_with_its_relations(client: httpx.Client) -> None:
    alice, bob = entity(client, "Alice"), entity(client, "Bob")
    relate(client, "Alice", "Bob", "collaborates_with", strength=0.8)
    relate(client, alice["id"], bob["id"], "trusts")
    found = client.get(f"/api/entities/{alice['id']}").json()
    assert [(one["source"], one["target"], one["relation_type"]) for one in found["relations"]] == [
        ("Alice", "Bob", "collaborates_with"),
        ("Alice", "Bob", "trusts"),
    ]


def test_of_two_entities_with_one_name_the_id_decides(client: httpx.Client) -> None:
    entity(client, "Jordan", "person")
    country = entity(client, "Jordan", "country")
    path = f"/api/entities/{country['id']}"
    client.post(f"{path}/observations", json={"observations": ["has Petra"]})
    assert [one["content"] for one in client.get(path).json()["observations"]] == ["has Petra"]
    assert client.delete(path).status_code == 200
    [left] = client.get("/api/entities").json()["items"]
    assert left["entity_type"] == "person"


def test_put_changes_an_entity_unless_somebody_was_faster(client: httpx.Client) -> None:
    made = entity(client, "Alice", description="an engineer")
    path = f"/api/entities/{made['id']}"
    etag = client.get(path).headers["etag"]
    first = client.put(path, json={"name": "Alicia", "status": "archived"}, headers={"if-match": etag})
    assert first.status_code == 200
    assert (first.json()["name"], first.json()["description"]) == ("Alicia", "an engineer")
    late = client.put(path, json={"description": "a pilot"}, headers={"if-match": etag})
    assert late.status_code == 412
    never = client.put(path, json={"description": "a pilot"}, headers={"if-match": f'"{10**18 - 1}"'})
    assert never.status_code == 412
    again = client.put(path, json={"description": None}, headers={"if-match": first.headers["etag"]})
    assert again.json()["description"] is None


def test_a_name_that_is_taken_is_a_conflict(client: httpx.Client) -> None:
    entity(client, "Alice")
    bob = entity(client, "Bob")
    assert client.put(f"/api/entities/{bob['id']}", json={"name": "Alice"}).status_code == 409


def test_a_deleted_entity_takes_its_relations_and_leaves_memories(client: httpx.Client) -> None:
    client.post("/api/memories", json={"content": "Alice leads the team", "entity_names": ["Alice"]})
    relate(client, "Alice", "Bob")
    [alice] = client.get("/api/entities", params={"name": "Alice"}).json()["items"]
    assert client.delete(f"/api/entities/{alice['id']}").status_code == 200
    assert client.get("/api/relations").json()["total"] == 0
    assert client.get("/api/memories").json()["total"] == 1
    assert client.get(f"/api/entities/{alice['id']}").status_code == 404
    assert client.delete(f"/api/entities/{alice['id']}").status_code == 404


@pytest.mark.parametrize(("depth", "names"), [(1, {"A", "B", "C"}), (2, {"A", "B", "C", "D"})])
@pytest.mark.seed("004 §8.2")
def test_the_graph_reaches_as_far_as_asked(client: httpx.Client, depth: int, names: set[str]) -> None:
    for source, target in (("A", "B"), ("A", "C"), ("B", "D")):
        relate(client, source, target)
    [start] = client.get("/api/entities", params={"name": "A"}).json()["items"]
    graph = client.get(f"/api/entities/{start['id']}/graph", params={"depth": depth}).json()
    assert {node["name"] for node in graph["nodes"]} == names
    assert graph["center"] == start["id"]


def test_entities_are_found_by_what_is_known_of_them(client: httpx.Client) -> None:
    entity(client, "Aurora", "project", observations=["a compiler for embedded systems"])
    entity(client, "Boreas", "project", observations=["a garden planner"])
    found = client.get("/api/entities/search", params={"q": "compiler", "explain": True}).json()
    assert found["items"][0]["name"] == "Aurora"
    assert found["items"][0]["explanation"]["words"] > 0


def test_observations_are_added_replaced_and_removed(client: httpx.Client) -> None:
    made = entity(client, "Server", "host", observations=["listens on 8080"])
    path = f"/api/entities/{made['id']}/observations"
    added = client.post(
        path, json={"observations": ["listens on 9090"], "supersedes": "listens on 8080"}
    ).json()
    assert [one["content"] for one in added["observations"]] == ["listens on 9090"]
    removed = client.post(f"{path}/delete", json={"observations": ["listens on 9090"]}).json()
    assert removed["observations"] == []


def test_an_overgrown_entity_is_split_as_proposed(client: httpx.Client) -> None:
    texts = [f"backend database query number {number}" for number in range(12)]
    texts += [f"frontend button colour number {number}" for number in range(12)]
    made = entity(client, "App", "project", observations=texts)
    path = f"/api/entities/{made['id']}/split"
    proposal = client.get(path).json()
    assert proposal["analysis"]["observation_count"] == 24
    splits = [
        {"name": "App - backend", "entity_type": "project", "observations": texts[:12]},
        {"name": "App - frontend", "entity_type": "project", "observations": texts[12:]},
    ]
    done = client.post(path, json={"splits": splits}).json()
    assert done["moved_observations"] == 24
    assert done["original_observations_remaining"] == 0
    assert client.post(path, json={"splits": splits}).status_code == 422


def test_duplicates_and_the_report_show_what_wants_attention(client: httpx.Client) -> None:
    made = entity(
        client, "Cat", "animal", observations=["the cat sleeps all day long", "the cat sleeps all day"]
    )
    alike = client.get(f"/api/entities/{made['id']}/duplicates").json()
    assert len(alike["pairs"]) == 1
    report = client.get("/api/report", params={"stale_days": 0}).json()
    assert (report["entity_count"], report["observation_count"]) == (1, 2)


@pytest.mark.seed("004 §8.3")
def test_a_relation_makes_its_ends_and_is_made_once(client: httpx.Client) -> None:
    first = client.post("/api/relations", json={"source": "Alice", "target": "Bob", "relation_type": "knows"})
    assert first.status_code == 201
    assert client.get(first.headers["location"]).json() == first.json()
    again = client.post(
        "/api/relations",
        json={"source": "Alice", "target": "Bob", "relation_type": "knows", "strength": 0.9},
    )
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    assert again.json()["strength"] == 0.9
    types = {one["name"]: one["entity_type"] for one in client.get("/api/entities").json()["items"]}
    assert types == {"Alice": "unknown", "Bob": "unknown"}


def test_an_ended_relation_stays_readable(client: httpx.Client) -> None:
    made = relate(client, "Alice", "Initech", "works_at")
    ended = client.post(f"/api/relations/{made['id']}/end").json()
    assert (ended["already"], ended["relation"]["ended_at"] is not None) == (False, True)
    assert client.post(f"/api/relations/{made['id']}/end").json()["already"] is True
    assert client.get("/api/relations").json()["total"] == 0
    [past] = client.get("/api/relations", params={"ended": True}).json()["items"]
    assert past["id"] == made["id"]


@pytest.mark.seed("004 §8.3")
def test_relations_are_listed_by_entity_and_type_and_deleted(client: httpx.Client) -> None:
    relate(client, "A", "B", "likes")
    relate(client, "A", "C", "owns")
    relate(client, "B", "C", "owns")
    [a] = client.get("/api/entities", params={"name": "A"}).json()["items"]
    found = client.get("/api/relations", params={"entity_id": a["id"], "relation_type": "owns"}).json()
    [owns] = found["items"]
    assert (owns["source"], owns["target"], found["total"]) == ("A", "C", 1)
    assert owns["effective_confidence"] > 0.99, "as in the list of all relations"
    assert client.delete(f"/api/relations/{owns['id']}").status_code == 200
    assert client.get(f"/api/relations/{owns['id']}").status_code == 404
    assert client.get("/api/relations").json()["total"] == 2


def test_reflections_are_kept_about_entities_and_relations(client: httpx.Client) -> None:
    alice = entity(client, "Alice")
    knows = relate(client, "Alice", "Bob")
    about = client.post(
        "/api/reflections",
        json={"target_type": "entity", "target_id": alice["id"], "content": "She sees further.",
              "author": "ana", "mood": "grateful"},
    )  # fmt: skip
    assert about.status_code == 201
    assert client.get(about.headers["location"]).json()["target_id"] == alice["id"]
    between = client.post(
        "/api/reflections",
        json={"target_type": "relation", "target_id": knows["id"], "content": "An old friendship."},
    ).json()
    assert between["target_id"] == knows["id"]
    listed = client.get("/api/reflections", params={"author": "ana"}).json()
    assert ([one["mood"] for one in listed["items"]], listed["total"]) == (["grateful"], 1)
    found = client.get("/api/reflections/search", params={"q": "friendship"}).json()
    assert found["items"][0]["content"] == "An old friendship."
    assert client.delete(f"/api/reflections/{between['id']}").status_code == 200
    assert client.get(f"/api/reflections/{between['id']}").status_code == 404


def test_reflections_are_listed_by_what_they_are_about(client: httpx.Client) -> None:
    alice, bob = entity(client, "Alice"), entity(client, "Bob")
    for one in (alice, bob):
        about = {"target_type": "entity", "target_id": one["id"], "content": f"about {one['name']}"}
        assert client.post("/api/reflections", json=about).status_code == 201
    which = {"target_type": "entity", "target_id": bob["id"]}
    listed = client.get("/api/reflections", params=which).json()
    assert [item["content"] for item in listed["items"]] == ["about Bob"]
    unknown = {**which, "target_id": "00000000-0000-4000-8000-000000000000"}
    assert client.get("/api/reflections", params=unknown).status_code == 404


def test_a_reflection_about_nothing_there_is_refused(client: httpx.Client) -> None:
    missing = client.post(
        "/api/reflections",
        json={"target_type": "entity", "target_id": "00000000-0000-7000-8000-000000000000", "content": "?"},
    )
    assert missing.status_code == 404
    assert client.post("/api/reflections", json={"target_type": "entity", "content": "?"}).status_code == 422
