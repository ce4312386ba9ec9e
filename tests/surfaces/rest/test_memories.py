"""Memories over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest


def create(client: httpx.Client, content: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/api/memories", json={"content": content, **more})
    assert answer.status_code in (200, 201), answer.text
    made: dict[str, Any] = answer.json()
    return made


@pytest.mark.seed("004 §8.1")
def test_post_creates_a_memory_and_says_where_it_is(client: httpx.Client) -> None:
    answer = client.post(
        "/api/memories",
        json={
            "content": "Alice prefers TypeScript",
            "memory_type": "preference",
            "tags": ["language"],
            "entity_names": ["Alice"],
        },
    )
    assert answer.status_code == 201
    memory = answer.json()
    assert memory["content"] == "Alice prefers TypeScript"
    assert (memory["memory_type"], memory["tags"], memory["entities"]) == (
        "preference",
        ["language"],
        ["Alice"],
    )
    assert (memory["confidence"], memory["outcome"], memory["version"]) == (1.0, "created", 1)
    assert memory["created_at"].endswith("Z")
    assert "seq" not in memory
    assert client.get(answer.headers["location"]).json()["id"] == memory["id"]


def test_the_same_content_again_is_the_same_memory(client: httpx.Client) -> None:
    first = create(client, "the build takes two minutes")
    again = client.post("/api/memories", json={"content": "the build takes two minutes", "tags": ["ci"]})
    assert again.status_code == 200
    assert (again.json()["id"], again.json()["outcome"]) == (first["id"], "equal")
    assert again.json()["tags"] == ["ci"]


@pytest.mark.seed("004 §10.6")
def test_search_finds_memories_best_first(client: httpx.Client) -> None:
    create(client, "a test of the deployment pipeline")
    create(client, "the cat sleeps in the sun")
    answer = client.get("/api/memories/search", params={"q": "test"})
    assert answer.status_code == 200
    found = answer.json()
    assert found["items"][0]["content"] == "a test of the deployment pipeline"
    assert found["mode"] == "hybrid"
    assert 0 < found["items"][0]["score"] <= 1


def test_search_takes_types_and_tags_in_one_parameter_or_several(client: httpx.Client) -> None:
    create(client, "deploy on friday", memory_type="decision", tags=["ops", "week"])
    create(client, "deploy on monday", memory_type="error", tags=["ops"])
    together = client.get(
        "/api/memories/search", params={"q": "deploy", "types": "decision,error", "tags": "ops,week"}
    )
    apart = client.get(
        "/api/memories/search",
        params=[
            ("q", "deploy"), ("types", "decision"), ("types", "error"), ("tags", "ops"), ("tags", "week"),
        ],
    )  # fmt: skip
    for answer in (together, apart):
        assert [item["content"] for item in answer.json()["items"]] == ["deploy on friday"]


def test_a_list_comes_in_parts_with_a_total(client: httpx.Client) -> None:
    for number in range(5):
        create(client, f"fact number {number} about {'abcde'[number]}", memory_type="fact")
    create(client, "something else", memory_type="event")
    part = client.get("/api/memories", params={"types": "fact", "limit": 2, "order": "oldest"}).json()
    seen = [item["content"][:13] for item in part["items"]]
    assert part["total"] == 5
    while part["next"]:
        part = client.get(part["next"]).json()
        seen += [item["content"][:13] for item in part["items"]]
    assert seen == [f"fact number {number}" for number in range(5)]


def test_memories_of_one_entity_are_listed(client: httpx.Client) -> None:
    create(client, "Bob plays chess", entity_names=["Bob"])
    create(client, "Eve plays go", entity_names=["Eve"])
    [bob] = client.get("/api/entities", params={"name": "Bob"}).json()["items"]
    for path in ("/api/memories", f"/api/entities/{bob['id']}/memories"):
        found = client.get(path, params={"entity_id": bob["id"]} if path == "/api/memories" else {}).json()
        assert [item["content"] for item in found["items"]] == ["Bob plays chess"]


def test_reading_makes_a_memory_stronger_but_tells_what_was(client: httpx.Client) -> None:
    made = create(client, "half sure", confidence=0.5)
    first = client.get(f"/api/memories/{made['id']}").json()
    second = client.get(f"/api/memories/{made['id']}").json()
    assert (first["confidence"], first["access_count"]) == (0.5, 0)
    assert (round(second["confidence"], 6), second["access_count"]) == (0.6, 1)


@pytest.mark.seed("004 §8.1")
def test_put_changes_what_is_given_and_leaves_the_rest(client: httpx.Client) -> None:
    made = create(client, "x is y", tags=["keep"], source="chat")
    answer = client.put(f"/api/memories/{made['id']}", json={"content": "x is z"})
    assert answer.status_code == 200
    changed = answer.json()
    assert (changed["content"], changed["tags"], changed["source"]) == ("x is z", ["keep"], "chat")
    assert answer.headers["etag"] == '"2"'


def test_a_lost_update_is_refused(client: httpx.Client) -> None:
    made = create(client, "x is y")
    path = f"/api/memories/{made['id']}"
    etag = client.get(path).headers["etag"]
    assert client.put(path, json={"content": "x is z"}, headers={"if-match": etag}).status_code == 200
    late = client.put(path, json={"content": "x is w"}, headers={"if-match": etag})
    assert late.status_code == 412
    assert late.json()["code"] == "stale"
    assert client.get(path).json()["content"] == "x is z"
    for never in ('W/"2"', "2", '"x"', ""):
        assert client.put(path, json={"content": "x"}, headers={"if-match": never}).status_code == 412
    assert client.put(path, json={"content": "x is w"}, headers={"if-match": "*"}).status_code == 200


def test_to_say_what_another_memory_says_is_a_conflict(client: httpx.Client) -> None:
    create(client, "the sky is blue")
    other = create(client, "grass grows")
    answer = client.put(f"/api/memories/{other['id']}", json={"content": "the sky is blue"})
    assert answer.status_code == 409


@pytest.mark.seed("004 §8.1")
def test_a_deleted_memory_is_gone_and_comes_back_when_restored(client: httpx.Client) -> None:
    made = create(client, "soon gone")
    path = f"/api/memories/{made['id']}"
    assert client.delete(path).json()["change_id"]
    assert client.get(path).status_code == 404
    assert client.delete(path).status_code == 404
    assert client.post(f"{path}/restore").json()["content"] == "soon gone"
    assert client.get(path).status_code == 200


def test_memories_are_deleted_by_conditions_after_a_look(client: httpx.Client) -> None:
    old = create(client, "an old error", memory_type="error")
    kept = create(client, "a fact", memory_type="fact")
    wanted = {"types": ["error"], "dry_run": True}
    look = client.post("/api/memories/delete", json=wanted).json()
    assert (look["ids"], look["change_id"]) == ([old["id"]], None)
    done = client.post("/api/memories/delete", json={"types": ["error"]}).json()
    assert done["ids"] == [old["id"]]
    assert [item["id"] for item in client.get("/api/memories").json()["items"]] == [kept["id"]]
    assert client.post("/api/memories/delete", json={}).status_code == 422


def test_a_forgotten_memory_is_out_of_sight_until_it_is_restored(client: httpx.Client) -> None:
    made = create(client, "an embarrassing thing")
    path = f"/api/memories/{made['id']}"
    assert client.post(f"{path}/forget", json={"reason": "asked to"}).status_code == 200
    assert client.get("/api/memories").json()["total"] == 0
    [hidden] = client.get("/api/memories", params={"forgotten": True}).json()["items"]
    assert hidden["forgotten_reason"] == "asked to"
    client.post(f"{path}/restore")
    assert client.get("/api/memories").json()["total"] == 1


def test_what_is_purged_leaves_no_trace(client: httpx.Client) -> None:
    made = create(client, "a secret to be erased")
    answer = client.delete(f"/api/memories/{made['id']}/for-good")
    assert answer.status_code == 200
    assert client.post(f"/api/memories/{made['id']}/restore").status_code == 404


def test_earlier_versions_are_read_and_brought_back(client: httpx.Client) -> None:
    made = create(client, "version one")
    path = f"/api/memories/{made['id']}"
    client.put(path, json={"content": "version two"})
    [version] = client.get(f"{path}/versions").json()["items"]
    assert (version["number"], version["content"]) == (1, "version one")
    assert client.post(f"{path}/versions/1/restore").json()["content"] == "version one"
    assert client.post(f"{path}/versions/9/restore").status_code == 404


def test_a_pinned_memory_says_so(client: httpx.Client) -> None:
    made = create(client, "never fades")
    path = f"/api/memories/{made['id']}/pin"
    assert client.put(path).json()["pinned"] is True
    assert client.delete(path).json()["pinned"] is False


def test_memories_are_associated(client: httpx.Client) -> None:
    cause = create(client, "the disk was full")
    effect = create(client, "backups failed on tuesday")
    answer = client.post(
        f"/api/memories/{effect['id']}/associations",
        json={"target_id": cause["id"], "association_type": "caused_by", "weight": 0.9},
    )
    assert answer.status_code == 201
    [found] = client.get(f"/api/memories/{cause['id']}/associations").json()["items"]
    assert (found["source_id"], found["target_id"]) == (effect["id"], cause["id"])
    assert (found["association_type"], found["weight"]) == ("caused_by", 0.9)


def test_an_association_is_taken_away_and_brought_back(client: httpx.Client) -> None:
    cause, effect = create(client, "the disk was full"), create(client, "backups failed on tuesday")
    here = f"/api/memories/{effect['id']}/associations"
    made = client.post(here, json={"target_id": cause["id"]}).json()
    gone = client.delete(f"{here}/{made['id']}")
    assert (gone.status_code, gone.json()["ids"]) == (200, [made["id"]])
    assert client.get(here).json()["items"] == []
    assert client.delete(f"{here}/{made['id']}").status_code == 404
    client.post(f"/api/changes/{gone.json()['change_id']}/undo")
    assert client.get(here).json()["items"] == [made]


def test_what_happened_to_a_memory_is_told(client: httpx.Client) -> None:
    made = create(client, "x is y")
    client.put(f"/api/memories/{made['id']}", json={"content": "x is z"})
    told = client.get(f"/api/memories/{made['id']}/history").json()["items"]
    assert [event["name"] for event in told] == ["memory_created", "memory_updated"]


def test_consolidation_reports_before_it_acts(client: httpx.Client) -> None:
    words = "react hooks must be called at the top level of a component"
    create(client, words, memory_type="learning")
    create(client, f"{words} always always", memory_type="learning")
    look = client.post("/api/memories/consolidate", json={"similarity_threshold": 0.5, "dry_run": True})
    assert look.status_code == 200
    assert look.json()["dry_run"] is True
    assert {"clusters_found", "memories_merged", "memories_deleted"} <= look.json().keys()
    assert client.get("/api/memories").json()["total"] >= 1


def test_pruning_takes_only_what_has_faded(client: httpx.Client) -> None:
    create(client, "fading", confidence=0.01)
    create(client, "lasting")
    look = client.post("/api/memories/prune", json={"dry_run": True}).json()
    assert [item["content"] for item in look["items"]] == ["fading"]
    done = client.post("/api/memories/prune", json={}).json()
    assert done["change_id"]
    assert [item["content"] for item in client.get("/api/memories").json()["items"]] == ["lasting"]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "body.content"),
        ({"content": 5}, "body.content"),
        ({"content": "x", "confidence": 2}, "body.confidence"),
        ({"content": "x", "contents": "y"}, "body.contents"),
    ],
)
def test_a_misshapen_memory_is_refused_with_the_place(
    client: httpx.Client, body: dict[str, Any], where: str
) -> None:
    answer = client.post("/api/memories", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert [fault["where"] for fault in answer.json()["errors"]] == [where]


@pytest.mark.parametrize("moment", ["0.5", "1700000000", "yesterday", "2026-13-01"])
def test_a_time_is_written_as_one(client: httpx.Client, moment: str) -> None:
    assert client.get("/api/memories", params={"before": moment}).status_code == 422


@pytest.mark.parametrize("flag", [0, "no", None])
def test_a_dry_run_is_asked_for_without_ambiguity(client: httpx.Client, flag: object) -> None:
    assert client.post("/api/memories/prune", json={"dry_run": flag}).status_code == 422


def test_memories_are_listed_by_when_they_were_made(client: httpx.Client) -> None:
    create(client, "made just now")
    for moment, total in (("2000-01-01", 0), ("2100-01-01T00:00:00Z", 1)):
        assert client.get("/api/memories", params={"before": moment}).json()["total"] == total


@pytest.mark.parametrize("path", ["/api/memories", "/api/memories/search"])
def test_an_empty_parameter_says_nothing(client: httpx.Client, path: str) -> None:
    client.post("/api/memories", json={"content": "Rex is a dog", "source": "a letter", "tags": ["pets"]})
    names = ("source", "channel", "tags", "memory_types", "after_date", "entity_id", "limit")
    asked = {"q": "dog"} if "search" in path else {}
    found = client.get(path, params={**asked, **dict.fromkeys(names, "")})
    assert [one["content"] for one in found.json()["items"]] == ["Rex is a dog"]


def test_a_search_fits_into_a_budget_of_tokens(client: httpx.Client) -> None:
    for text in ("Where did you go last summer?", "We hiked across Iceland", "The lamp is broken " * 40):
        create(client, text)
    asked = {"q": "hiking across Iceland"}
    [best] = client.get("/api/memories/search", params={**asked, "max_tokens": 40}).json()["items"]
    assert best["content"] == "We hiked across Iceland"
    assert "Where did you go last summer?" in best["around"]
    assert client.get("/api/memories/search", params=asked).json()["items"][0]["around"] == []
    assert client.get("/api/memories/search", params={**asked, "max_tokens": 0}).status_code == 422


def test_a_page_goes_on_from_a_cursor_whatever_came_meanwhile(client: httpx.Client) -> None:
    for number in range(5):
        client.post("/api/memories", json={"content": f"step {number} of the recipe"})
    first = client.get("/api/memories", params={"limit": 2, "offset": 1}).json()
    client.post("/api/memories", json={"content": "an afterthought"})
    assert "cursor=" in first["next"]
    assert "offset=" not in first["next"]
    rest = client.get(first["next"]).json()
    shown = [one["content"] for one in first["items"] + rest["items"]]
    assert shown == [f"step {number} of the recipe" for number in (3, 2, 1, 0)]
    assert (rest["next"], rest["total"]) == (None, 6)


def test_a_broken_cursor_is_refused(client: httpx.Client) -> None:
    answer = client.get("/api/memories", params={"cursor": "nonsense"})
    assert answer.status_code == 422
    assert "take it from `next`" in answer.json()["detail"]
