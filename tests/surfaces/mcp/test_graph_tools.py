"""Every tool of the graph set over a real connection, with the examples it is documented by."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surfaces.speaking import Conversation, Refused, conversation

SITE = {
    "name": "CachorroSpace",
    "entityType": "Project",
    "observations": ["Stack: Astro 6.x + Starlight 0.38.x", "Deployed on Vercel at cachorro.space"],
}
USES = {"from": "CachorroSpace", "to": "Astro", "relationType": "uses"}
GRAPH_TOOLS = {
    "create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations",
    "delete_relations", "search_nodes", "open_nodes", "read_graph", "search_semantic", "migrate",
    "analyze_entity_split", "propose_entity_split", "execute_entity_split", "find_split_candidates",
    "find_duplicate_observations", "consolidation_report", "end_relation", "add_reflection",
    "search_reflections",
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversation]:
    with conversation(tmp_path_factory.mktemp("graph"), "--tools", "graph") as opened:
        yield opened


@pytest.fixture
def graph(server: Conversation) -> Conversation:
    """The same server for all, emptied for each."""
    names = [entity["name"] for entity in server.call("read_graph", limit=1000)["entities"]]
    if names:
        server.call("delete_entities", entityNames=names)
    return server


def test_the_set_has_its_tools_each_with_title_description_hints_and_schemas(server: Conversation) -> None:
    assert server.tools.keys() == GRAPH_TOOLS
    for tool in server.tools.values():
        assert tool.title
        assert len(tool.description or "") > 40
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is False
        assert tool.output_schema is not None


@pytest.mark.seed("000 §1")
def test_create_entities_answers_as_documented(graph: Conversation) -> None:
    assert graph.call("create_entities", entities=[SITE]) == {"entities": [SITE]}
    more = {"name": "CachorroSpace", "observations": ["New", SITE["observations"][0]]}
    [merged] = graph.call("create_entities", entities=[more])["entities"]
    assert merged == {**SITE, "observations": [*SITE["observations"], "New"]}


@pytest.mark.seed("004 §7.2.3")
def test_create_entities_in_the_other_spelling_answers_in_it(graph: Conversation) -> None:
    alice = {
        "name": "Alice",
        "entity_type": "person",
        "description": "Software engineer",
        "metadata": {"a": 1},
    }
    [made] = graph.call("create_entities", entities=[alice])["entities"]
    assert alice.items() <= made.items()
    assert {"id", "created_at"} <= made.keys()
    assert "entityType" not in made


def test_both_spellings_may_be_mixed_item_by_item(graph: Conversation) -> None:
    made = graph.call("create_entities", entities=[SITE, {"name": "Bob", "entity_type": "person"}])[
        "entities"
    ]
    assert [sorted({"entityType", "entity_type"} & item.keys()) for item in made] == [
        ["entityType"],
        ["entity_type"],
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"entities": [{"entityType": "Project"}]}, "name is missing"),
        ({"entities": [{"name": ""}]}, "name is empty"),
        ({"entities": [{"name": "x", "colour": "red"}]}, "colour is not known here"),
        ({"entities": "none"}, "entities"),
        ({}, "entities is missing"),
        ({"entities": [{"name": "x", "observations": ["y" * 2001]}]}, "2,000 are allowed"),
    ],
)
def test_bad_entities_are_refused_in_plain_words_and_nothing_is_kept(
    graph: Conversation, arguments: dict[str, object], complaint: str
) -> None:
    with pytest.raises(Refused, match=complaint):
        graph.call("create_entities", **arguments)
    assert graph.call("read_graph")["total"] == 0


@pytest.mark.seed("000 §2")
def test_create_relations_answers_as_documented(graph: Conversation) -> None:
    graph.call("create_entities", entities=[SITE, {"name": "Astro"}])
    assert graph.call("create_relations", relations=[USES]) == {"relations": [USES]}
    assert graph.call("create_relations", relations=[USES]) == {
        "relations": [{**USES, "error": "Relation already exists"}]
    }
    missing = graph.call("create_relations", relations=[{**USES, "to": "NonExistentEntity"}])
    assert missing == {
        "relations": [{"error": "Entity not found: NonExistentEntity"}],
        "errors": ["Entity not found: NonExistentEntity"],
    }


@pytest.mark.seed("004 §7.2.4")
def test_create_relations_in_the_other_spelling_makes_the_ends(graph: Conversation) -> None:
    wanted = {"source": "Alice", "target": "Bob", "relation_type": "collaborates_with", "strength": 0.8}
    [made] = graph.call("create_relations", relations=[wanted])["relations"]
    assert wanted.items() <= made.items()
    assert made["confidence"] == 1.0
    types = {item["name"]: item["entityType"] for item in graph.call("read_graph")["entities"]}
    assert types == {"Alice": "unknown", "Bob": "unknown"}


def test_a_relation_without_all_its_parts_is_refused(graph: Conversation) -> None:
    with pytest.raises(Refused, match="needs from, to and relationType"):
        graph.call("create_relations", relations=[{"from": "A"}])


@pytest.mark.seed("000 §3")
def test_add_observations_answers_as_documented(graph: Conversation) -> None:
    graph.call("create_entities", entities=[SITE])
    answer = graph.call(
        "add_observations", name="CachorroSpace", observations=["ECharts 6.x", "Accent: teal"]
    )
    assert answer == {
        "entity": {**SITE, "observations": [*SITE["observations"], "ECharts 6.x", "Accent: teal"]}
    }
    with pytest.raises(Refused, match="Entity not found: NonExistentEntity"):
        graph.call("add_observations", name="NonExistentEntity", observations=["x"])


def test_add_observations_takes_several_entities_and_answers_with_what_was_new(graph: Conversation) -> None:
    graph.call("create_entities", entities=[{"name": "A", "observations": ["old"]}, {"name": "B"}])
    wanted = [{"entityName": "A", "contents": ["old", "new"]}, {"entityName": "B", "contents": ["b"]}]
    assert graph.call("add_observations", observations=wanted) == {
        "results": [
            {"entityName": "A", "addedObservations": ["new"]},
            {"entityName": "B", "addedObservations": ["b"]},
        ]
    }
    with pytest.raises(Refused, match="Entity not found: C"):
        graph.call("add_observations", observations=[*wanted, {"entityName": "C", "contents": ["c"]}])


@pytest.mark.seed("000 §4")
def test_delete_entities_answers_as_documented_in_either_spelling(graph: Conversation) -> None:
    graph.call("create_entities", entities=[{"name": "Old Project"}, {"name": "Other"}])
    gone = graph.call("delete_entities", entityNames=["Old Project", "Already Deleted Entity"])
    assert gone == {"deleted": ["Old Project"], "errors": ["Entity not found: Already Deleted Entity"]}
    assert graph.call("delete_entities", entity_names=["Other"]) == {"deleted": ["Other"]}


@pytest.mark.seed("000 §5")
def test_delete_observations_answers_as_documented_in_either_spelling(graph: Conversation) -> None:
    graph.call("create_entities", entities=[SITE])
    answer = graph.call(
        "delete_observations", name="CachorroSpace", observations=[SITE["observations"][1], "no"]
    )
    assert answer == {"entity": {**SITE, "observations": SITE["observations"][:1]}}
    deletions = [{"entityName": "CachorroSpace", "observations": [SITE["observations"][0], "no"]}]
    assert graph.call("delete_observations", deletions=deletions) == {
        "success": True,
        "message": "Deleted 1 of 2 observations.",
    }
    with pytest.raises(Refused, match="Entity not found: Nobody"):
        graph.call("delete_observations", name="Nobody", observations=["x"])


@pytest.mark.seed("000 §6")
def test_delete_relations_answers_as_documented(graph: Conversation) -> None:
    graph.call("create_entities", entities=[SITE, {"name": "Astro"}])
    graph.call("create_relations", relations=[USES])
    assert graph.call("delete_relations", relations=[USES]) == {"deleted": [USES]}
    assert graph.call("delete_relations", relations=[USES]) == {
        "deleted": [],
        "errors": ["Relation not found: CachorroSpace -> Astro (uses)"],
    }


@pytest.mark.seed("000 §7")
def test_search_nodes_answers_as_documented(graph: Conversation) -> None:
    ink = {"name": "CachorroInk", "entityType": "Project", "observations": ["Blog built with Astro 5.x"]}
    graph.call("create_entities", entities=[SITE, ink, {"name": "Else"}])
    answer = graph.call("search_nodes", query="astro")
    assert answer == {"entities": [SITE, ink], "total": 2}
    first = graph.call("search_nodes", query="astro", limit=1)
    assert first["entities"] == [SITE]
    assert graph.call("search_nodes", query="astro", cursor=first["next_cursor"])["entities"] == [ink]


@pytest.mark.seed("000 §8")
def test_open_nodes_answers_as_documented_and_with_ids_when_asked(graph: Conversation) -> None:
    graph.call("create_entities", entities=[SITE, {"name": "Astro"}])
    graph.call("create_relations", relations=[USES])
    assert graph.call("open_nodes", names=["CachorroSpace", "Missing"]) == {"entities": [SITE]}
    detailed = graph.call("open_nodes", names=["CachorroSpace"], details=True)
    [entity], [relation] = detailed["entities"], detailed["relations"]
    assert [item["content"] for item in entity["details"]] == SITE["observations"]
    ended = graph.call("end_relation", relation_id=relation["relation_id"])
    assert ended == {"result": f"Relation {relation['relation_id']} expired successfully"}
    graph.call(
        "add_reflection", target_type="entity", target_id=entity["entity_id"], content="It began here."
    )
    [again] = graph.call("open_nodes", names=["CachorroSpace"], include_reflections=True)["entities"]
    assert [item["content"] for item in again["reflections"]] == ["It began here."]


@pytest.mark.seed("000 §17")
def test_a_relation_is_ended_by_its_ends_and_only_once(graph: Conversation) -> None:
    graph.call("create_entities", entities=[SITE, {"name": "Astro"}])
    graph.call("create_relations", relations=[USES])
    assert "expired successfully" in graph.call("end_relation", **USES)["result"]
    with pytest.raises(Refused, match="Relation not found"):
        graph.call("end_relation", **USES)
    with pytest.raises(Refused, match="relation_id, or from, to and relationType"):
        graph.call("end_relation")


def test_read_graph_comes_in_pages(graph: Conversation) -> None:
    graph.call("create_entities", entities=[{"name": f"e{number}"} for number in range(5)])
    first = graph.call("read_graph", limit=3)
    rest = graph.call("read_graph", limit=3, cursor=first["next_cursor"])
    assert [item["name"] for item in first["entities"] + rest["entities"]] == [f"e{n}" for n in range(5)]
    assert first["total"] == 5
    assert "next_cursor" not in rest


@pytest.mark.seed("000 §9")
def test_search_semantic_finds_by_meaning_and_shows_its_scores(graph: Conversation) -> None:
    graph.call(
        "create_entities",
        entities=[
            {"name": "Rex", "entityType": "Dog", "observations": ["canine behavior training tips"]},
            {"name": "Kitchen", "entityType": "Room", "observations": ["the oven was repaired in May"]},
        ],
    )
    answer = graph.call("search_semantic", query="how to train dogs", limit=5)
    best = answer["results"][0]
    assert best["name"] == "Rex"
    assert best["scoring"].keys() == {"importance", "temporal_factor", "cooc_boost"}
    assert 0 <= best["distance"] < 0.5
    assert answer["mode"] in ("hybrid", "semantic")


@pytest.mark.seed("000 §10")
def test_migrate_reads_a_memory_file_once(graph: Conversation, tmp_path: Path) -> None:
    lines = [
        {"type": "relation", **USES},
        {"type": "entity", **SITE},
        {"type": "entity", "name": "Astro", "entityType": "Framework", "observations": []},
    ]
    file = tmp_path / "memory.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + "broken\n42\n")
    answer = graph.call("migrate", source_path=str(file))
    assert (answer["entities_imported"], answer["relations_imported"]) == (2, 1)
    assert (answer["errors"], answer["skipped"]) == (2, 2), "what cannot be read is skipped"
    before = graph.call("read_graph")
    assert graph.call("migrate", source_path=str(file))["relations_imported"] == 0
    assert graph.call("read_graph") == before
    with pytest.raises(Refused, match="missing"):
        graph.call("migrate", source_path=str(tmp_path / "missing.jsonl"))


@pytest.mark.seed("000 §11")
def test_splitting_from_analysis_to_execution(graph: Conversation) -> None:
    facts = [f"deploy server region cluster step{n}" for n in range(11)]
    facts += [f"paint colour brush canvas piece{n}" for n in range(11)]
    graph.call("create_entities", entities=[{"name": "Plan", "entityType": "Note", "observations": facts}])
    analysis = graph.call("analyze_entity_split", entity_name="Plan")["analysis"]
    assert (analysis["observation_count"], analysis["threshold"], analysis["needs_split"]) == (22, 20, True)
    assert [item["entity_name"] for item in graph.call("find_split_candidates")["candidates"]] == ["Plan"]
    proposal = graph.call("propose_entity_split", entity_name="Plan")["proposal"]
    splits = proposal["suggested_splits"]
    assert sorted(text for split in splits for text in split["observations"]) == sorted(facts)
    result = graph.call("execute_entity_split", entity_name="Plan", approved_splits=splits[:1])["result"]
    assert result["new_entities"] == [splits[0]["name"]]
    assert result["moved_observations"] == len(splits[0]["observations"])
    assert result["original_observations_remaining"] == 22 - result["moved_observations"]
    assert graph.call("propose_entity_split", entity_name="Plan")["proposal"] is None


@pytest.mark.seed("000 §15")
def test_duplicates_and_the_report(graph: Conversation) -> None:
    texts = ["Deployed on Vercel with custom domain", "Deployment: Vercel, custom domain configured", "Else"]
    graph.call("create_entities", entities=[{"name": "My Project", "observations": texts}])
    found = graph.call("find_duplicate_observations", entity_name="My Project", threshold=0.8)
    [pair] = found["duplicate_pairs"]
    assert (pair["obs_text_a"], pair["obs_text_b"], pair["match_type"]) == (texts[0], texts[1], "cosine")
    report = graph.call("consolidation_report", stale_days=90)
    assert report["summary"]["total_observations"] == 3
    assert report.keys() == {
        "summary", "split_candidates", "flagged_observations", "stale_entities", "large_entities"
    }  # fmt: skip


@pytest.mark.seed("000 §19")
def test_reflections_are_added_and_found(graph: Conversation) -> None:
    added = graph.call(
        "add_reflection",
        target_type="global",
        content="A core architectural decision that shaped everything.",
        author="nolan",
        mood="insight",
    )["result"]
    assert (added["target_id"], added["author"], added["mood"]) == (None, "nolan", "insight")
    [found, *_] = graph.call("search_reflections", query="architecture decisions", author="nolan")["results"]
    assert found["id"] == added["id"]
    assert 0 < found["score"] <= 1
    with pytest.raises(Refused, match="target_type"):
        graph.call("add_reflection", target_type="planet", content="x")


@pytest.mark.seed("002 transport")
def test_nothing_that_was_asked_has_reached_standard_output(tmp_path: Path) -> None:
    """The connection would have broken: every line there must be a message of the protocol."""
    with conversation(tmp_path, "--tools", "graph", "--log-level", "debug") as opened:
        opened.call("create_entities", entities=[SITE])
        assert opened.call("search_semantic", query="documentation sites")["results"]


@pytest.mark.seed("002 availability")
def test_without_a_model_everything_but_meaning_works_and_says_so(tmp_path: Path) -> None:
    with conversation(tmp_path, "--tools", "graph", EMBEDDING_PROVIDER="none") as opened:
        opened.call("create_entities", entities=[SITE])
        answer = opened.call("search_semantic", query="what is deployed on vercel?")
        assert [item["name"] for item in answer["results"]] == ["CachorroSpace"]
        assert answer["mode"].startswith("keyword only")


def test_old_and_new_clients_are_both_served(tmp_path: Path) -> None:
    for mode in ("legacy", "2026-07-28"):
        with conversation(tmp_path, "--tools", "graph", mode=mode) as opened:
            opened.call("create_entities", entities=[{"name": mode}])
    with conversation(tmp_path, "--tools", "graph") as opened:
        assert opened.call("read_graph")["total"] == 2
